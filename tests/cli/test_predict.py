"""`pssa predict`."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import Command

import pssa

# Of different lengths, so that batches of like length would give themselves away.
TEXTS = [f"{'so ' * (7 * number % 11)}the screen number {number} is huge" for number in range(20)]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    rows: list[dict[str, Any]] = [{"key": n, "text": text, "aspect": "screen"} for n, text in enumerate(TEXTS)]
    rows[3]["label"] = "negative"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def rows_of(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".csv":
        with path.open(newline="") as handle:
            return list(csv.DictReader(handle))
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_rows_are_answered_in_order_with_their_fields(
    command: Command, run: Path, source: Path, tmp_path: Path
) -> None:
    target = tmp_path / "out.jsonl"
    found = command("predict", run, "--input", source, "--output", target, "--batch-size", "3", "--json").json
    rows, classifier = rows_of(target), pssa.load(run)
    assert [(row["key"], row["text"], row["aspect"]) for row in rows] == [(n, t, "screen") for n, t in enumerate(TEXTS)]
    for row in rows:
        answer = classifier.predict(row["text"], "screen")
        assert row["label"] == answer.label
        assert row["probabilities"] == pytest.approx(answer.probabilities, abs=1e-5)
    labels = [row["label"] for row in rows]
    assert found == {"rows": 20, "labels": {name: labels.count(name) for name in classifier.labels}, "ambiguous": 0}


def test_a_label_of_the_input_becomes_gold(command: Command, run: Path, source: Path, tmp_path: Path) -> None:
    command("predict", run, "--input", source, "--output", tmp_path / "out.jsonl")
    rows = rows_of(tmp_path / "out.jsonl")
    assert [row.get("gold") for row in rows] == [None] * 3 + ["negative"] + [None] * 16
    assert set(rows[3]) == {"key", "text", "aspect", "gold", "label", "probabilities"}


def test_tables_are_read_and_written(command: Command, run: Path, tmp_path: Path) -> None:
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text('aspect,text,label\nscreen,"huge, the screen",neutral\nkeys,no keys,\n')
    result = command("predict", run, "--input", source, "--output", target)
    assert result.code == 0
    assert f"{target}: 2 rows (" in result.out
    rows = rows_of(target)
    assert list(rows[0]) == ["aspect", "text", "gold", "label", "probabilities"]
    assert [(row["text"], row["gold"]) for row in rows] == [("huge, the screen", "neutral"), ("no keys", "")]
    assert sum(json.loads(rows[0]["probabilities"]).values()) == pytest.approx(1)


def test_aspects_that_occur_twice_are_mentioned(command: Command, run: Path, tmp_path: Path) -> None:
    source = tmp_path / "in.csv"
    source.write_text("text,aspect\nscreen on screen,screen\n")
    result = command("predict", run, "--input", source, "--output", tmp_path / "out.csv")
    assert "1 aspects occur several times in their text; the first occurrence was taken" in result.out


def test_a_bad_row_is_named_by_its_line_and_leaves_no_output(
    command: Command, run: Path, source: Path, tmp_path: Path
) -> None:
    with source.open("a") as handle:
        handle.write('{"text": "a keyboard", "aspect": "screen"}\n')
    refusal = command("predict", run, "--input", source, "--output", tmp_path / "out.jsonl").refusal
    assert "in.jsonl, line 21: aspect 'screen' is not in the text 'a keyboard'" in refusal
    assert list(tmp_path.iterdir()) == [source]


def test_an_existing_output_is_kept_unless_force_is_used(
    command: Command, run: Path, source: Path, tmp_path: Path
) -> None:
    target = tmp_path / "out.jsonl"
    target.write_text("older\n")
    words = ("predict", run, "--input", source, "--output", target)
    assert f"{target} exists already; choose another --output" in command(*words).refusal
    assert target.read_text() == "older\n"
    assert command(*words, "--force").code == 0
    assert len(rows_of(target)) == 20


def test_bad_input_is_refused(command: Command, run: Path, source: Path, tmp_path: Path) -> None:
    output = ("--output", tmp_path / "out.jsonl")
    assert "is not a run" in command("predict", tmp_path, "--input", source, *output).refusal
    assert "does not exist" in command("predict", run, "--input", tmp_path / "nowhere.csv", *output).refusal
    assert "let its name end in" in command("predict", run, "--input", source, "--output", tmp_path / "o.xml").refusal
    refusal = command("predict", run, "--input", source, *output, "--batch-size", "0").refusal
    assert "batch_size is 0; it must be at least 1" in refusal
    assert list(tmp_path.iterdir()) == [source]
