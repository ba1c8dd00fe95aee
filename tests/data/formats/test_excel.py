from __future__ import annotations

import datetime as dt
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pssa.bulk.source import find_csv_style, find_sources
from pssa.data import read
from pssa.data.formats import column_names, scan
from pssa.data.rows import Columns, Problem, Row
from pssa.errors import InputError

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


def test_hostile_workbooks_are_refused(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", [["text", "aspect", "label"], ["a menu", "menu", "positive"]])
    with zipfile.ZipFile(path) as parts:
        content = {name: parts.read(name) for name in parts.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    for what, changed in {
        "far more than its size": {"xl/bomb.xml": b" " * (1 << 25)},
        "cannot be read as an Excel workbook": {sheet: content[sheet][:-40]},
        "empty rows": {sheet: content[sheet].replace(b'r="2"', b'r="99999999"')},
        "no cell with content": {
            sheet: b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"/>'
        },
    }.items():
        with zipfile.ZipFile(tmp_path / "b.xlsx", "w", zipfile.ZIP_DEFLATED) as parts:
            for name, data in (content | changed).items():
                parts.writestr(name, data)
        with pytest.raises(InputError, match=what):
            read(tmp_path / "b.xlsx")
