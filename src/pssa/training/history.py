"""What happened in a training, as data: one record per epoch. Progress bars, curves and tables read it; nobody parses logs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any, Protocol

from pssa.data.evidence import RoundReport

__all__ = ["EpochRecord", "NullObserver", "Observer", "best_epoch"]


@dataclass(frozen=True)
class EpochRecord:
    """One epoch of one stage."""

    stage: str
    epoch: int  # from 1
    loss: float  # cross-entropy, mean over instances
    penalty: float  # attention penalty before gamma, mean over instances; 0 without supervision
    accuracy: float  # of the predictions made while training, dropout on
    dev_accuracy: float | None = None
    dev_macro_f1: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


class Observer(Protocol):
    """Somebody who watches a training; nothing it does changes the result."""

    def on_stage(self, stage: str, steps: int) -> None:
        """A stage of at most `steps` epochs or rounds begins."""
        ...

    def on_epoch(self, record: EpochRecord) -> None:
        """An epoch ended."""
        ...

    def on_stage_end(self, stage: str) -> None:
        """A stage ended."""
        ...

    def on_round(self, report: RoundReport) -> None:
        """A round of mining ended."""
        ...


class NullObserver:
    """An observer that looks away."""

    def on_stage(self, stage: str, steps: int) -> None:
        """Ignore."""

    def on_epoch(self, record: EpochRecord) -> None:
        """Ignore."""

    def on_stage_end(self, stage: str) -> None:
        """Ignore."""

    def on_round(self, report: RoundReport) -> None:
        """Ignore."""


def best_epoch(history: Sequence[EpochRecord], window: int = 1) -> int:
    """The epoch with the highest development macro-F1, averaged over `window` epochs around it; the earliest of equals.

    Development data is small, so that the best single epoch is as much luck as merit.
    """
    scores = [record.dev_macro_f1 or 0.0 for record in history]
    means = []
    for place in range(len(scores)):
        # The window shrinks on both sides towards the ends, or a score that still rises would be held back.
        reach = min(window // 2, place, len(scores) - 1 - place)
        means.append(fmean(scores[place - reach : place + reach + 1]))
    return history[means.index(max(means))].epoch
