"""A run that was trained in a blink."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.predict.made_rows import sentences, write_rows

from pssa.data import embedded
from pssa.predict import Job, Scoring
from pssa.runs.training_run import write_run


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """MN of eight values a word; to be read only."""
    corpus = embedded.load("train").select(range(60))
    out = tmp_path_factory.mktemp("runs") / "run"
    return write_run(
        corpus, out, model="memnet", dimension=8, epochs=2, batch_size=16, learning_rate=0.01, device="cpu"
    )


@pytest.fixture
def small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four rows in a window, three sentences in a step."""
    monkeypatch.setattr("pssa.predict.job.default_window_rows", lambda model, device: 4)


@pytest.fixture
def job(run: Path, tmp_path: Path) -> Job:
    """Ten rows: with small windows three of them."""
    source = write_rows(tmp_path / "in.jsonl", sentences(10))
    return Job(run, (str(source),), str(tmp_path / "out.jsonl"), scoring=Scoring(device="cpu"))
