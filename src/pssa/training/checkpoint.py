"""The state of a training between two epochs: its history, its checkpoint, and the store that keeps it.

A checkpoint holds no random state: the random numbers of an epoch follow from the seed, the stage and the epoch (`epoch_seed`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from statistics import fmean
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from pssa.models import TrainedRows


@dataclass(frozen=True)
class EpochRecord:
    """One epoch of one stage."""

    stage: str
    epoch: int  # from 1
    loss: float  # cross-entropy, mean over instances
    penalty: float  # attention penalty before gamma, mean over instances; 0 without supervision
    accuracy: float  # of the predictions made while training, dropout on
    dev_accuracy: float | None = None
    dev_macro_f1: float | None = None  # of a tagger: F1 of exact spans
    dev_logits: Tensor | None = field(default=None, compare=False, repr=False)  # (n, C) of development data

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON; checkpoints keep the logits beside them."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.name != "dev_logits"}


def best_epoch(history: Sequence[EpochRecord], window: int = 1) -> int:
    """Return the epoch with the highest development macro-F1, averaged over `window` epochs around it; the earliest of equals.

    Development data is small, so the best single epoch is as much luck as merit.
    """
    means = _smoothed(history, window)
    return history[means.index(max(means))].epoch


def certain_epochs(history: Sequence[EpochRecord], window: int = 1) -> int:
    """Return the number of epochs that `best_epoch` is sure to reach, whatever scores are still to come.

    Later epochs change the mean of an epoch only while its window is cut off at the end. Among the others the first maximum
    stays where it is, so that the best epoch is that one or a later one.
    """
    means = _smoothed(history, window)
    settled = [mean for place, mean in enumerate(means) if len(means) - 1 - place >= min(window // 2, place)]
    return history[settled.index(max(settled))].epoch if settled else 0


def _smoothed(history: Sequence[EpochRecord], window: int) -> list[float]:
    scores = [record.dev_macro_f1 or 0.0 for record in history]
    means = []
    for place in range(len(scores)):
        # The window shrinks on both sides towards the ends, or a score that still rises would be held back.
        reach = min(window // 2, place, len(scores) - 1 - place)
        means.append(fmean(scores[place - reach : place + reach + 1]))
    return means


_MODEL, _OPTIMIZER, _DEV = "model.", "optimizer.", "dev."


@dataclass(frozen=True)
class Checkpoint:
    """Parameters, optimiser state and the history that led there."""

    tensors: dict[str, Tensor]
    history: tuple[EpochRecord, ...]


class CheckpointStore(Protocol):
    """Storage of the newest checkpoint of one training."""

    def load(self) -> Checkpoint | None:
        """Return the newest checkpoint, if there is one."""

    def save(self, checkpoint: Checkpoint) -> None:
        """Replace the newest checkpoint."""


def take(model: nn.Module, optimizer: torch.optim.Optimizer | None, history: list[EpochRecord]) -> Checkpoint:
    """Return the state after the last epoch of `history`; a finished training needs no optimiser, two thirds of the size."""
    tables = _tables(model)
    tensors = {
        _MODEL + name: tables[name].whole if name in tables else parameter.detach()
        for name, parameter in model.named_parameters()
    }
    tensors |= {f"{_DEV}{one.epoch}": one.dev_logits for one in history if one.dev_logits is not None}
    for number, state in optimizer.state_dict()["state"].items() if optimizer else ():
        tensors |= {f"{_OPTIMIZER}{number}.{key}": value for key, value in state.items()}
    return Checkpoint(tensors, tuple(history))


def restore(checkpoint: Checkpoint, model: nn.Module, optimizer: torch.optim.Optimizer) -> list[EpochRecord]:
    """Restore model and optimiser, and return the history so far."""
    load_parameters(checkpoint, model)
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in checkpoint.tensors.items():
        if name.startswith(_OPTIMIZER):
            number, key = name.removeprefix(_OPTIMIZER).split(".", 1)
            state.setdefault(int(number), {})[key] = tensor
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
    # Checkpoints of earlier versions have no logits.
    return [
        replace(record, dev_logits=checkpoint.tensors.get(f"{_DEV}{record.epoch}")) for record in checkpoint.history
    ]


def load_parameters(checkpoint: Checkpoint, model: nn.Module) -> None:
    """Copy the checkpoint's parameters into `model`; buffers stay as they were built."""
    tables = _tables(model)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            value = checkpoint.tensors[_MODEL + name]
            parameter.copy_(value[tables[name].ids] if name in tables else value)


def _tables(model: nn.Module) -> dict[str, TrainedRows]:
    """Return the tables some of whose rows are trained, by the name of their parameter: checkpoints hold all rows."""
    return {f"{name}.weight": part for name, part in model.named_modules() if isinstance(part, TrainedRows)}


def epoch_seed(seed: int, stage: str, epoch: int) -> int:
    """Return the seed of everything random in one epoch of one stage."""
    digest = hashlib.sha256(f"{seed}/{stage}/{epoch}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1
