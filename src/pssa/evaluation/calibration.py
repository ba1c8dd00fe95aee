"""Calibrated probabilities, and when a classifier should not answer.

- Temperature scaling (Guo et al. 2017): p_T = softmax(log p / T), with the T that minimises the log loss. The order of the labels
  stays as it is, so no prediction changes.
- Expected calibration error: mean difference of confidence, the probability of the predicted label, and accuracy, over bins of
  equal width.
- Risk and coverage (El-Yaniv and Wiener 2010): errors among the answers, and the share of instances that get one, if only the
  most confident ones do.
- Conformal risk control (Angelopoulos et al. 2024): the lowest threshold of confidence at which at most a share `risk` of all
  instances gets a wrong answer, in expectation over exchangeable data that the model was not trained on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pssa.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor

Floats = npt.NDArray[np.float64]

_LEAST, _MOST = 0.2, 20.0  # temperatures; a barely trained model would ask for any
_STEPS = 60  # of bisection: more than a float can tell apart
_TINY = 1e-12  # a probability of zero has no logarithm
_BINS = 15
_FOLDS = 5


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """What happens if answers below a confidence are withheld."""

    threshold: float
    coverage: float  # share of instances that get an answer
    risk: float  # share of errors among these answers; 0 where there are none


def scale(probabilities: Tensor, temperature: float) -> Tensor:
    """Return `probabilities` (n, C) at this temperature, in double precision, in which no two labels become equal."""
    logits: Tensor = probabilities.double().clamp(min=_TINY).log() / temperature
    return logits.softmax(dim=1)


def fit_temperature(probabilities: Tensor, gold: Tensor) -> float:
    """Return the temperature that minimises the log loss of `probabilities` (n, C) against classes `gold` (n,).

    The loss is convex in 1 / T, so its derivative has one zero, which bisection finds.
    """
    logits = probabilities.double().clamp(min=_TINY).log()
    own = logits.gather(1, gold[:, None]).mean()

    def slope(inverse: float) -> float:
        expected = ((logits * inverse).softmax(dim=1) * logits).sum(dim=1).mean()
        return float(expected - own)

    low, high = 1 / _MOST, 1 / _LEAST
    for _ in range(_STEPS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return 1 / math.sqrt(low * high)


def cross_fit(probabilities: Tensor, gold: Tensor) -> Tensor:
    """Return (n, C) probabilities, each part of them at the temperature that the other parts ask for."""
    found = probabilities.double()
    rows = gold.new_ones(len(gold)).cumsum(0) - 1
    for fold in range(_FOLDS):
        part = rows % _FOLDS == fold
        if part.any() and not part.all():
            temperature = fit_temperature(probabilities[~part], gold[~part])
            found[part] = scale(probabilities[part], temperature)
    return found


def log_loss(probabilities: Tensor, gold: Tensor) -> float:
    """Return the mean negative logarithm of the gold label's probability."""
    return float(-probabilities.double().gather(1, gold[:, None]).clamp(min=_TINY).log().mean())


def calibration_error(probabilities: Tensor, gold: Tensor) -> float:
    """Return the expected calibration error of the predicted label, over 15 bins of equal width."""
    confidence, predicted = probabilities.double().max(dim=1)
    return confidence_error(confidence.numpy(), (predicted == gold).numpy())


def confidence_error(confidence: Floats, correct: npt.NDArray[np.bool_]) -> float:
    """Return the expected calibration error of confidences (n,), given whether each prediction is right (n,)."""
    places = np.minimum((confidence * _BINS).astype(int), _BINS - 1)
    gaps = np.bincount(places, confidence - correct, minlength=_BINS)
    return float(np.abs(gaps).sum() / max(len(confidence), 1))


def risk_coverage(confidence: Floats, correct: npt.NDArray[np.bool_]) -> list[CurvePoint]:
    """Return the curve for every threshold that makes a difference, from all answers to the most confident ones alone."""
    thresholds = np.unique(confidence)
    order = np.argsort(confidence, kind="stable")
    wrong_from = np.append(np.cumsum((~correct[order])[::-1])[::-1], 0)  # among the answers from each place on
    places = np.searchsorted(confidence[order], thresholds)
    n = len(confidence)
    return [
        CurvePoint(float(threshold), (n - place) / n, float(wrong_from[place]) / (n - place))
        for threshold, place in zip(thresholds.tolist(), places.tolist(), strict=True)
    ]


def threshold_for_risk(confidence: Floats, correct: npt.NDArray[np.bool_], risk: float) -> float:
    """Return the lowest confidence to answer from so that at most a share `risk` of instances gets a wrong answer.

    Conformal risk control: the errors among n held-out instances, plus one, are at most `risk` times n + 1. Infinity if there are
    too few instances for that: nothing is answered then.
    """
    if not 0 < risk < 1:
        raise InputError(f"the risk is {risk}; it is a share of wrong answers, greater than 0 and less than 1")
    allowed = math.floor(risk * (len(confidence) + 1) + 1e-9) - 1
    if allowed < 0:
        return math.inf
    wrong = np.sort(confidence[~correct])[::-1]
    if len(wrong) <= allowed:
        return 0.0
    # Just above the most confident error that is too many.
    return float(np.nextafter(wrong[allowed], np.inf))
