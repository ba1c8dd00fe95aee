"""Seconds by stage, on a clock that a test turns."""

from __future__ import annotations

import pytest

from paper.experiments import timing as watching
from paper.experiments.timing import StageTimer
from pssa.data.evidence import RoundReport


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which stands still until it is changed."""
    time = [0.0]
    monkeypatch.setattr(watching, "_now", lambda: time[0])
    return time


def test_seconds_of_a_stage_run_from_its_beginning_to_its_end(clock: list[float]) -> None:
    watch = StageTimer()
    clock[0] = 5.0
    watch.on_stage("initial", 10)
    clock[0] = 7.0
    watch.on_stage_end("initial")
    assert watch.seconds == {"initial": 2.0}


def test_a_round_of_mining_takes_what_follows_the_training_before_it(clock: list[float]) -> None:
    watch = StageTimer()
    watch.on_stage("initial", 10)
    clock[0] = 4.0
    watch.on_stage_end("initial")
    clock[0] = 4.5
    watch.on_round(RoundReport(1, accuracy=0.5, mean_entropy=1.0, open_share=0.5, active=1, misleading=0))
    assert watch.seconds == {"initial": 4.0, "mine-1": 0.5}
