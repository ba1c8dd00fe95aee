"""JSON Lines."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pssa.data.check import check
from pssa.data.example import Example
from pssa.data.formats import json_lines
from pssa.data.read import read


def test_everything_about_an_example_survives(tmp_path: Path) -> None:
    text = "the don't-menu\u2028is\u00a0ok"
    example = Example.from_spans(
        text, ((0, 3), (4, 9), (10, 14), (15, 20)), (10, 14), label="neutral", id="x", sentence_id="s"
    )
    tagged = replace(example, tags=("hard",))
    path = tmp_path / "out.jsonl"
    path.write_bytes(json_lines.encode([tagged]))
    assert tuple(read(path)) == (tagged,)


@pytest.mark.parametrize("line", ['{"text": "a', "[1]", "3", "[" * 100_000, '{"text": ' + "9" * 5000 + "}"])
def test_what_is_no_object_is_rejected_alone(tmp_path: Path, line: str) -> None:
    good = json.dumps({"text": "a menu", "aspect": "menu", "label": "neutral"})
    path = tmp_path / "data.jsonl"
    path.write_text(f"{good}\n{line}\n\n{good}\n")
    report = check(path)
    assert report.instances == 2
    assert [(problem.line, problem.rejected) for problem in report.problems] == [(2, True)]
