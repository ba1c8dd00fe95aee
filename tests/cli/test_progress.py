"""What a log gets of a training."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from pssa.cli import _progress
from pssa.cli._progress import ProgressBars
from pssa.data.evidence import RoundReport
from pssa.training import EpochRecord


def epoch(number: int) -> EpochRecord:
    return EpochRecord("final", number, loss=0.5, penalty=0.0, accuracy=0.5)


def test_without_a_terminal_stages_and_rounds_are_lines_but_not_too_many(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(_progress, "time", SimpleNamespace(monotonic=lambda: now))
    monkeypatch.setattr(_progress, "_QUIET_SECONDS", 5.0)
    monkeypatch.setattr(_progress, "_QUIET_SECONDS_OF_EPOCHS", 60.0)
    with ProgressBars() as bars:
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
