"""Runs that are stopped on the way, and what is in them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pssa.training import EpochRecord, Observer


class Interrupting(Observer):
    """An observer that counts the epochs of all stages and presses Ctrl-C after so many, if it is told how many."""

    def __init__(self, after: int | None = None) -> None:
        self.seen = 0
        self.after = after

    def on_epoch(self, record: EpochRecord) -> None:
        self.seen += 1
        if self.seen == self.after:
            raise KeyboardInterrupt


def interrupt(train: Callable[..., Path], run: Path, after: int, **settings: Any) -> None:
    """Start a training and press Ctrl-C after so many epochs."""
    with pytest.raises(KeyboardInterrupt):
        train(run, observer=Interrupting(after), **settings)


def contents(run: Path) -> dict[str, bytes]:
    """Every file of a run by its place in it; the lock is not part of the result."""
    files = (path for path in run.rglob("*") if path.is_file() and path.name != ".lock")
    return {str(path.relative_to(run)): path.read_bytes() for path in files}
