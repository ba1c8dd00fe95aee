"""How sources are cut into windows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.bulk.made_rows import write_rows

from pssa.bulk import window as window_module
from pssa.bulk.source import find_sources
from pssa.bulk.window import Position, Reading, Window, windows
from pssa.data.read import Problem, Row


def reading_of(paths: list[Path], rows: int) -> Reading:
    return Reading(find_sources([str(path) for path in paths], None), rows)


def keys(window: Window) -> list[int]:
    return [row.fields["key"] for row in window.rows if isinstance(row, Row)]


@pytest.fixture
def two(tmp_path: Path) -> list[Path]:
    rows = [{"key": number, "text": "a screen", "aspect": "screen"} for number in range(7)]
    return [write_rows(tmp_path / "a.jsonl", rows[:5]), write_rows(tmp_path / "b.jsonl", rows[5:])]


def test_windows_are_full_but_at_the_end_of_a_source(two: list[Path]) -> None:
    found = list(windows(reading_of(two, 2)))
    assert [keys(window) for window in found] == [[0, 1], [2, 3], [4], [5, 6]]
    assert [window.end for window in found] == [Position(0, 2), Position(0, 4), Position(0, 5), Position(1, 2)]
    assert [window.source for window in found] == [str(two[0])] * 3 + [str(two[1])]
    assert [window.read for window in found] == [two[0].stat().st_size] * 3 + [two[1].stat().st_size]


def test_going_on_from_any_place_gives_the_same_windows(two: list[Path]) -> None:
    reading = reading_of(two, 2)
    all_of_them = list(windows(reading))
    for number, before in enumerate(all_of_them):
        rest = list(windows(reading, before.end, before.columns))
        assert [replace(window, read=0) for window in rest] == [
            replace(window, read=0) for window in all_of_them[number + 1 :]
        ]


def test_rows_that_cannot_be_read_have_their_place_in_a_window(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text('{"text": "a", "aspect": "a"}\nnonsense\n\n{"text": "b", "aspect": "b"}\n')
    first, second = windows(reading_of([path], 2))
    assert [type(row) for row in first.rows] == [Row, Problem]
    assert [(row.line, type(row)) for row in second.rows] == [(4, Row)]


def test_what_is_no_row_is_passed_over_and_counted_in_places(tmp_path: Path) -> None:
    path = tmp_path / "in.xml"
    aspect = '<aspectTerms><aspectTerm term="screen" polarity="positive" from="2" to="8"/></aspectTerms>'
    with_one, without = f"<sentence><text>a screen</text>{aspect}</sentence>", "<sentence><text>none</text></sentence>"
    path.write_text(f"<sentences>{without}{with_one}{without}{with_one}{with_one}</sentences>")
    reading = reading_of([path], 3)
    assert [(len(window.rows), window.end.events) for window in windows(reading)] == [(1, 3), (2, 5)]
    assert [(len(window.rows), window.end.events) for window in windows(reading, Position(0, 3))] == [(2, 5)]


def test_a_source_that_cannot_be_read_on_ends_everything_with_a_fault(tmp_path: Path, two: list[Path]) -> None:
    broken = tmp_path / "aa.csv"
    broken.write_text("note\nno columns\n")
    found = list(windows(reading_of([two[0], broken, two[1]], 9)))
    assert [keys(window) for window in found] == [[0, 1, 2, 3, 4], []]
    assert found[0].fault == ""
    assert "aa.csv, line 1: a column is missing" in found[1].fault


def test_long_texts_make_small_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window_module, "_MOST_LETTERS", 100)
    rows = [{"key": key, "text": "t" * 40, "more": [{"deep": "n" * 10}]} for key in range(5)]
    found = list(windows(reading_of([write_rows(tmp_path / "in.jsonl", rows)], 1000)))
    assert [keys(window) for window in found] == [[0, 1], [2, 3], [4]]


def test_names_and_empty_containers_weigh_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window_module, "_MOST_LETTERS", 100)
    kinds: tuple[Any, ...] = ({"n" * 50: 1}, [[]] * 50, [[[], []]] * 20)
    for more in kinds:
        rows = [{"key": key, "more": more} for key in range(4)]
        found = list(windows(reading_of([write_rows(tmp_path / "in.jsonl", rows)], 1000)))
        assert [keys(window) for window in found] == [[0, 1], [2, 3]], more


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
    reading = reading_of([path], 1)
    columns = ("gold", "text", "aspect", "label", "probabilities")
    assert [window.columns for window in windows(reading)] == [(), columns, columns]
    explained = windows(replace(reading, explained=True))
    assert [window.columns for window in explained][1:] == [(*columns, "explanation")] * 2
