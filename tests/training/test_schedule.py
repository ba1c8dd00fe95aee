"""The learning rate from the number of the step alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from tests.training.toys import supervise_last
from torch import nn

from pssa import models
from pssa.models import WordTable
from pssa.training import Settings, Task
from pssa.training.step import Step, rate_factor


def factors(steps: int, schedule: str, warmup: float) -> list[float]:
    return [rate_factor(step, steps, schedule, warmup) for step in range(1, steps + 1)]


@pytest.mark.parametrize(
    ("schedule", "warmup", "expected"),
    [
        ("constant", 0.0, [1, 1, 1, 1]),
        ("linear", 0.0, [1, 0.75, 0.5, 0.25]),  # and zero after the last step
        ("constant", 0.5, [0.25, 0.5, 0.75, 1, 1, 1, 1, 1]),  # the first step of a warm-up counts
        ("linear", 0.5, [0.25, 0.5, 0.75, 1, 1, 0.75, 0.5, 0.25]),
        ("linear", 0.25, [0.5, 1, 1, 2 / 3, 1 / 3]),  # part of a step is a step
        ("linear", 0.9, [0.5, 1]),  # too short for anything but warm-up
        ("linear", 0.1, [1]),
    ],
)
def test_rates_follow_from_the_number_of_the_step(schedule: str, warmup: float, expected: list[float]) -> None:
    assert factors(len(expected), schedule, warmup) == pytest.approx(expected)
    assert rate_factor(5, 4, "linear") == 0


@pytest.mark.parametrize(("steps", "warmup", "rising"), [(10, 0.0, 0), (10, 0.3, 3), (7, 0.25, 2)])
def test_transformers_has_the_same_rates_after_the_warm_up_of_one_more_step(
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


def step_with(optimizer: torch.optim.Optimizer, task: Task, settings: Settings) -> Step:
    model = models.build("memnet", WordTable(torch.zeros(4, 2), 4), 3, {}, seed=0)
    return Step(model, optimizer, task, settings)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (Settings(learning_rate=0.5), [7.0, 7.0]),  # not touched
        (Settings(learning_rate=0.5, schedule="linear"), [0.375, 18.75]),
        (Settings(learning_rate=0.5, warmup=0.75), pytest.approx([0.5 * 2 / 3, 50 / 3])),
    ],
)
def test_the_settings_rate_is_set_before_a_step_times_the_factor_of_each_group(
    task: Task, settings: Settings, expected: list[float]
) -> None:
    one, other = ([nn.Parameter(torch.zeros(1))] for _ in range(2))
    groups: list[dict[str, Any]] = [{"params": one}, {"params": other, "factor": 50.0}]
    optimizer = torch.optim.SGD(groups, lr=7.0)
    step_with(optimizer, task, settings).schedule(2, 4)
    assert [group["lr"] for group in optimizer.param_groups] == expected


def test_a_rate_that_is_a_tensor_stays_the_same_tensor(task: Task) -> None:
    rate = torch.tensor(0.001)
    adam = torch.optim.Adam([nn.Parameter(torch.zeros(1))], lr=rate, fused=True)
    step_with(adam, task, Settings(learning_rate=0.5, schedule="linear")).schedule(3, 4)
    assert adam.param_groups[0]["lr"] is rate
    assert float(rate) == 0.25


@pytest.mark.parametrize("settings", [Settings(), Settings(schedule="linear", warmup=0.5)])
def test_a_ramped_gamma_rises_in_equal_steps_and_then_stays(task: Task, settings: Settings) -> None:
    task = replace(task, supervision=replace(supervise_last(task.train, 8.0), rising=4))
    step = step_with(torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=7.0), task, settings)
    reached, held = [], step.gamma  # a recorded step holds on to the tensor
    for number in range(1, 7):
        step.schedule(number, 6)
        reached.append(float(held))
    assert reached == [2, 4, 6, 8, 8, 8]
    assert step.gamma is held
