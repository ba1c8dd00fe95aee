"""How far a job came."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pssa.bulk.journal import Journal, difference
from pssa.bulk.window import Position
from pssa.bulk.work import Result, Tally
from pssa.errors import InputError

TALLY = {"rows": 0, "labels": {}, "ambiguous": 0, "rejected": 0}
RESULT = Result(Position(1, 30), 77, ("text",), b"12345", b"123", Tally(4, {"positive": 4}, 1, 2), "", "")


def test_a_window_moves_everything_on(tmp_path: Path) -> None:
    once = Journal().after(RESULT, "ab", 8)
    twice = once.after(RESULT, "ab", 5)
    assert twice == Journal(Position(1, 30), 77, 13, 6, ("text",), "ab", Tally(8, {"positive": 8}, 2, 4))
    twice.save(tmp_path / "journal.json")
    assert Journal.load(tmp_path / "journal.json") == twice


@pytest.mark.parametrize(
    "change",
    [
        {"written": -1},
        {"written": "7"},
        {"position": [0, 0]},
        {"position": {"source": True, "events": 0}},
        {"schema": "zz"},
        {"tally": {"lost": 1}},
        {"tally": TALLY | {"rows": "7"}},
        {"tally": TALLY | {"rows": 7}},
        {"tally": TALLY | {"labels": ["positive"]}},
        {"tally": TALLY | {"labels": {"positive": None}}},
        {"tally": TALLY | {"ambiguous": 0.5}},
        {"tally": TALLY | {"rejected": None}},
        {"columns": "text"},
        {"columns": [1]},
        {"position": {"source": 0, "events": 1 << 70}},
        {"complete": "no"},
        {"complete": 1},
        {"more": 1},
    ],
)
def test_a_damaged_journal_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "journal.json"
    Journal().save(path)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(InputError, match=r"journal\.json: is damaged \(.*\); begin again with .*--force"):
        Journal.load(path)


def test_a_journal_of_another_layout_is_not_called_damaged(tmp_path: Path) -> None:
    path = tmp_path / "journal.json"
    path.write_text('{"version": 1, "rows": 7}')
    with pytest.raises(
        InputError, match=r"journal\.json: another version of pssa began this job; begin again with .*--f"
    ):
        Journal.load(path)


@pytest.mark.parametrize("content", ["", "[1]", "{", "[" * 100_000])
def test_what_is_no_journal_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "journal.json"
    path.write_text(content)
    with pytest.raises(InputError, match="is damaged"):
        Journal.load(path)


def test_what_has_changed_is_named() -> None:
    before = {"the run": "ab", "the inputs": {"input a": {"the size of a": 1}, "input b": {"the size of b": 2}}}
    assert difference(before, before) == ""
    told = "the run is not what it was when the job was begun ('cd', then 'ab')"
    advice = 'begin again with `begin="replace"` (--force)'  # as callers say it, and as those who type
    assert difference(before, before | {"the run": "cd"}) == f"{told}; {advice}"
    now = before | {"the inputs": {"input a": {"the size of a": 1}, "input b": {"the size of b": 3}}}
    assert difference(before, now).startswith("the size of b is not what it was when the job was begun (3, then 2)")
    fewer = before | {"the inputs": {"input a": {"the size of a": 1}}}
    assert difference(before, fewer).startswith("input b is not what it was")
    assert difference(fewer, before).startswith("input b is not what it was")
