"""The learning rate from the number of the step alone."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from pssa.training import Settings, Supervision
from pssa.training.step import Schedule, rate_factor, set_rate


def factors(steps: int, schedule: str, warmup: float) -> list[float]:
    return [rate_factor(step, steps, schedule, warmup) for step in range(1, steps + 1)]


def test_a_constant_rate_is_one_throughout() -> None:
    assert factors(4, "constant", 0.0) == [1, 1, 1, 1]


def test_a_linear_rate_begins_in_full_and_would_be_zero_after_the_last_step() -> None:
    assert factors(4, "linear", 0.0) == [1, 0.75, 0.5, 0.25]
    assert rate_factor(5, 4, "linear") == 0


def test_a_warm_up_rises_from_a_first_step_that_already_counts() -> None:
    assert factors(8, "constant", 0.5) == [0.25, 0.5, 0.75, 1, 1, 1, 1, 1]
    assert factors(8, "linear", 0.5) == [0.25, 0.5, 0.75, 1, 1, 0.75, 0.5, 0.25]


def test_a_warm_up_of_part_of_a_step_takes_that_step() -> None:
    assert factors(5, "linear", 0.25) == [0.5, 1, 1, pytest.approx(2 / 3), pytest.approx(1 / 3)]


def test_a_training_can_be_too_short_for_anything_but_warm_up() -> None:
    assert factors(2, "linear", 0.9) == [0.5, 1]
    assert factors(1, "linear", 0.1) == [1]


@pytest.mark.parametrize(("steps", "warmup", "rising"), [(10, 0.0, 0), (10, 0.3, 3), (7, 0.25, 2)])
def test_after_the_warm_up_transformers_has_the_same_rates_and_before_it_those_of_a_step_earlier(
    steps: int, warmup: float, rising: int
) -> None:
    transformers = pytest.importorskip("transformers")
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=1.0)
    scheduler = transformers.get_linear_schedule_with_warmup(optimizer, rising, steps)
    theirs = []
    for _ in range(steps):
        theirs.append(scheduler.get_last_lr()[0])
        optimizer.step()
        scheduler.step()
    ours = factors(steps, "linear", warmup)
    assert ours[rising:] == pytest.approx(theirs[rising:])
    assert ours[:rising] == pytest.approx(theirs[1 : rising + 1])


def test_a_rate_that_is_a_number_is_replaced() -> None:
    optimizer = torch.optim.SGD(
        [{"params": [nn.Parameter(torch.zeros(1))]}, {"params": [nn.Parameter(torch.zeros(1))]}]
    )
    set_rate(optimizer, 0.25)
    assert [group["lr"] for group in optimizer.param_groups] == [0.25, 0.25]


def test_a_group_of_parameters_has_its_own_factor_of_the_rate() -> None:
    one, other = ([nn.Parameter(torch.zeros(1))] for _ in range(2))
    groups: list[dict[str, Any]] = [{"params": one}, {"params": other, "factor": 50.0}]
    optimizer = torch.optim.SGD(groups)
    set_rate(optimizer, 0.25)
    assert [group["lr"] for group in optimizer.param_groups] == [0.25, 12.5]


def test_a_rate_that_is_a_tensor_stays_the_same_tensor() -> None:
    rate = torch.tensor(0.001)
    optimizer = torch.optim.Adam([nn.Parameter(torch.zeros(1))], lr=rate, fused=True)
    set_rate(optimizer, 0.25)
    assert optimizer.param_groups[0]["lr"] is rate
    assert float(rate) == 0.25


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (Settings(learning_rate=0.5), 7.0),  # not touched
        (Settings(learning_rate=0.5, schedule="linear"), 0.375),
        (Settings(learning_rate=0.5, warmup=0.75), pytest.approx(0.5 * 2 / 3)),
    ],
)
def test_a_pace_sets_the_settings_rate_before_a_step(settings: Settings, expected: float) -> None:
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=7.0)
    Schedule(optimizer, settings, steps=4)(2)
    assert optimizer.param_groups[0]["lr"] == expected


RAMPED = Supervision(torch.zeros(1, 1), torch.ones(1, 1, dtype=torch.bool), gamma=8.0, rising=4)


@pytest.mark.parametrize("settings", [Settings(), Settings(schedule="linear", warmup=0.5)])
def test_a_ramped_gamma_rises_in_equal_steps_and_then_stays(settings: Settings) -> None:
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=7.0)
    gamma = torch.zeros(())
    schedule = Schedule(optimizer, settings, 6, RAMPED, gamma)
    reached = []
    for step in range(1, 7):
        schedule(step)
        reached.append(float(gamma))
    assert reached == [2, 4, 6, 8, 8, 8]


def test_a_resumed_training_finds_its_gamma_from_the_step_alone() -> None:
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=7.0)
    gamma = torch.zeros(())
    Schedule(optimizer, Settings(), 6, RAMPED, gamma)(3)
    assert float(gamma) == 6
