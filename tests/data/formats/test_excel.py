from __future__ import annotations

import datetime as dt
import os
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pssa.data import read
from pssa.data.formats import column_names, scan
from pssa.data.rows import Columns, Problem, Row
from pssa.errors import InputError
from pssa.predict.source import find_csv_style, find_sources

openpyxl = pytest.importorskip("openpyxl")


def workbook(path: Path, *sheets: Sequence[Sequence[Any]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for rows in sheets:
        sheet = book.create_sheet()
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_a_workbook_is_read_like_its_csv_file(tmp_path: Path) -> None:
    day = dt.datetime(2026, 3, 1)
    rows: list[list[Any]] = [
        ["Text", None, "aspect", "label", "stars", "day", "paid"],
        [],
        ["a menu, fine", "x", "menu", "positive", 4.0, day, True],
    ]
    (tmp_path / "a.csv").write_text('text,aspect,label\n"a menu, fine",menu,positive\n')
    (instance,) = read(workbook(tmp_path / "a.xlsx", [], rows))
    (same,) = read(tmp_path / "a.csv")
    assert (instance.words, instance.aspect, instance.label) == (same.words, same.aspect, same.label)
    path = workbook(tmp_path / "b.xlsx", rows)
    assert column_names(path, "excel") == ["Text", "aspect", "label", "stars", "day", "paid"]
    (row,) = scan(path, "excel", Columns.of("label=stars"))
    assert isinstance(row, Row)
    assert row.line == 3
    assert row.fields["label"] == "4"
    assert (row.given["day"], row.given["paid"]) == ("2026-03-01", "TRUE")


def test_short_rows_are_filled_and_cells_without_a_name_are_faults(tmp_path: Path) -> None:
    path = workbook(
        tmp_path / "a.xlsx", [["text", "aspect", "label"], ["no aspect"], ["a menu", "menu", "positive", "?"]]
    )
    short, long = scan(path, "excel")
    assert isinstance(short, Row)
    assert short.fields == {"text": "no aspect", "aspect": "", "label": ""}
    assert isinstance(long, Problem)
    assert long.line == 3


def test_what_is_made_of_a_workbook_opens_in_excel(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", [["text", "aspect"], ["ein Menü", "Menü"]])
    sources = find_sources([str(path)], None)
    assert [event.line for event in sources[0].events(lambda read: None) if isinstance(event, Row)] == [2]
    assert find_csv_style(sources).has_bom


NAMESPACE = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
SHEET = "xl/worksheets/sheet1.xml"
HEADER = "".join(f'<c t="inlineStr"><is><t>{name}</t></is></c>' for name in ("text", "aspect", "label"))


def parts_of(path: Path) -> dict[str, bytes]:
    workbook(path, [["text", "aspect", "label"], ["a menu", "menu", "positive"]])
    with zipfile.ZipFile(path) as parts:
        return {name: parts.read(name) for name in parts.namelist()}


def packed(path: Path, parts: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return path


def sheet_of(rows: str) -> bytes:
    return f"<worksheet {NAMESPACE}><sheetData><row>{HEADER}</row>{rows}</sheetData></worksheet>".encode()


HOSTILE = {
    "a bomb": ("far more than its size", {"xl/bomb.xml": b" " * (1 << 25)}),
    "cut short": ("cannot be read as an Excel workbook", {SHEET: sheet_of("")[:-40]}),
    "far below": ("empty rows", {SHEET: sheet_of('<row r="99999999"><c><v>1</v></c></row>')}),
    "no cells": ("no cell with content", {SHEET: f"<worksheet {NAMESPACE}/>".encode()}),
    "too wide": ("more than 16,384 columns", {SHEET: sheet_of(f"<row>{'<c><v>1</v></c>' * 20_000}</row>")}),
    "wide and long": (
        "far more cells than",
        {SHEET: sheet_of("".join(f'<row><c r="XFD{row}"><v>1</v></c></row>' for row in range(2, 20)))},
    ),
    "nested": ("far more than its size", {SHEET: sheet_of("<a>" * 500_000)}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_workbooks_are_refused(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pssa.data.formats.excel._MAX_CELLS", 200_000)
    what, changed = HOSTILE[name]
    path = packed(tmp_path / "b.xlsx", parts_of(tmp_path / "a.xlsx") | changed)
    with pytest.raises(InputError, match=what):
        list(scan(path, "excel"))


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(4096), "protected by a password, or of Excel 97 to 2003"),
        (b"text,aspect\na,b\n", "is not an Excel workbook"),
        (b"PK\x03\x04" + bytes(100), "cannot be read as an Excel workbook"),
        ({"mimetype": b"application/vnd.oasis.opendocument.spreadsheet"}, "OpenDocument"),
        ({"xl/workbook.bin": b""}, "binary workbook"),
    ],
)
def test_other_files_with_the_ending_are_refused(tmp_path: Path, content: Any, what: str) -> None:
    if isinstance(content, dict):
        packed(tmp_path / "a.xlsx", content, zipfile.ZIP_STORED)
    else:
        (tmp_path / "a.xlsx").write_bytes(content)
    with pytest.raises(InputError, match=what):
        read(tmp_path / "a.xlsx")


def test_other_methods_of_packing_are_refused(tmp_path: Path) -> None:
    """They unpack gigabytes at once, whatever the archive says of their size."""
    with pytest.raises(InputError, match="unusual way"):
        read(packed(tmp_path / "b.xlsx", parts_of(tmp_path / "a.xlsx"), zipfile.ZIP_LZMA))


def test_a_pipe_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.xlsx")
    with pytest.raises(InputError, match="is a pipe"):
        list(scan(tmp_path / "a.xlsx", "excel"))
