"""What people see of a training: lines in a log, bars in a terminal, a block in a notebook, dicts in a tracker."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from pssa import progress as bars_module
from pssa.data.evidence import RoundReport
from pssa.training import EpochRecord, LogObserver, Observer, ObserverGroup, progress
from pssa.training.progress import NotebookProgress, TrainingProgress, show_training

ROUND = RoundReport(2, 0.5, 1.0, 0.25, active=312, misleading=40)


def epoch(number: int, dev: float | None = None) -> EpochRecord:
    return EpochRecord("final", number, loss=0.5, penalty=0.0, accuracy=0.5, dev_accuracy=dev, dev_macro_f1=dev)


def test_without_a_terminal_stages_and_rounds_are_lines_but_not_too_many(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    for module in (progress, bars_module):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now))
    monkeypatch.setattr(progress, "SHORT_SECONDS", 5.0)
    with TrainingProgress() as bars:
        now = 1.0
        bars.on_stage("initial", 1)
        bars.on_stage_end("initial")
        now = 6.0
        bars.on_round(ROUND)
        bars.on_stage("final", 3)
        for number in (1, 2, 3):
            now += 40
            bars.on_epoch(epoch(number))
        bars.on_stage_end("final")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == [
        "pssa: round 2: 312 active, 40 misleading words",
        "pssa: stage final: 3 epochs, loss 0.500, 0:02:00",
    ]


def test_a_long_step_is_still_logged(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bars_module, "QUIET_SECONDS", 0.01)
    err = ""
    with TrainingProgress() as bars:
        while "preparing the data" not in err:
            time.sleep(0.01)
            err += capsys.readouterr().err
        bars.on_stage("final", 3)
        bars.on_step(0, 12)
        bars.on_step(5, 12)
        while "pssa: stage final: epoch 1 of 3, step 5 of 12, 0:00:00 elapsed, 0:00:00 left" not in err:
            time.sleep(0.01)
            err += capsys.readouterr().err
        bars.on_stage_end("final")
        while "stage final is done; at work on the next step" not in err:
            time.sleep(0.01)
            err += capsys.readouterr().err


def test_the_time_left_counts_the_steps_of_this_session_only(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    for module in (progress, bars_module):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now))
    stage = progress.StageProgress("final", epochs=4, began=0.0)
    stage.advance(60, 100)
    assert stage.seconds_left is None
    now = 20.0
    stage.advance(70, 100)
    assert stage.seconds_left == pytest.approx(60)


class Block:
    """The display of a notebook."""

    shown: dict[str, str]

    def update(self, shown: dict[str, str], raw: bool) -> None:
        self.shown = shown


def test_a_notebook_keeps_a_line_for_each_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    block = Block()
    monkeypatch.setattr("IPython.display.display", lambda *given, **more: block)
    with NotebookProgress() as observer:
        observer.on_stage("final", 2)
        observer.on_step(3, 8)
        observer.on_epoch(epoch(1, dev=0.25))
        assert 'value="3" max="8"' in block.shown["text/html"]
        assert "epoch 2 of 2, step 3 of 8" in block.shown["text/plain"]
        observer.on_stage_end("final")
        observer.on_round(ROUND)
    lines = block.shown["text/plain"].splitlines()
    assert lines[0].startswith("stage final: 1 epoch, loss 0.500, held-out macro-F1 25.0 %")
    assert lines[1].startswith("mining 2: 312 active")
    assert lines[2].startswith("done after")


@pytest.mark.parametrize(("given", "is_shown"), [(None, False), (True, True), (False, False)])
def test_scripts_without_a_terminal_see_progress_if_they_ask(given: bool | None, is_shown: bool) -> None:
    with show_training(None, given) as observer:
        assert isinstance(observer, ObserverGroup) is is_shown


def test_a_tracker_gets_plain_numbers_by_stage() -> None:
    logged: list[dict[str, Any]] = []
    observer = ObserverGroup((LogObserver(logged.append), Observer()))
    observer.on_stage("final", 1)
    observer.on_step(1, 2)
    observer.on_epoch(epoch(1, dev=0.25))
    observer.on_round(ROUND)
    observer.on_finish({"instances": 9, "epochs": 3, "dev": {"accuracy": 0.5}}, None)
    assert logged == [
        {
            "final/epoch": 1,
            "final/loss": 0.5,
            "final/accuracy": 0.5,
            "final/dev_accuracy": 0.25,
            "final/dev_macro_f1": 0.25,
        },
        {
            "mining/iteration": 2,
            "mining/active": 312,
            "mining/misleading": 40,
            "mining/accuracy": 0.5,
            "mining/mean_entropy": 1.0,
            "mining/open_share": 0.25,
        },
        {"run/instances": 9, "run/epochs": 3, "run/dev_accuracy": 0.5},
    ]
