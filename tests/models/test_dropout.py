"""Dropout with a byte of randomness for each value."""

from __future__ import annotations

import math

import pytest
import torch

from pssa.models._dropout import dropout

N = 1 << 18
RATES = [(0.1, 26), (0.3, 77), (0.5, 128), (0.9, 230)]  # and how many of the 256 values of a byte drop


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


@pytest.mark.parametrize(("rate", "dropping"), RATES)
def test_the_share_that_is_dropped_is_the_rate_to_the_nearest_byte(rate: float, dropping: int) -> None:
    share = float((dropout(torch.ones(N), rate, training=True) == 0).float().mean())
    exact = dropping / 256
    assert abs(exact - rate) <= 1 / 512
    assert abs(share - exact) < 5 * math.sqrt(exact * (1 - exact) / N)


@pytest.mark.parametrize(("rate", "dropping"), RATES)
def test_what_is_kept_is_scaled_by_the_exact_share_so_that_the_mean_stays(rate: float, dropping: int) -> None:
    values = torch.full((N,), 3.0)
    out = dropout(values, rate, training=True)
    scale = 256 / (256 - dropping)
    assert sorted(set(out.tolist())) == pytest.approx([0.0, 3.0 * scale])
    deviation = 3.0 * math.sqrt((scale - 1) / N)  # of the mean of N values that are 3 * scale with probability 1/scale
    assert abs(float(out.mean()) - 3.0) < 5 * deviation


def test_no_value_of_a_draw_depends_on_its_neighbours() -> None:
    kept = (dropout(torch.ones(N), 0.5, training=True) > 0).float() - 0.5
    for distance in range(1, 9):  # eight values share one random number
        correlation = float((kept[:-distance] * kept[distance:]).mean()) * 4
        assert abs(correlation) < 5 / math.sqrt(N)


def test_nothing_happens_outside_training_or_at_rate_zero() -> None:
    values = torch.randn(5, 3)
    state = torch.get_rng_state()
    assert dropout(values, 0.5, training=False) is values
    assert dropout(values, 0.0, training=True) is values
    assert torch.equal(torch.get_rng_state(), state)


def test_the_same_seed_drops_the_same_values_and_the_next_call_others() -> None:
    values = torch.arange(1.0, 3001.0).view(100, 30)
    first, second = dropout(values, 0.3, training=True), dropout(values, 0.3, training=True)
    torch.manual_seed(0)
    assert torch.equal(dropout(values, 0.3, training=True), first)
    assert not torch.equal(first, second)


@pytest.mark.parametrize("shape", [(), (1,), (7,), (8,), (3, 5, 2), (0, 4)])
def test_any_shape_is_kept(shape: tuple[int, ...]) -> None:
    out = dropout(torch.ones(shape), 0.5, training=True)
    assert out.shape == shape
    assert set(out.flatten().tolist()) <= {0.0, 2.0}


def test_the_gradient_is_zero_where_a_value_was_dropped_and_scaled_elsewhere() -> None:
    values = torch.ones(1000, requires_grad=True)
    out = dropout(values, 0.5, training=True)
    out.sum().backward()  # type: ignore[no-untyped-call]
    assert values.grad is not None
    assert torch.equal(values.grad, out.detach())


def test_some_values_live_at_any_rate_below_one() -> None:
    out = dropout(torch.ones(N), 0.9999, training=True)
    assert set(out.tolist()) == {0.0, 256.0}
