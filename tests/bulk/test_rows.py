"""One row, before and after it is scored."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from pssa.bulk.rows import Accepted, Rejected, columns_of, fault_of, judge, written
from pssa.data.read import Columns, Problem, Row
from pssa.runs import Answer
from pssa.runs.explain import Explanation

ANSWER = Answer("positive", {"positive": 0.75, "negative": 0.25}, "screen", 2, 8)
EXPLANATION = Explanation("a screen", ((0, 1), (2, 8)), (1, 2), (1.0, 0.0), "attention", ANSWER)


def test_a_row_becomes_an_example_whatever_its_label_is() -> None:
    judged = judge(Row(4, {"text": "a screen", "aspect": "screen", "label": 3.5}))
    assert isinstance(judged, Accepted)
    assert (judged.line, judged.example.aspect_text, judged.example.label, judged.ambiguous) == (
        4,
        "screen",
        None,
        False,
    )


def test_a_row_with_other_names_keeps_them() -> None:
    given = {"review": "a screen", "term": "screen", "polarity": "neutral", "label": "seen"}
    judged = judge(Columns.of("text=review,aspect=term,label=polarity").row(1, given))
    assert isinstance(judged, Accepted)
    assert judged.example.aspect_text == "screen"
    assert list(written(judged.fields, ANSWER).items()) == [
        ("review", "a screen"),
        ("term", "screen"),
        ("polarity", "neutral"),
        ("gold", "seen"),
        ("label", "positive"),
        ("probabilities", ANSWER.probabilities),
    ]


def test_a_doubtful_aspect_is_noted() -> None:
    judged = judge(Row(1, {"text": "screen or screen", "aspect": "screen"}))
    assert isinstance(judged, Accepted)
    assert judged.ambiguous


def test_what_cannot_be_used_is_rejected_with_its_line_and_reason() -> None:
    fields = {"text": "a screen", "aspect": "menu"}
    reason = "aspect 'menu' is not in the text 'a screen'; give it as it stands there, or `from` and `to`"
    assert judge(Row(7, fields)) == Rejected(7, reason, fields)
    assert judge(Problem(8, "is no JSON", given="{")) == Rejected(8, "is no JSON", "{")
    assert Rejected(8, "is no JSON").as_dict("in.jsonl") == {"source": "in.jsonl", "line": 8, "reason": "is no JSON"}


NESTED: Any = [1]
for _ in range(5000):
    NESTED = [NESTED]


@pytest.mark.parametrize(
    ("row", "kept"),
    [
        ({"text": "a screen", "n": [1]}, {"row": {"text": "a screen", "n": [1]}}),
        ("{half an object\n", {"row": "{half an object"}),
        ({"when": date(2026, 1, 2)}, {"row": {"when": "2026-01-02"}}),
        ("x" * 4096, {"row": "x" * 4096}),
        ("x" * 4097, {"row": "x" * 4096, "shortened": True}),
        ({"text": "x" * 5000}, {"row": '{"text": "' + "x" * 4086, "shortened": True}),
        ({"n": float("nan")}, {"row": "{'n': nan}", "shortened": True}),
        ({"n": NESTED}, {"row": "{'n': [[...]]}", "shortened": True}),
    ],
)
def test_a_rejected_row_is_kept_within_bounds(row: Any, kept: dict[str, Any]) -> None:
    assert Rejected(1, "why", row).as_dict("in") == {"source": "in", "line": 1, "reason": "why"} | kept


def test_a_row_that_is_nested_too_deep_is_rejected() -> None:
    deep: Any = 1
    for _ in range(63):
        deep = {"in": [deep]} if isinstance(deep, dict) else [deep]
    row = {"text": "a screen", "aspect": "screen"}
    assert isinstance(judge(Row(1, row | {"deep": deep})), Accepted)
    judged = judge(Row(1, row | {"deep": [deep]}))
    assert isinstance(judged, Rejected)
    assert judged.reason == "has more than 64 lists or objects inside each other; leave out that field"


LABELLED: list[tuple[dict[str, Any], list[str]]] = [
    ({"text": "t", "note": 1}, ["text", "note"]),
    ({"text": "t", "label": "neutral", "note": 1}, ["text", "gold", "note"]),
    ({"gold": "neutral", "label": "negative", "text": "t"}, ["gold", "text"]),
]


@pytest.mark.parametrize(("fields", "kept"), LABELLED)
def test_a_label_is_kept_as_gold_unless_there_is_a_gold_already(fields: dict[str, Any], kept: list[str]) -> None:
    row = written(fields, ANSWER)
    assert list(row) == [*kept, "label", "probabilities"] == list(columns_of(fields, explained=False))
    assert row.get("gold", "neutral") == "neutral"
    assert (row["label"], row["probabilities"]) == ("positive", ANSWER.probabilities)


def test_word_scores_stand_under_a_name_of_their_own() -> None:
    row = written({"text": "a screen", "words": [[0, 1], [2, 8]]}, EXPLANATION)
    assert row["words"] == [[0, 1], [2, 8]]
    assert row["explanation"] == {
        "saliency": "attention",
        "words": [
            {"word": "a", "from": 0, "to": 1, "share": 1.0},
            {"word": "screen", "from": 2, "to": 8, "share": 0.0},
        ],
    }
    assert tuple(row) == columns_of({"text": "", "words": ""}, explained=True)


def test_numbers_that_are_none_are_a_fault() -> None:
    assert fault_of(ANSWER) == fault_of(EXPLANATION) == ""
    broken = Answer("positive", {"positive": float("nan"), "negative": 0.5}, "screen", 2, 8)
    assert fault_of(broken) == "the model gives no finite number for this text"
    endless = Explanation("a screen", ((0, 1), (2, 8)), (1, 2), (float("inf"), 0.0), "attention", ANSWER)
    assert "no finite number" in fault_of(endless)
