"""A run that was trained in a blink."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pssa.data import embedded
from pssa.runs import train


@pytest.fixture(scope="session", autouse=True)
def _no_waiting_for_the_disk() -> Iterator[None]:
    """No test cuts the power, so none need wait until its files would survive that."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """MN of eight values a word; to be read only."""
    corpus = embedded.load("train").select(range(60))
    out = tmp_path_factory.mktemp("runs") / "run"
    return train(corpus, out, model="memnet", dimension=8, epochs=2, batch_size=16, learning_rate=0.01, device="cpu")
