"""JSON Lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pssa.data.check import check
from pssa.data.formats import json_lines
from pssa.data.io import read
from pssa.data.rows import Problem, Row
from pssa.data.text_file import InputFile
from pssa.errors import InputError


@pytest.mark.parametrize("line", ['{"text": "a', "[1]", "3", "[" * 100_000, '{"text": ' + "9" * 5000 + "}"])
def test_what_is_no_object_is_rejected_alone(tmp_path: Path, line: str) -> None:
    good = json.dumps({"text": "a menu", "aspect": "menu", "label": "neutral"})
    path = tmp_path / "data.jsonl"
    path.write_text(f"{good}\n{line}\n\n{good}\n")
    report = check(path)
    assert report.instances == 2
    assert [(problem.line, problem.rejected) for problem in report.problems] == [(2, True)]


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('{"text": "a menu", "aspect": "menu", "note": 1, "note": 2}', "note"),
        ('{"text": "a menu", "aspect": "menu", "\\u006e": 1, "n" : 2}', "n"),
        ('{"text": "12:30, a menu", "aspect": "menu", "more": {"n": 1, "n": 2}}', "n"),
        ('{"text": "a menu", "aspect": "menu", "more": [{"n": {"m": 1, "m": 1}}]}', "m"),
        ('{"text" : "a menu", "text":"a bar", "aspect": "menu"}', "text"),
    ],
)
def test_a_key_that_comes_twice_is_a_problem(tmp_path: Path, line: str, key: str) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text(f"{line}\n")
    (problem,) = json_lines.scan(InputFile(path))
    assert isinstance(problem, Problem)
    assert problem.what == f"has the key '{key}' twice in one object; keep one of the two"


@pytest.mark.parametrize(
    "fields", [{"text": 'so: "a": {'}, {"more": {"more": {"more": ":"}}}, {"more": [{"a": 1}, {"a": 2}]}, {"a:": 1}]
)
def test_colons_elsewhere_are_no_keys(tmp_path: Path, fields: dict[str, Any]) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text(json.dumps(fields) + "\n")
    (row,) = json_lines.scan(InputFile(path))
    assert isinstance(row, Row)
    assert row.fields == fields


@pytest.mark.parametrize("indent", [None, 2])
def test_a_file_that_is_one_list_is_refused_with_the_remedy(tmp_path: Path, indent: int | None) -> None:
    path = tmp_path / "list.json"
    path.write_text(json.dumps([{"text": "a menu", "aspect": "menu", "label": "positive"}], indent=indent))
    with pytest.raises(InputError, match=r"1: is a JSON list, .* `jq -c '\.\[\]'`"):
        read(path)
    with pytest.raises(InputError, match="is a JSON list"):
        check(path)
