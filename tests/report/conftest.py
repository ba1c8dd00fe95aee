"""Runs that train in a blink: MN of eight values a word, with and without mining."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pssa.data import embedded
from pssa.data.example import Corpus
from pssa.runs.training_run import write_run

_SIZES: dict[str, Any] = {"dimension": 8, "batch_size": 16, "learning_rate": 0.02, "initial_bound": 0.1}
_TINY = {"model": "memnet", "epochs": 2, "device": "cpu", **_SIZES}


@pytest.fixture(scope="session")
def held_out() -> Corpus:
    """Forty test instances."""
    return embedded.load("test").select(range(40))


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run that mined two rounds; to be read only."""
    corpus = embedded.load("train").select(range(60))
    out = tmp_path_factory.mktemp("runs") / "mined"
    # A light penalty and a heavy one differ enough that some predictions change.
    return write_run(corpus, out, method="aw-as", iterations=2, epsilon=9.0, gamma=20.0, **_TINY)


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run without evidence; to be read only."""
    corpus = embedded.load("train").select(range(60))
    return write_run(corpus, tmp_path_factory.mktemp("runs") / "base", **_TINY | {"epochs": 9})
