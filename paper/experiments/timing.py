"""Measurements during training: seconds by stage and, on request, test scores by epoch."""

from __future__ import annotations

import time

import torch
from torch import nn

from paper.experiments.workspace import PlaceContext
from pssa.data.evidence import RoundReport
from pssa.evaluation import predict_classes, score
from pssa.training import EpochRecord, Observer


class StageTimer(Observer):
    """Observer that measures the seconds of each stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.curve: list[tuple[float, float]] = []  # accuracy and macro-F1 on test, by epoch
        self._began = self._ended = _now()
        self._tested: tuple[PlaceContext, nn.Module] | None = None

    def test_each_epoch(self, context: PlaceContext, model: nn.Module) -> None:
        """Score the model, which is trained next, on the test corpus after every epoch."""
        self._tested = (context, model)

    def on_stage(self, stage: str, steps: int) -> None:
        """Start the clock."""
        self._began = _now()

    def on_epoch(self, record: EpochRecord) -> None:
        """Test the model; the time that takes is not counted."""
        if self._tested is None:
            return
        began = _now()
        context, model = self._tested
        labels = context.run.config.data.labels
        classes = predict_classes(model, context.run.index(context.test)).tolist()
        scores = score([example.label or "" for example in context.test], [labels[one] for one in classes], labels)
        self.curve.append((scores.accuracy, scores.macro_f1))
        self._began += _now() - began

    def on_stage_end(self, stage: str) -> None:
        """Stop the clock."""
        self._ended = _now()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + self._ended - self._began

    def on_round(self, report: RoundReport) -> None:
        """Count the seconds since the last training as those of a round of mining."""
        name = f"mine-{report.iteration}"
        self.seconds[name] = self.seconds.get(name, 0.0) + _now() - self._ended


def _now() -> float:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()
