"""Bootstrap intervals: cases with known answers, and a plain loop as the judge."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pssa.errors import InputError
from pssa.evaluation.intervals import Estimate, estimate, judge


def test_an_interval_is_that_of_a_plain_loop() -> None:
    values = np.random.default_rng(1).normal(size=(30, 2))
    generator = np.random.default_rng(7)
    means = [values[generator.integers(30, size=30)].mean(axis=0) for _ in range(1000)]
    for column, found in enumerate(estimate(values, seed=7)):
        low, high = np.quantile([mean[column] for mean in means], (0.025, 0.975))
        assert (found.mean, found.low, found.high) == pytest.approx((values[:, column].mean(), low, high))


def test_the_interval_of_a_mean_is_about_two_standard_errors_to_each_side() -> None:
    values = np.random.default_rng(0).normal(5, 2, size=(400, 1))
    [found] = estimate(values)
    error = values.std() / 20
    assert found.low == pytest.approx(found.mean - 1.96 * error, abs=0.2 * error)
    assert found.high == pytest.approx(found.mean + 1.96 * error, abs=0.2 * error)


def test_one_instance_has_an_interval_of_no_width() -> None:
    assert estimate(np.array([[0.25]])) == [Estimate(0.25, 0.25, 0.25)]


def test_a_difference_is_paired() -> None:
    # Both scatter widely, but the first is always greater by one half.
    controls = np.random.default_rng(0).normal(0, 10, size=(50, 1))
    [found] = judge(controls + 0.5, controls)
    difference = found.difference
    assert (difference.mean, difference.low, difference.high) == pytest.approx((0.5, 0.5, 0.5))
    assert found.value.high - found.value.low > 1


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-1, 1), min_size=1, max_size=20), st.integers(0, 5))
def test_nothing_differs_from_itself(drawn: list[float], seed: int) -> None:
    values = np.array(drawn)[:, None]
    [found] = judge(values, values, seed)
    assert found.difference == Estimate(0, 0, 0)
    assert found.value == found.control


def test_the_seed_repeats_the_result() -> None:
    values = np.random.default_rng(0).random((20, 1))
    assert estimate(values, 3) == estimate(values, 3) != estimate(values, 4)


def test_no_instance_and_a_negative_seed_are_refused() -> None:
    with pytest.raises(InputError, match="no instance"):
        estimate(np.empty((0, 2)))
    with pytest.raises(InputError, match="the seed is -1"):
        estimate(np.ones((2, 1)), -1)
