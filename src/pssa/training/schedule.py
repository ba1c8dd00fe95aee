"""Learning rate and gamma over a training, by the number of the step alone, so that a resumed training needs no record.

The rate is that of `get_linear_schedule_with_warmup` of transformers, except for the warm-up: there, step s of w has s - 1 of w
parts of the rate, and the first step of a training changes nothing. Here it has s of w parts; from step w + 1 on the two are
the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from pssa.training.supervision import Supervision
from pssa.training.task import Settings


def rate_factor(step: int, steps: int, schedule: str = "constant", warmup: float = 0.0) -> float:
    """Return the factor of the rate in step `step` of `steps`, from 1.

    :param warmup: share of the steps over which the factor rises to one; a part of a step counts as a step.
    """
    rising = math.ceil(steps * warmup)
    if step <= rising:
        return step / rising
    if schedule == "constant":
        return 1.0
    return max(0, steps + 1 - step) / (steps - rising)


def set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Set the rate of the optimiser's next step, times the `factor` of each group of parameters.

    A rate that is a tensor is filled, since recorded steps hold on to it.
    """
    for group in optimizer.param_groups:
        own = rate * group.get("factor", 1.0)
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(own)
        else:
            group["lr"] = own


@dataclass(frozen=True)
class Schedule:
    """Sets the rate before each step of a training, and gamma where it rises."""

    optimizer: torch.optim.Optimizer
    settings: Settings
    steps: int  # of the whole training
    supervision: Supervision | None = None
    gamma: Tensor | None = None  # () filled before each step where gamma rises, since recorded steps hold on to it

    def __call__(self, step: int) -> None:
        """Set the rate for step `step`, from 1, and gamma: `step` of `rising` parts."""
        if self.supervision and self.supervision.rising and self.gamma is not None:
            self.gamma.fill_(self.supervision.gamma * min(1.0, step / self.supervision.rising))
        schedule, warmup = self.settings.schedule, self.settings.warmup
        if schedule == "constant" and warmup == 0:
            return
        set_rate(self.optimizer, self.settings.learning_rate * rate_factor(step, self.steps, schedule, warmup))
