"""Windows: how sources are cut into them, what becomes of their rows, and how columns are spelled."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from tests.predict.made_jobs import Stopping
from tests.predict.made_rows import read_rows, write_rows

from pssa.data.rows import Problem, Row
from pssa.errors import InputError, RunError, for_command_line, setting
from pssa.predict import Job, LocalEngine, Summary, predict
from pssa.predict import window as window_module
from pssa.predict.output_format import OutputFormat
from pssa.predict.parquet_schema import read_tables
from pssa.predict.rows import OutputFields
from pssa.predict.scorer import Scorer
from pssa.predict.source import find_sources
from pssa.predict.window import Window, _unify_column_names, read_windows
from pssa.runs.answers import Answer, Question
from pssa.runs.asked_rows import RejectedRow


def windows(paths: list[Path], rows: int, *more: Any, fields: OutputFields | None = None) -> list[Window]:
    sources = find_sources([str(path) for path in paths], None)
    return list(read_windows(sources, rows, fields or OutputFields(), *more))


def keys(window: Window) -> list[int]:
    return [row.fields["key"] for row in window.rows if isinstance(row, Row)]


@pytest.fixture
def two(tmp_path: Path) -> list[Path]:
    rows = [{"key": number, "text": "a screen", "aspect": "screen"} for number in range(7)]
    return [write_rows(tmp_path / "a.jsonl", rows[:5]), write_rows(tmp_path / "b.jsonl", rows[5:])]


def test_windows_are_full_but_at_the_end_of_a_source(two: list[Path]) -> None:
    found = windows(two, 2)
    assert [keys(window) for window in found] == [[0, 1], [2, 3], [4], [5, 6]]
    assert [window.end for window in found] == [(0, 2), (0, 4), (0, 5), (1, 2)]
    assert [window.source for window in found] == [str(two[0])] * 3 + [str(two[1])]
    assert [window.read for window in found] == [two[0].stat().st_size] * 3 + [two[1].stat().st_size]


def test_going_on_from_any_place_gives_the_same_windows(two: list[Path]) -> None:
    all_of_them = windows(two, 2)
    for number, before in enumerate(all_of_them):
        rest = windows(two, 2, before.end, before.columns)
        assert [replace(window, read=0) for window in rest] == [
            replace(window, read=0) for window in all_of_them[number + 1 :]
        ]


def test_the_reason_of_a_rejected_row_names_the_option(two: list[Path]) -> None:
    reason = f"read it with {setting('encoding', 'windows-1252')}"
    window = windows(two, 2)[0].reject([RejectedRow(3, reason)])
    assert "--encoding windows-1252" in for_command_line(window.first_rejected)
    assert json.loads(window.rejected)["reason"] == "read it with --encoding windows-1252"


def test_rows_that_cannot_be_read_have_their_place_in_a_window(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text('{"text": "a", "aspect": "a"}\nnonsense\n\n{"text": "b", "aspect": "b"}\n')
    first, second = windows([path], 2)
    assert [type(row) for row in first.rows] == [Row, Problem]
    assert [(row.line, type(row)) for row in second.rows] == [(4, Row)]


def test_a_source_that_cannot_be_read_on_ends_everything_with_a_fault(tmp_path: Path, two: list[Path]) -> None:
    broken = tmp_path / "aa.csv"
    broken.write_text("note\nno columns\n")
    found = windows([two[0], broken, two[1]], 9)
    assert [keys(window) for window in found] == [[0, 1, 2, 3, 4], []]
    assert found[0].fault == ""
    assert "aa.csv, line 1: a column is missing" in found[1].fault


def test_what_is_no_row_is_passed_over_and_counted_in_places(tmp_path: Path) -> None:
    path = tmp_path / "in.xml"
    aspect = '<aspectTerms><aspectTerm term="screen" polarity="positive" from="2" to="8"/></aspectTerms>'
    with_one, without = f"<sentence><text>a screen</text>{aspect}</sentence>", "<sentence><text>none</text></sentence>"
    path.write_text(f"<sentences>{without}{with_one}{without}{with_one}{with_one}</sentences>")
    assert [(len(window.rows), window.end[1]) for window in windows([path], 3)] == [(1, 3), (2, 5)]
    assert [(len(window.rows), window.end[1]) for window in windows([path], 3, (0, 3))] == [(2, 5)]


def test_long_texts_make_small_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window_module, "_MAX_CHARACTERS", 100)
    rows = [{"key": key, "text": "t" * 40, "more": [{"deep": "n" * 10}]} for key in range(5)]
    found = windows([write_rows(tmp_path / "in.jsonl", rows)], 1000)
    assert [keys(window) for window in found] == [[0, 1], [2, 3], [4]]
    heavy: tuple[Any, ...] = ({"n" * 50: 1}, [[]] * 50, [[[], []]] * 20)
    for more in heavy:
        rows = [{"key": key, "more": more} for key in range(4)]
        found = windows([write_rows(tmp_path / "in.jsonl", rows)], 1000)
        assert [keys(window) for window in found] == [[0, 1], [2, 3]], f"{more} has no weight"


@pytest.mark.slow
def test_depth_costs_no_stack() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert window_module._weight({"deep": deep}) > 100_000


def test_the_first_row_that_can_be_used_decides_about_the_columns(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(
        '{"note": "no text"}\n{"label": "x", "text": "a", "aspect": "a"}\n{"text": "b", "aspect": "b", "note": 1}\n'
    )
    columns = ("gold", "text", "aspect", "label", "probabilities")
    assert [window.columns for window in windows([path], 1)] == [(), columns, columns]
    explained = windows([path], 1, fields=OutputFields(saliency=""))
    assert [window.columns for window in explained][1:] == [(*columns, "explanation")] * 2


OUTPUT_COLUMNS = ("text", "aspect", "label", "probabilities")


def start(questions: Sequence[Question]) -> Callable[[], list[list[Answer]]]:
    """Positive where the text is short; a fault where it says nan; texts with `never` are refused, with all that come along."""
    if any("never" in question.text for question in questions):
        raise InputError("it says never")
    return lambda: [[answer(question)] for question in questions]


def answer(question: Question) -> Answer:
    label = "positive" if len(question.text) < 12 else "negative"
    sure = float("nan") if "nan" in question.text else 1.0
    assert question.aspects is not None
    ((start, end),) = question.aspects
    return Answer(label, {label: sure}, question.text[start:end], start, end)


def scored(rows: Sequence[Row | Problem], form: OutputFormat | None = None, fault: str = "") -> Window:
    window = Window("in.jsonl", (0, 9), 70, tuple(rows), OUTPUT_COLUMNS, fault)
    return Scorer(start).score(window, form or OutputFormat("json_lines"))


def row(line: int, text: str, **more: object) -> Row:
    return Row(line, {"text": text, "aspect": "screen", **more})


def test_rejected_rows_keep_their_order_whatever_the_reason() -> None:
    rows: list[Row | Problem] = [
        Problem(1, "is no JSON", given="{"),
        row(2, "a screen"),
        row(3, "a nan screen"),
        row(4, "a menu"),
        row(5, "never a screen"),
        row(6, "screen", more=1),
    ]
    result = scored(rows, OutputFormat("csv"))
    rejected = [json.loads(line) for line in result.rejected.splitlines()]
    assert [(one["source"], one["line"]) for one in rejected] == [("in.jsonl", line) for line in (1, 3, 4, 5, 6)]
    assert rejected[0]["row"] == "{"
    texts = ["a nan screen", "a menu", "never a screen", "screen"]
    assert [one["row"]["text"] for one in rejected[1:]] == texts
    assert rejected[-1]["row"] == {"text": "screen", "aspect": "screen", "more": 1}  # nothing that the model said
    assert [one["reason"] for one in rejected] == [
        "is no JSON",
        "the model gives no finite number for this text",
        "aspect 'screen' is not in the text 'a menu'; give it as it appears there, or its character offsets",
        "it says never",
        "a row has the field 'more', which the first does not have; write JSON Lines instead of CSV",
    ]
    assert result.first_rejected == "in.jsonl, line 1: is no JSON"
    assert result.summary == Summary(1, {"positive": 1}, 0, rejected=5)
    assert result.content.decode().splitlines() == ['a screen,screen,positive,"{""positive"": 1.0}"']


def test_a_row_that_parquet_cannot_hold_at_all_is_rejected_and_others_go_on_in_streams_of_one_kind() -> None:
    rows = [row(3, "a screen", n=1), row(4, "a screen", n=2**70), row(5, "a screen", n="one"), row(6, "a screen", n=2)]
    result = scored(rows, OutputFormat("parquet"))
    (rejected,) = map(json.loads, result.rejected.splitlines())
    assert (rejected["line"], rejected["reason"][:28]) == (4, "cannot be written as Parquet")
    assert ([each.line for each in result.written], result.summary.rejected, result.fault) == ([3, 5, 6], 1, "")
    assert [one["n"].to_pylist() for one in read_tables(BytesIO(result.content))] == [[1], ["one"], [2]]


def test_one_text_that_is_refused_does_not_make_every_other_go_alone() -> None:
    asked: list[int] = []

    def counted(questions: Sequence[Question]) -> Callable[[], list[list[Answer]]]:
        asked.append(len(questions))
        return start(questions)

    rows = [row(line, "never a screen" if line == 5 else "a screen") for line in range(64)]
    window = Window("in.jsonl", (0, 64), 0, tuple(rows), OUTPUT_COLUMNS)
    result = Scorer(counted).score(window, OutputFormat("json_lines"))
    assert (result.summary.rows, result.summary.rejected) == (63, 1)
    assert len(asked) <= 13


SHARES = "probability_positive,probability_negative,probability_neutral"


def header_of(output: str) -> str:
    return Path(output).read_text().splitlines()[0]


def test_a_table_keeps_the_names_of_its_header(job: Job, tmp_path: Path) -> None:
    source = tmp_path / "theirs.csv"
    source.write_text("Review ID,Review Text,Aspect,Label\n7,a huge screen,screen,positive\n")
    theirs = replace(job, inputs=(str(source),), columns="text=review text")
    predict(theirs, LocalEngine())
    (row,) = read_rows(Path(job.output))
    assert list(row) == ["Review ID", "Review Text", "Aspect", "gold", "label", "probabilities", "notes"]
    predict(replace(theirs, output=str(tmp_path / "out.csv")), LocalEngine())
    assert header_of(str(tmp_path / "out.csv")) == f"Review ID,Review Text,Aspect,gold,label,{SHARES},notes"
    again = replace(theirs, inputs=(str(tmp_path / "out.csv"),), output=str(tmp_path / "again.csv"))
    predict(again, LocalEngine())
    assert header_of(again.output) == header_of(str(tmp_path / "out.csv"))


@pytest.mark.usefixtures("small_windows")
def test_tables_that_differ_in_case_only_make_one_also_when_resumed(job: Job, tmp_path: Path) -> None:
    inputs = []
    for name, header in (("a.csv", "No,Text,aspect"), ("b.csv", "NO,text,Aspect")):
        inputs.append(str(tmp_path / name))
        Path(inputs[-1]).write_text(f"{header}\n" + "1,a huge screen,screen\n" * 5)
    whole, stopped = (replace(job, inputs=tuple(inputs), output=str(tmp_path / name)) for name in ("w.csv", "s.csv"))
    assert predict(whole, LocalEngine()).rows == 10
    assert header_of(whole.output) == f"No,Text,aspect,label,{SHARES},notes"
    with pytest.raises(RunError, match=r"resume with begin='resume'"):
        predict(stopped, Stopping(1, OSError("disk full")))
    predict(replace(stopped, begin="resume"), LocalEngine())
    assert Path(stopped.output).read_bytes() == Path(whole.output).read_bytes()


def test_two_columns_stay_two() -> None:
    row, bad = Row(2, {"Note": 1, "NOTE": 2, "GOLD": 3, "Other": 4}), Problem(3, "bad")
    renamed, same = _unify_column_names([row, bad], ["note"])
    assert isinstance(renamed, Row)
    assert renamed.given == {"note": 1, "NOTE": 2, "gold": 3, "Other": 4}
    assert (renamed.fields, same) == (row.fields, bad)
    assert _unify_column_names([bad], ["note"]) == (bad,)
