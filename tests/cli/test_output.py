"""What commands print for people, and what a log gets of a training."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.cli.command import Command

import pssa
from pssa.cli import _progress, train
from pssa.cli._output import counted, print_table
from pssa.cli._progress import TrainingProgress
from pssa.data.evidence import RoundReport
from pssa.data.example import Corpus
from pssa.training import EpochRecord


@pytest.mark.parametrize(("count", "said"), [(0, "0 rows"), (1, "1 row"), (2, "2 rows")])
def test_a_noun_takes_an_s_unless_there_is_one(count: int, said: str) -> None:
    assert counted(count, "row") == said


def test_a_training_of_one_epoch_on_one_instance_is_told_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    metrics: dict[str, object] = {
        "instances": 1,
        "epochs": 1,
        "dev": None,
        "dropped": {},
        "parameters": 1,
        "vector_coverage": None,
    }
    train._summarise(tmp_path, metrics, {}, as_json=False)
    assert capsys.readouterr().out.startswith(f"{tmp_path}: 1 instance; 1 epoch\n")


def test_one_instance_and_one_resample_are_told_so(command: Command, run: Path, corpus: Corpus, tmp_path: Path) -> None:
    pssa.write(corpus.select([0]), tmp_path / "one.jsonl")
    told = command("evaluate", run, "--data", tmp_path / "one.jsonl", "--versus", run, "--resamples", "1").out
    assert told.startswith("1 instance: accuracy")
    assert "paired bootstrap, 1 resample;" in told


def test_a_narrow_table_breaks_names_and_cuts_nothing_off(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    print_table("confusion: gold in rows", ("", "positive", "negative"), [["positive", "1", "2"]])
    told = capsys.readouterr().out
    assert told.startswith("confusion: gold in rows\n")
    assert "…" not in told


def epoch(number: int) -> EpochRecord:
    return EpochRecord("final", number, loss=0.5, penalty=0.0, accuracy=0.5)


def test_without_a_terminal_stages_and_rounds_are_lines_but_not_too_many(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(_progress, "time", SimpleNamespace(monotonic=lambda: now))
    monkeypatch.setattr(_progress, "_QUIET_SECONDS", 5.0)
    monkeypatch.setattr(_progress, "_LONG_QUIET_SECONDS", 60.0)
    with TrainingProgress() as bars:
        now = 1.0
        bars.on_stage_end("initial")
        now = 6.0
        bars.on_round(RoundReport(2, 0.5, 1.0, 0.5, active=312, misleading=40))
        bars.on_stage("final", 3)
        for number in (1, 2, 3):
            now += 40
            bars.on_epoch(epoch(number))
        bars.on_stage_end("final")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == [
        "pssa: round 2: 312 active, 40 misleading words",
        "pssa: stage final: epoch 2 of 3, loss 0.500",
        "pssa: stage final: 3 epochs",
    ]
