"""One row, before and after it is scored."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from pssa.data.rows import Columns, Problem, Row
from pssa.errors import InputError
from pssa.predict.rows import OutputFields
from pssa.runs.answers import Answer, Question, Word
from pssa.runs.asked_rows import AskedRow, RejectedRow, parse_row, score_each

ANSWER = Answer("positive", {"positive": 0.75, "negative": 0.25}, "screen", 2, 8)
EXPLAINED = replace(ANSWER, words=(Word(0, 1, 1.0), Word(2, 8, 0.0)))


def test_a_row_with_other_names_keeps_them() -> None:
    given = {"review": "a screen", "term": "screen", "polarity": "neutral", "label": "seen"}
    judged = parse_row(Columns.of("text=review,aspect=term,label=polarity").row(1, given))
    assert isinstance(judged, AskedRow)
    assert judged.question == Question("a screen", ((2, 8),))
    assert list(OutputFields().fill(judged.fields, judged, ANSWER).items()) == [
        ("review", "a screen"),
        ("term", "screen"),
        ("polarity", "neutral"),
        ("gold", "seen"),
        ("label", "positive"),
        ("probabilities", ANSWER.probabilities),
    ]


def test_what_cannot_be_used_is_rejected_with_its_line_and_reason() -> None:
    fields = {"text": "a screen", "aspect": "menu"}
    reason = "aspect 'menu' is not in the text 'a screen'; give it as it appears there, or its character offsets"
    assert parse_row(Row(7, fields)) == RejectedRow(7, reason, fields)
    assert parse_row(Problem(8, "is no JSON", given="{")) == RejectedRow(8, "is no JSON", "{")
    assert RejectedRow(8, "is no JSON").as_dict("in.jsonl") == {"source": "in.jsonl", "line": 8, "reason": "is no JSON"}


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
    assert RejectedRow(1, "why", row).as_dict("in") == {"source": "in", "line": 1, "reason": "why"} | kept


def test_a_row_that_is_nested_too_deep_is_rejected() -> None:
    deep: Any = 1
    for _ in range(63):
        deep = {"in": [deep]} if isinstance(deep, dict) else [deep]
    row = {"text": "a screen", "aspect": "screen"}
    assert isinstance(parse_row(Row(1, row | {"deep": deep})), AskedRow)
    judged = parse_row(Row(1, row | {"deep": [deep]}))
    assert isinstance(judged, RejectedRow)
    assert judged.reason == "has more than 64 lists or objects inside each other; leave out that field"


LABELLED: list[tuple[dict[str, Any], list[str]]] = [
    ({"text": "t", "note": 1}, ["text", "note"]),
    ({"text": "t", "label": "neutral", "note": 1}, ["text", "gold", "note"]),
    ({"gold": "neutral", "label": "negative", "text": "t"}, ["gold", "text"]),
]


@pytest.mark.parametrize(("fields", "kept"), LABELLED)
def test_a_label_is_kept_as_gold_unless_there_is_a_gold_already(fields: dict[str, Any], kept: list[str]) -> None:
    row = OutputFields().fill(fields, AskedRow(1, fields, Question("t")), ANSWER)
    columns = OutputFields().columns([Row(1, fields | {"aspect": "t"})])
    assert list(row) == [*kept, "label", "probabilities"] == [name for name in columns if name != "aspect"]
    assert row.get("gold", "neutral") == "neutral"
    assert (row["label"], row["probabilities"]) == ("positive", ANSWER.probabilities)


def test_word_scores_stand_under_a_name_of_their_own() -> None:
    given = {"text": "a screen", "aspect": "screen", "words": [[0, 1], [2, 8]]}
    row = OutputFields(saliency="attention").fill(given, AskedRow(1, given, Question("a screen")), EXPLAINED)
    assert row["words"] == [[0, 1], [2, 8]]
    assert row["explanation"] == {
        "saliency": "attention",
        "words": [
            {"word": "a", "from": 0, "to": 1, "share": 1.0},
            {"word": "screen", "from": 2, "to": 8, "share": 0.0},
        ],
    }
    assert tuple(row) == OutputFields(saliency="").columns([Row(1, given)])


QUESTIONS = [Question(text, ((0, 1),)) for text in ("x one", "x bad", "x nan", "x two")]


def moody(questions: Sequence[Question]) -> list[list[Answer]]:
    """Refuse a batch with a bad text; answer NaN to another."""
    if any("bad" in question.text for question in questions):
        raise InputError("a bad text")
    return [[Answer(one.text, {"positive": math.nan if "nan" in one.text else 1.0}, "x", 0, 1)] for one in questions]


def test_a_question_that_cannot_be_answered_spoils_no_other() -> None:
    first, bad, nan, last = score_each(moody, QUESTIONS)
    assert (bad, nan) == ("a bad text", "the model gives no finite number for this text")
    assert [answer.label for value in (first, last) for answer in value if isinstance(answer, Answer)] == [
        "x one",
        "x two",
    ]
    assert score_each(moody, []) == []


def test_shares_that_are_no_finite_numbers_are_refused() -> None:
    endless = replace(ANSWER, words=(Word(0, 1, math.inf),))
    assert score_each(lambda questions: [[EXPLAINED], [ANSWER, endless]], QUESTIONS[:2]) == [
        [EXPLAINED],
        "the model gives no finite number for this text",
    ]


def test_errors_that_are_no_questions_fault_are_raised_unless_they_are_caught() -> None:
    def broken(questions: Sequence[Question]) -> list[list[Answer]]:
        raise RuntimeError("a secret")

    with pytest.raises(RuntimeError, match="secret"):
        score_each(broken, QUESTIONS)
    assert score_each(broken, QUESTIONS, Exception, lambda error: type(error).__name__) == ["RuntimeError"] * 4
