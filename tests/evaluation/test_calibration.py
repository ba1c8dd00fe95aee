"""Temperatures, calibration errors, risk and coverage; scikit-learn and MAPIE are the oracles."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from pssa.errors import InputError
from pssa.evaluation.calibration import (
    CurvePoint,
    calibration_error,
    cross_fit,
    fit_temperature,
    log_loss,
    risk_coverage,
    scale,
    threshold_for_risk,
)


def overconfident(n: int = 400, temperature: float = 2.5) -> tuple[Tensor, Tensor]:
    """Probabilities whose logits are too large by a factor, and classes drawn from the right ones."""
    generator = torch.Generator().manual_seed(3)
    logits = 1.5 * torch.randn(n, 3, generator=generator)
    gold = torch.multinomial(logits.softmax(dim=1), 1, generator=generator).squeeze(1)
    return (temperature * logits).softmax(dim=1), gold


def test_the_temperature_is_the_one_that_spoiled_the_probabilities() -> None:
    probabilities, gold = overconfident(20_000)
    assert fit_temperature(probabilities, gold) == pytest.approx(2.5, rel=0.05)


def test_the_temperature_is_that_of_scikit_learn() -> None:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.frozen import FrozenEstimator

    class Given(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
        """Predicts what its input holds."""

        def fit(self, rows: object, gold: object) -> Given:
            self.classes_ = np.arange(3)
            return self

        def predict(self, rows: np.ndarray) -> object:
            return rows.argmax(axis=1)

        def predict_proba(self, rows: object) -> object:
            return rows

    probabilities, gold = overconfident()
    given = FrozenEstimator(Given().fit(None, None))
    theirs = CalibratedClassifierCV(given, method="temperature").fit(probabilities.numpy(), gold.numpy())
    ours = scale(probabilities, fit_temperature(probabilities, gold))
    np.testing.assert_allclose(ours.numpy(), theirs.predict_proba(probabilities.numpy()), atol=1e-3)


@pytest.mark.parametrize("temperature", [0.2, 0.7, 1.3, 20.0])
def test_no_temperature_changes_which_label_wins(temperature: float) -> None:
    generator = torch.Generator().manual_seed(0)
    close = torch.rand(2000, 3, generator=generator) * 1e-6 + 1 / 3
    for probabilities in (close, torch.randn(2000, 3, generator=generator).mul(20).softmax(dim=1), torch.eye(3)):
        scaled = scale(probabilities, temperature)
        assert torch.equal(scaled.argmax(dim=1), probabilities.argmax(dim=1))
        assert torch.allclose(scaled.sum(dim=1), torch.ones(len(scaled), dtype=torch.double))


def test_the_calibration_error_is_that_of_mapie() -> None:
    from mapie.metrics.calibration import expected_calibration_error

    probabilities, gold = overconfident()
    correct = (probabilities.argmax(dim=1) == gold).int().numpy()
    # It counts the edges of bins.
    theirs = expected_calibration_error(correct, probabilities.numpy(), num_bins=16, split_strategy="uniform")
    assert calibration_error(probabilities, gold) == pytest.approx(theirs, abs=1e-6)


def test_calibration_lowers_the_error_of_data_that_it_was_not_chosen_on() -> None:
    probabilities, gold = overconfident()
    crossed = cross_fit(probabilities, gold)
    assert log_loss(crossed, gold) < log_loss(probabilities, gold)
    assert calibration_error(crossed, gold) < calibration_error(probabilities, gold) / 2


def test_risk_and_coverage_follow_from_the_order_of_confidences() -> None:
    points = risk_coverage(np.array([0.9, 0.5, 0.7, 0.5]), np.array([True, False, True, True]))
    assert points == [CurvePoint(0.5, 1.0, 0.25), CurvePoint(0.7, 0.5, 0.0), CurvePoint(0.9, 0.25, 0.0)]


@pytest.mark.parametrize("risk", [0.052, 0.101, 0.202])
def test_the_threshold_is_that_of_conformal_risk_control_in_mapie(risk: float) -> None:
    from mapie.risk_control.methods import find_best_predict_param, get_r_hat_plus

    probabilities, gold = overconfident(300)
    confidence, predicted = probabilities.double().max(dim=1)
    correct = (predicted == gold).numpy()
    thresholds = np.linspace(0, 1.01, 20_000)
    losses = ((confidence.numpy()[:, None] >= thresholds) & ~correct[:, None]).astype(float)
    _, bound = get_r_hat_plus(losses, thresholds, "crc", None, None, None)
    theirs = float(find_best_predict_param(thresholds, bound, np.array([risk]))[0])
    assert threshold_for_risk(confidence.numpy(), correct, risk) == pytest.approx(theirs, abs=1e-4)


def test_wrong_answers_stay_below_the_risk_on_average() -> None:
    generator, risk = np.random.default_rng(0), 0.1
    wrong = []
    for _ in range(300):
        confidence = generator.uniform(size=61)
        correct = generator.uniform(size=61) < confidence
        threshold = threshold_for_risk(confidence[:60], correct[:60], risk)
        wrong.append(confidence[60] >= threshold and not correct[60])
    assert 0.04 < np.mean(wrong) < 0.14


def test_too_few_instances_answer_nothing_and_a_risk_is_a_share() -> None:
    confidence, correct = np.array([0.9, 0.8]), np.array([True, True])
    assert threshold_for_risk(confidence, correct, 0.1) == math.inf
    assert threshold_for_risk(confidence, correct, 0.5) == 0.0
    with pytest.raises(InputError, match="greater than 0 and less than 1"):
        threshold_for_risk(confidence, correct, 1.5)
