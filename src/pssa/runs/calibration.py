"""Calibration of a run: the temperature of its probabilities and what it was chosen on, in `calibration.json`.

The file also holds the confidence of every held-out prediction and whether it was right. From these follows the threshold of
confidence that a share of wrong answers asks for, see `Classifier.abstaining`.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pssa.data.validation import (
    is_finite_number,
    list_of,
    number,
    parse_fields,
    parsers_of,
    shorten,
    truth,
)
from pssa.errors import InputError, PssaWarning, setting
from pssa.evaluation import score
from pssa.evaluation.calibration import (
    calibration_error,
    cross_fit,
    fit_temperature,
    log_loss,
    scale,
    threshold_for_risk,
)
from pssa.runs.directory import read_schema, write_json

if TYPE_CHECKING:
    from torch import Tensor

FILE = "calibration.json"
_SCHEMA = 1
_DIGITS = 6  # of a confidence
_LEAST, _MOST = 0.01, 100.0  # temperatures that a file may name
_MIN_INSTANCES = 30  # fewer say too little
_LARGEST_SHARE = 0.5  # that anybody would keep out of a training


@dataclass(frozen=True)
class HeldOut:
    """Predictions about instances by models that were not trained on them."""

    probabilities: Tensor  # (M, n, C) by M models each
    gold: Tensor  # (n,) classes
    source: str  # what they are, in words
    kept_out: bool  # whether the final model was not trained on these instances either, and the predictions are its own

    def confusion(self, labels: Sequence[str]) -> dict[str, Any]:
        """Return how often each label was predicted for each gold label, by the first model."""
        gold = [labels[number] for number in self.gold.tolist()]
        predicted = [labels[number] for number in self.probabilities[0].argmax(dim=1).tolist()]
        found = score(gold, predicted, labels)
        matrix = [list(row) for row in found.confusion]
        return {"labels": list(labels), "confusion": matrix, "instances": len(gold), "source": self.source}


@dataclass(frozen=True)
class Calibration:
    """The content of `calibration.json`. The file may come from a stranger, so types and ranges are checked."""

    temperature: float
    source: str
    instances: int
    kept_out: bool
    error_before: float  # expected calibration error of the held-out predictions
    error_after: float  # the same at the temperature that the other parts of this data ask for
    confidences: tuple[float, ...]  # of each held-out prediction, calibrated
    correct: tuple[bool, ...]

    @classmethod
    def of(cls, held_out: HeldOut) -> Calibration | None:
        """Choose the temperature; None if there are too few instances.

        It stays 1 unless another lowers the log loss of instances that it was not chosen on.
        """
        import torch

        n_models, n, n_labels = held_out.probabilities.shape
        if n < _MIN_INSTANCES:
            return None
        # Predictions about one instance follow each other, and stay in one part of a cross-validation as the models of it.
        flat, gold = held_out.probabilities.reshape(n_models * n, n_labels), held_out.gold.repeat(n_models)
        crossed = torch.cat([cross_fit(each, held_out.gold) for each in held_out.probabilities])
        is_better = log_loss(crossed, gold) < log_loss(flat, gold)
        temperature = fit_temperature(flat, gold) if is_better else 1.0
        confidence, predicted = scale(held_out.probabilities[0], temperature).max(dim=1)
        before = calibration_error(flat, gold)
        return cls(
            temperature=temperature,
            source=held_out.source,
            instances=n,
            kept_out=held_out.kept_out,
            error_before=before,
            error_after=calibration_error(crossed, gold) if is_better else before,
            confidences=tuple(round(value, _DIGITS) for value in confidence.tolist()),
            correct=tuple((predicted == held_out.gold).tolist()),
        )

    def summary(self) -> dict[str, Any]:
        """Return the values for `metrics.json`: all but those of single instances."""
        return {name: value for name, value in asdict(self).items() if name not in ("confidences", "correct")}

    def threshold(self, risk: float) -> float:
        """Return the confidence to answer from so that at most a share `risk` of instances gets a wrong answer."""
        return threshold_for_risk(np.array(self.confidences), np.array(self.correct, dtype=bool), risk)

    def save(self, folder: Path) -> None:
        """Write `calibration.json`."""
        write_json(folder / FILE, {"schema": _SCHEMA, **asdict(self)})

    @classmethod
    def load(cls, folder: Path) -> Calibration | None:
        """Read `calibration.json`; None where there is none, as in runs of earlier versions."""
        parsers = parsers_of(cls, kept_out=truth, confidences=list_of(number), correct=list_of(truth))

        def parse(fields: dict[str, Any]) -> Calibration:
            found = cls(**parse_fields(fields, "", parsers))
            if not _LEAST <= found.temperature <= _MOST:
                raise InputError(f"`temperature` is {found.temperature}; expected {_LEAST} to {_MOST}")
            if not found.confidences or len(found.confidences) != len(found.correct):
                raise InputError("`confidences` and `correct` differ in length, or are empty")
            if not all(0 <= value <= 1 for value in found.confidences):
                raise InputError("`confidences` has a number that is not a probability")
            return found

        return read_schema(folder / FILE, _SCHEMA, parse)


def warn_of_few_kept_out(n_kept: int, n_all: int) -> None:
    """Warn if too few instances were kept out to calibrate on, and name a share that is enough."""
    from pssa.training import Team

    if n_kept >= _MIN_INSTANCES or not Team.from_environment().is_main:
        return
    share = math.ceil(120 * _MIN_INSTANCES / n_all) / 100  # a fifth more, since whole sentences are kept out
    more = setting(f"calibration_fraction={share}", option=f"--set calibration_fraction={share}")
    remedy = f"keep out more with {more}" if share < _LARGEST_SHARE else f"leave out {setting('calibrate', 'held_out')}"
    few = f"{n_kept} of {n_all} instances are kept out to calibrate on, and {_MIN_INSTANCES} are needed"
    warnings.warn(PssaWarning(f"{few}, so the probabilities will not be calibrated; {remedy}"), stacklevel=3)


def describe_calibration(found: dict[str, Any] | None) -> str:
    """Return in words how the probabilities of a run are calibrated, for its card and its report.

    :param found: the value of `calibration` in the run's metrics; None where there is none.
    """
    if not found:
        return "none: the probabilities are the model's own"
    errors = f"expected calibration error {100 * found['error_before']:.1f} %"
    if found["temperature"] == 1:
        return f"not needed: {errors} on {found['source']} ({found['instances']} instances)"
    after = f"{errors} before, {100 * found['error_after']:.1f} % after"
    return (
        f"temperature {found['temperature']:.2f}, chosen on {found['source']} ({found['instances']} instances): {after}"
    )


def choose_threshold(calibration: Calibration | None, abstain: float | None, risk: float | None) -> float:
    """Return the confidence to answer from: `abstain` itself, or the one that `risk` asks for; 0 without either.

    :raises InputError: if both are given, one is out of range, or there is nothing to derive a threshold from.
    """
    for name, value in (("abstain", abstain), ("abstain_risk", risk)):
        if value is not None and not (is_finite_number(value) and 0 < value < 1):
            raise InputError(f"{setting(name)} is {shorten(value)}; it must be greater than 0 and less than 1")
    if abstain is not None and risk is not None:
        raise InputError(
            f"{setting('abstain')} and {setting('abstain_risk')} both choose a threshold; give one of them"
        )
    if risk is None:
        return abstain or 0.0
    if calibration is None:
        advice = f"train with {setting('calibrate', 'held_out')}, or give a threshold with {setting('abstain')}"
        lack = f"the run has fewer than {_MIN_INSTANCES} held-out predictions, or none, to derive a threshold from"
        raise InputError(f"{lack}; {advice}")
    return calibration.threshold(risk)
