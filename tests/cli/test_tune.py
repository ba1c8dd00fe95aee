"""`pssa tune`: a grid from the command line and from a file, what it prints, and what it refuses."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli.command import Command

import pssa
from pssa.data.example import Corpus

TINY = (
    *("--model", "memnet", "--method", "aw-as", "--device", "cpu", "--workers", "1", "--seeds", "1"),
    *("--set", "epochs=1", "--set", "dimension=8", "--set", "iterations=1"),
)


@pytest.mark.slow
def test_a_grid_is_judged_shown_and_its_best_is_trained(command: Command, train_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ("tune", "--train", train_file, *TINY, "--grid", "gamma=0.5,50", "--out", out)
    result = command(*words)
    assert result.code == 0, result.err
    assert "2 settings were tried with 1 seed" in result.out
    assert "cells: 4 executed, 0 reused, 0 failed" in result.out
    assert "--grid gamma=0.5,50" in json.loads((out / "provenance.json").read_text())["command"]
    again = command(*words, "--json")
    helps = again.json["best"]["gain"] > 0
    assert (f"train with the best: pssa train --config {out / 'best.toml'} --out RUN" in result.out) is helps
    assert ("the baseline is at least as good as the best" in result.out) is not helps
    assert again.json["cells"] == {"made": 0, "reused": 3, "missing": 0}
    assert command("train", "--config", out / "best.toml", "--out", tmp_path / "run").code == 0
    assert (tmp_path / "run" / "evidence.jsonl").is_file()


@pytest.mark.slow
def test_sigterm_ends_the_processes_too_and_leaves_no_warning(train_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ("--train", train_file, *TINY, "--workers", "2", "--seeds", "400", "--grid", "gamma=0.5,50", "--out", out)
    command = [sys.executable, "-m", "pssa", "tune", *map(str, words)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not ((out / "cells.jsonl").is_file() and (out / "cells.jsonl").stat().st_size):
        time.sleep(0.05)
    process.terminate()
    _, said = process.communicate(timeout=60)
    assert process.returncode == 143, said
    assert said.splitlines()[-1].startswith("pssa: terminated; ")
    assert "resume with: pssa tune --train" in said
    assert "leaked" not in said


@pytest.mark.slow
def test_a_table_with_columns_and_labels_of_its_own_is_tuned_in_processes_and_its_best_is_trained(
    command: Command, corpus: Corpus, tmp_path: Path
) -> None:
    table, out = tmp_path / "reviews.csv", tmp_path / "out"
    own = {"positive": "good", "negative": "bad", "neutral": "mixed"}
    with table.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["Review Text", "Product Part", "Verdict", "from", "to"])
        writer.writerows([one.text, one.aspect_text, own[one.label or ""], *one.aspect_chars] for one in corpus)
    columns = ("--columns", "text=Review Text,aspect=Product Part,label=Verdict")
    words = ("tune", "--train", table, *columns, *TINY, "--workers", "2", "--grid", "gamma=0.5,50", "--out", out)
    assert "unknown label 'good'" in command(*words).refusal
    result = command(*words, "--labels", "good,bad,mixed")
    assert (result.code, "cells: 4 executed" in result.out) == (0, True), result.err
    assert "--labels good,bad,mixed" in json.loads((out / "provenance.json").read_text())["command"]
    assert command(*words, "--labels", "good,bad,mixed", "--json").json["cells"]["reused"] == 3
    assert command("train", "--config", out / "best.toml", "--out", tmp_path / "run").code == 0
    assert set(pssa.load(tmp_path / "run").labels) == set(own.values())


@pytest.mark.slow
def test_grids_of_a_file_are_combined_with_those_of_the_command(
    command: Command, train_file: Path, tmp_path: Path
) -> None:
    grid = tmp_path / "grid.toml"
    grid.write_text("[[grid]]\ngamma = [1]\n[[grid]]\nramp = [0.5]\n")
    words = ("--grid-file", grid, "--grid", "words=both,active", "--json", "--out", tmp_path / "out")
    result = command("tune", "--train", train_file, *TINY, *words)
    assert [each["settings"] for each in result.json["settings"]] == [
        {"gamma": 1.0, "words": "both"},
        {"gamma": 1.0, "words": "active"},
        {"ramp": 0.5, "words": "both"},
        {"ramp": 0.5, "words": "active"},
    ]


@pytest.mark.slow
def test_cells_that_fail_are_told_and_end_with_one(command: Command, train_file: Path, tmp_path: Path) -> None:
    words = ("--grid", "gamma=1", "--set", "learning_rate=1e30", "--out", tmp_path / "out")
    result = command("tune", "--train", train_file, *TINY, *words)
    assert result.code == 1
    assert "pssa: failed: train memnet seed 0 [dimension=8 epochs=1 learning_rate=1e+30] base" in result.err
    assert "None of them has an outcome for every seed" in result.out
    assert not (tmp_path / "out" / "best.toml").exists()


def test_what_a_file_varies_the_command_does_not_vary_too(command: Command, train_file: Path, tmp_path: Path) -> None:
    grid = tmp_path / "grid.toml"
    grid.write_text("gamma = [1]\n")
    words = ("--grid-file", grid, "--grid", "gamma=2", "--out", tmp_path / "out")
    assert "grid.toml both vary gamma" in command("tune", "--train", train_file, *TINY, *words).refusal


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ((), "the grid is empty; name settings to vary with --grid NAME=VALUE,VALUE or --grid-file F"),
        (("--grid", "gamma"), "'gamma' has no name or no value"),
        (("--grid", "gamma=1", "--grid", "gamma=2"), "--grid names a setting twice; give all of its values"),
        (("--grid", "speed=1"), "unknown setting 'speed'"),
        (("--grid", "gamma=1", "--set", "gamma=2"), "gamma is given twice"),
        (("--grid", "gamma=1", "--seeds", "0"), "--seeds is 0; it must be at least 1"),
        (("--grid", "gamma=1", "--metric", "f1"), "--metric is 'f1'; choose accuracy or macro_f1"),
        (("--grid", "gamma=1", "--method", "base"), "--method is base, which has no supervision"),
        (("--grid", "gamma=1", "--vectors", "none.txt"), "--vectors none.txt does not exist"),
        (("--grid-file", "none.toml"), "none.toml: cannot be read"),
    ],
)
def test_what_cannot_be_tuned_ends_with_two_and_one_line(
    command: Command, train_file: Path, tmp_path: Path, words: tuple[str, ...], what: str
) -> None:
    result = command("tune", "--train", train_file, *TINY, "--out", tmp_path / "out", *words)
    assert what in result.refusal
    assert not (tmp_path / "out").exists()
