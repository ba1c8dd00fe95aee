"""Rows as bytes."""

from __future__ import annotations

import datetime
import decimal
import gzip
import json
import sys
from typing import Any

import pytest

from pssa.errors import InputError, MissingExtra
from pssa.predict.output_format import OutputFormat, choose_output_format

ROWS: list[dict[str, Any]] = [
    {"text": "é, a", "note": 'a "b"', "probabilities": {"positive": 0.75}},
    {"text": "b", "note": None, "probabilities": {"positive": 0.25}},
]
COLUMNS = ("text", "note", "probabilities")


@pytest.mark.parametrize(
    ("output", "named", "form"),
    [
        ("o.jsonl", None, OutputFormat("json_lines")),
        ("o.NDJSON", None, OutputFormat("json_lines")),
        ("o.json.gz", None, OutputFormat("json_lines", ".gz")),
        ("o.csv", None, OutputFormat("csv")),
        ("a.b.csv.zst", None, OutputFormat("csv", ".zst")),
        ("o.parquet", None, OutputFormat("parquet")),
        ("o.txt", "csv", OutputFormat("csv")),
        ("o.gz", "json-lines", OutputFormat("json_lines", ".gz")),
        ("-", None, OutputFormat("json_lines")),
        ("-", "CSV", OutputFormat("csv")),
    ],
)
def test_the_form_follows_from_the_name_or_is_named(output: str, named: str | None, form: OutputFormat) -> None:
    assert choose_output_format(output, named) == form


def test_a_form_that_does_not_exist_or_fit_is_refused() -> None:
    for output in ("o.xml", "o", "o.gz", "jsonl"):
        with pytest.raises(InputError, match=rf"{output} is neither JSON Lines, CSV nor"):
            choose_output_format(output, None)
    with pytest.raises(InputError, match="unknown output format 'xml'; it can be"):
        choose_output_format("o", "xml")
    for output in ("o.parquet.gz", "-"):
        with pytest.raises(InputError, match=f"Parquet cannot be written to {output}"):
            choose_output_format(output, "parquet" if output == "-" else None)


def test_forms_that_need_an_extra_say_so_before_anything_is_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for output in ("o.jsonl.zst", "o.parquet"):
        with pytest.raises(MissingExtra, match=r"pssa\[data\]"):
            choose_output_format(output, None)


def test_tables_hold_objects_as_json() -> None:
    form = OutputFormat("csv")
    assert form.header(COLUMNS) == b"text,note,probabilities\r\n"
    assert form.encode(ROWS, COLUMNS).decode() == (
        '"é, a","a ""b""","{""positive"": 0.75}"\r\nb,,"{""positive"": 0.25}"\r\n'
    )


def test_each_probability_has_a_column_of_a_table_in_the_order_of_the_labels() -> None:
    form, columns = OutputFormat("csv", labels=("good", "bad")), ("text", "label", "probabilities", "explanation")
    row = {"text": "a", "label": "bad", "probabilities": {"bad": 0.75, "good": 0.25}, "explanation": {"words": []}}
    assert form.header(columns) == form.empty(columns) == b"text,label,probability_good,probability_bad,explanation\r\n"
    assert form.encode([row], columns) == b'a,bad,0.25,0.75,"{""words"": []}"\r\n'
    assert form.find_misfit(row, columns) == ""
    assert json.loads(OutputFormat("json_lines", labels=form.labels).encode([row], columns)) == row


def test_a_table_that_was_scored_before_gets_new_probabilities_in_place_of_the_old() -> None:
    form = OutputFormat("csv", labels=("Good",))
    columns = ("text", "probability_good", "probability_other", "label", "probabilities")
    row = {"text": "a", "probability_good": "0.1", "probability_other": "", "probabilities": {"Good": 1.0}}
    assert form.header(columns) == b"text,probability_other,label,probability_Good\r\n"
    assert form.encode([row | {"label": "Good"}], columns) == b"a,,Good,1.0\r\n"
    first_has_none = ("text", "label", "probabilities")
    assert form.find_misfit({"text": "a", "probability_good": "0.1"}, first_has_none) == ""
    assert "the field 'probability_other'" in form.find_misfit(row, first_has_none)


def test_a_table_has_no_place_for_a_field_that_its_first_row_has_not() -> None:
    row = {"text": "a", "probabilities": {}, "more": 1}
    assert OutputFormat("csv").find_misfit(row, COLUMNS) == (
        "a row has the field 'more', which the first does not have; write JSON Lines instead of CSV"
    )
    assert OutputFormat("csv").find_misfit({"text": "a"}, COLUMNS) == ""
    assert OutputFormat("json_lines").find_misfit(row, COLUMNS) == ""


@pytest.mark.parametrize("packing", [".gz", ".zst"])
def test_packed_windows_can_be_read_as_one(packing: str) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    plain, form = OutputFormat("csv"), OutputFormat("csv", packing)
    parts = [form.header(COLUMNS), form.encode(ROWS[:1], COLUMNS), form.encode(ROWS[1:], COLUMNS)]
    assert parts[1] == form.encode(ROWS[:1], COLUMNS)  # nothing of the time or the machine
    whole = b"".join(parts)
    stream = pyarrow.CompressedInputStream(pyarrow.BufferReader(whole), "gzip" if packing == ".gz" else "zstd")
    assert stream.read() == plain.header(COLUMNS) + plain.encode(ROWS, COLUMNS)
    if packing == ".gz":
        assert gzip.decompress(whole) == plain.header(COLUMNS) + plain.encode(ROWS, COLUMNS)


def test_what_json_has_no_word_for_is_written_as_text_or_nothing() -> None:
    row = {
        "when": datetime.date(2024, 2, 29),
        "price": decimal.Decimal("1.50"),
        "bytes": b"a\xff",
        "odd": [float("nan"), {"far": float("inf")}, 1.5],
        "half": "\ud83d",
    }
    assert json.loads(OutputFormat("json_lines").encode([row], ())) == {
        "when": "2024-02-29",
        "price": "1.50",
        "bytes": "a\\xff",
        "odd": [None, {"far": None}, 1.5],
        "half": "\ud83d",
    }
    assert OutputFormat("csv").encode([{"half": "\ud83d", "bytes": b"a\xff"}], ("half", "bytes")) == b"?,a\\xff\r\n"


def test_an_output_without_rows_is_one_that_can_be_read() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    assert gzip.decompress(OutputFormat("json_lines", ".gz").empty(COLUMNS)) == b""
    assert gzip.decompress(OutputFormat("csv", ".gz").empty(())) == b""
    packed = pyarrow.BufferReader(OutputFormat("csv", ".zst").empty(COLUMNS))
    assert pyarrow.CompressedInputStream(packed, "zstd").read() == b"text,note,probabilities\r\n"
    assert [OutputFormat(name).empty(()) for name in ("json_lines", "csv", "parquet")] == [b""] * 3


def test_lists_that_the_reader_of_csv_would_not_know_are_json() -> None:
    rows = [{"words": ["a", "b"], "tags": ["a|b"], "more": [1]}, {"words": [[0, True]], "tags": [1], "more": []}]
    assert OutputFormat("csv").encode(rows, ("words", "tags", "more")).decode().splitlines() == [
        '"[""a"", ""b""]","[""a|b""]",[1]',
        '"[[0, true]]",[1],[]',
    ]


def test_formulas_are_escaped_on_request() -> None:
    cells = ["=1+1", "+cmd", "-3", "-2.5e3", "-x", "@a", "\tx", "'ok", "ok", 5, None]
    rows = [{"cell": cell, "=head": ""} for cell in cells]
    plain = OutputFormat("csv").encode(rows, ("cell",)).decode().splitlines()
    assert plain[:2] == ["=1+1", "+cmd"]
    escaped = OutputFormat("csv", escape_formulas=True)
    found = escaped.encode(rows, ("cell",)).decode().splitlines()
    assert found == ["'=1+1", "'+cmd", "-3", "-2.5e3", "'-x", "'@a", "'\tx", "'ok", "ok", "5", '""']
    assert escaped.header(("=head",)) == b"'=head\r\n"
