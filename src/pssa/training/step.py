"""One step of a training: gradients of a batch, then the change they make. Nothing here makes the host wait for the device.

A batch may be shared by the processes of a team and computed in parts; every part counts by its share of the whole batch,
so that neither changes the step except for rounding. Dropout then draws its random numbers for other rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, cast

import torch
from torch import Tensor, nn

from pssa.models import Batch
from pssa.training.supervision import attention_penalty, cross_entropy
from pssa.training.task import Settings, Task


class Step:
    """Changes a model once per batch.

    `schedule` comes before each step. The two parts of a step can be called one by one: `accumulate` leaves gradients, `update`
    applies them.
    """

    def __init__(self, model: nn.Module, optimizer: torch.optim.Optimizer, task: Task, settings: Settings) -> None:
        self.model, self.optimizer, self.task, self.settings = model, optimizer, task, settings
        self.parameters = trainable(model)
        self.device = next(model.parameters()).device
        self._encode, self._classify = cast(
            "tuple[Callable[..., Any], Callable[..., Any]]", (model.encode, model.classify)
        )
        # A tensor: where gamma rises, `schedule` fills it before each step, and recorded steps read it again.
        self.gamma = torch.tensor(task.supervision.gamma if task.supervision else 0.0, device=self.device)

    def __call__(self, batch: Batch) -> Tensor:
        """Take a step; return (3,) sums of loss, penalty and right predictions over this process's rows, left on the device."""
        sums = self.accumulate(self.task.team.take(batch), len(batch.labels))
        self.update()
        return sums

    def accumulate(self, batch: Batch, size: int) -> Tensor:
        """Add gradients of the objective's mean over `size` rows, of which `batch` are some; return (3,) sums."""
        self.optimizer.zero_grad(set_to_none=True)
        shares = torch.zeros(3, device=self.device)
        for part in cut(batch, self.settings.accumulation):
            shares += self._backward(part, size)
        return shares * size

    def schedule(self, number: int, steps: int) -> None:
        """Set the rate of step `number` of `steps`, from 1, and gamma where it rises.

        A rate that is a tensor is filled, since recorded steps hold on to it.
        """
        settings, supervision = self.settings, self.task.supervision
        if supervision and supervision.rising:
            self.gamma.fill_(supervision.gamma * min(1.0, number / supervision.rising))
        if settings.schedule == "constant" and settings.warmup == 0:
            return
        rate = settings.learning_rate * rate_factor(number, steps, settings.schedule, settings.warmup)
        for group in self.optimizer.param_groups:
            own = rate * group.get("factor", 1.0)
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(own)
            else:
                group["lr"] = own

    def update(self) -> None:
        """Clip the gradients of the whole team and take the optimiser's step."""
        self.task.team.add_gradients(self.parameters)
        nn.utils.clip_grad_norm_(self.parameters, self.settings.clip_norm)
        self.optimizer.step()

    def _backward(self, part: Batch, size: int) -> Tensor:
        task, half = self.task, self.settings.precision == "bfloat16"
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=half):
            encoding = self._encode(part)
            on_gradient = task.supervision is not None and task.supervision.on == "gradient"
            if on_gradient and not encoding.words.requires_grad:
                encoding.words.requires_grad_()  # where word vectors are fixed, gradients still say what counts
            prediction = self._classify(encoding, part)
        loss = cross_entropy(prediction, part, task.weights).sum() / size
        penalty = loss.new_zeros(())
        if task.supervision is not None:
            penalty = attention_penalty(prediction, part, task.supervision, encoding.words).sum() / size
        (loss + self.gamma * penalty).backward()  # type: ignore[no-untyped-call]
        correct = _correct(prediction.logits, part.labels).sum() / size
        return torch.stack([loss.detach(), penalty.detach(), correct])


def _correct(logits: Tensor, labels: Tensor) -> Tensor:
    """(B,) whether each example is right or, for a tagger, the share of its words that are."""
    right = (logits.argmax(dim=1) == labels).float()
    return right if right.dim() == 1 else right.sum(dim=1) / (labels >= 0).sum(dim=1).clamp(min=1)


def cut(batch: Batch, parts: int) -> Iterator[Batch]:
    """Yield the batch in `parts` parts of similar size; fewer where it has fewer rows."""
    n_rows = len(batch.labels)
    ends = [n_rows * part // parts for part in range(parts + 1)]
    for start, end in pairwise(ends):
        if start < end:
            yield batch.take(slice(start, end))


def trainable(model: nn.Module) -> list[nn.Parameter]:
    """Return the parameters that training changes."""
    # An embedding that is not trained has zero rows of parameters, which the optimiser skips.
    return [parameter for parameter in model.parameters() if parameter.requires_grad and parameter.numel()]


def new_optimizer(model: nn.Module, settings: Settings, recorded: bool = False) -> torch.optim.Optimizer:
    """Return a fresh Adam; where its steps are recorded, each rate is a tensor that a replay reads again."""
    groups = _parameter_groups(model, settings)
    if recorded:
        for group in groups:
            group["lr"] = torch.tensor(group["lr"], device=group["params"][0].device)
    return torch.optim.Adam(groups, fused=True, capturable=recorded)


def _parameter_groups(model: nn.Module, settings: Settings) -> list[dict[str, Any]]:
    """Return the parameters with their rates: all alike, or the layers on top of an encoder with a rate of their own.

    `factor` is what the rate of the schedule is multiplied by.
    """
    rate, head_rate = settings.learning_rate, settings.head_learning_rate
    encoder = getattr(model, "encoder", None)
    if head_rate is None or encoder is None:
        return [{"params": trainable(model), "lr": rate, "factor": 1.0}]
    body = trainable(encoder)
    known = {id(parameter) for parameter in body}
    head = [parameter for parameter in trainable(model) if id(parameter) not in known]
    return [
        {"params": body, "lr": rate, "factor": 1.0},
        {"params": head, "lr": head_rate, "factor": head_rate / rate},
    ]


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
