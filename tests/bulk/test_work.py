"""What every engine does with a window."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence

from pssa.bulk import table
from pssa.bulk.output_format import OutputFormat
from pssa.bulk.window import Position, Window
from pssa.bulk.work import Result, Tally, process
from pssa.data.example import Example
from pssa.data.read import Problem, Row
from pssa.errors import InputError
from pssa.runs import Answer

COLUMNS = ("text", "aspect", "label", "probabilities")


def score(examples: Sequence[Example]) -> list[Answer]:
    """Positive where the text is short; a fault where it says nan; texts with `never` are refused, with all that come along."""
    if any("never" in example.text for example in examples):
        raise InputError("it says never")
    return [answer(example) for example in examples]


def answer(example: Example) -> Answer:
    label = "positive" if len(example.text) < 12 else "negative"
    sure = float("nan") if "nan" in example.text else 1.0
    return Answer(label, {label: sure}, example.aspect_text, *example.aspect_chars)


def processed(rows: Sequence[Row | Problem], form: OutputFormat | None = None, fault: str = "") -> Result:
    return process(
        Window("in.jsonl", Position(0, 9), 70, tuple(rows), COLUMNS, fault), score, form or OutputFormat("json_lines")
    )


def row(line: int, text: str, **more: object) -> Row:
    return Row(line, {"text": text, "aspect": "screen", **more})


def test_rows_are_scored_and_counted() -> None:
    result = processed([row(1, "a screen"), row(2, "screen or screen"), row(3, "screen")])
    assert [json.loads(line)["text"] for line in result.content.splitlines()] == [
        "a screen",
        "screen or screen",
        "screen",
    ]
    assert result.tally == Tally(3, {"positive": 2, "negative": 1}, ambiguous=1)
    assert (result.end, result.read, result.rejected, result.first_rejected) == (Position(0, 9), 70, b"", "")


def test_rejected_rows_keep_their_order_whatever_the_reason() -> None:
    rows: list[Row | Problem] = [
        Problem(1, "is no JSON", given="{"),
        row(2, "a screen"),
        row(3, "a nan screen"),
        row(4, "a menu"),
        row(5, "never a screen"),
        row(6, "screen", more=1),
    ]
    result = processed(rows, OutputFormat("csv"))
    rejected = [json.loads(line) for line in result.rejected.splitlines()]
    assert [(one["source"], one["line"]) for one in rejected] == [("in.jsonl", line) for line in (1, 3, 4, 5, 6)]
    assert rejected[0]["row"] == "{"
    texts = ["a nan screen", "a menu", "never a screen", "screen"]
    assert [one["row"]["text"] for one in rejected[1:]] == texts
    assert rejected[-1]["row"] == {"text": "screen", "aspect": "screen", "more": 1}  # nothing that the model said
    assert [one["reason"] for one in rejected] == [
        "is no JSON",
        "the model gives no finite number for this text",
        "aspect 'screen' is not in the text 'a menu'; give it as it stands there, or `from` and `to`",
        "it says never",
        "a row has the field 'more', which the first does not have; write JSON Lines instead of CSV",
    ]
    assert result.first_rejected == "in.jsonl, line 1: is no JSON"
    assert result.tally == Tally(1, {"positive": 1}, 0, rejected=5)
    assert result.content.decode().splitlines() == ['a screen,screen,positive,"{""positive"": 1.0}"']


def test_a_fault_of_the_source_is_passed_on() -> None:
    assert processed([], fault="in.jsonl: cannot be read").fault == "in.jsonl: cannot be read"


def test_a_row_that_parquet_cannot_hold_at_all_is_rejected_and_others_go_on_in_streams_of_one_kind() -> None:
    rows = [row(3, "a screen", n=1), row(4, "a screen", n=2**70), row(5, "a screen", n="one"), row(6, "a screen", n=2)]
    result = processed(rows, OutputFormat("parquet"))
    (rejected,) = map(json.loads, result.rejected.splitlines())
    assert (rejected["line"], rejected["reason"][:28]) == (4, "cannot be written as Parquet")
    assert (result.lines, result.tally.rows, result.tally.rejected, result.fault) == ((3, 5, 6), 3, 1, "")
    assert [one["n"].to_pylist() for one in table.tables(io.BytesIO(result.content))] == [[1], ["one"], [2]]


def test_one_text_that_is_refused_does_not_make_every_other_go_alone() -> None:
    asked: list[int] = []

    def counted(examples: Sequence[Example]) -> list[Answer]:
        asked.append(len(examples))
        return score(examples)

    rows = [row(line, "never a screen" if line == 5 else "a screen") for line in range(64)]
    result = process(Window("in.jsonl", Position(0, 64), 0, tuple(rows), COLUMNS), counted, OutputFormat("json_lines"))
    assert (result.tally.rows, result.tally.rejected) == (63, 1)
    assert len(asked) <= 13


def test_tallies_add_up() -> None:
    both = Tally(2, {"a": 1, "b": 1}, 1, 0) + Tally(1, {"b": 1}, 0, 4)
    assert both == Tally(3, {"a": 1, "b": 2}, 1, 4)
    assert both.without(Tally(1, {"b": 1}, 1)) == Tally(2, {"a": 1, "b": 1}, 0, 4)
