"""What is noted while a model is trained: seconds by stage and, for what choosing on test would report, test scores by epoch."""

from __future__ import annotations

import time

import torch
from torch import nn

from pssa.data.evidence import RoundReport
from pssa.evaluation import predict_classes, score
from pssa.experiments.workspace import Bench
from pssa.training import EpochRecord, NullObserver

__all__ = ["Watch"]


class Watch(NullObserver):
    """Takes the time, and notes."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.curve: list[tuple[float, float]] = []  # accuracy and macro-F1
        self._began = self._ended = _now()
        self._bench: Bench | None = None
        self._model: nn.Module | None = None

    def look_at(self, bench: Bench, model: nn.Module) -> None:
        """Score the model, which is trained next, on the bench's test corpus after every epoch."""
        self._bench, self._model = bench, model

    def on_stage(self, stage: str, steps: int) -> None:
        """Start the clock."""
        self._began = _now()

    def on_epoch(self, record: EpochRecord) -> None:
        """Look at the model; the time that takes is nobody's."""
        if self._bench is None or self._model is None:
            return
        began = _now()
        shop = self._bench.shop
        labels = shop.config.data.labels
        classes = predict_classes(self._model, shop.index(self._bench.test)).tolist()
        found = score([example.label or "" for example in self._bench.test], [labels[one] for one in classes], labels)
        self.curve.append((found.accuracy, found.macro_f1))
        self._began += _now() - began

    def on_stage_end(self, stage: str) -> None:
        """Stop the clock."""
        now = _now()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._began
        self._ended = now

    def on_round(self, report: RoundReport) -> None:
        """Take the time since the training before a round of mining: that of the looking."""
        name = f"mine-{report.iteration}"
        self.seconds[name] = self.seconds.get(name, 0.0) + _now() - self._ended


def _now() -> float:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()
