"""A training's state between two epochs, and where it is kept.

Random numbers need no place in it: those of an epoch follow from the seed, the stage and the epoch (`epoch_seed`).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn

from pssa.training.history import EpochRecord

__all__ = ["Checkpoint", "CheckpointStore", "NullStore", "epoch_seed", "restore", "take"]

_MODEL, _OPTIMIZER = "model.", "optimizer."


@dataclass(frozen=True)
class Checkpoint:
    """Parameters, optimiser state and the history that led there."""

    tensors: dict[str, Tensor]
    history: tuple[EpochRecord, ...]


class CheckpointStore(Protocol):
    """Where the newest checkpoint of one training lives."""

    def load(self) -> Checkpoint | None:
        """The newest checkpoint, if there is one."""
        ...

    def save(self, checkpoint: Checkpoint) -> None:
        """Replace the newest checkpoint."""
        ...


class NullStore:
    """A store that keeps nothing, for trainings that need not survive."""

    def load(self) -> None:
        """Nothing."""

    def save(self, checkpoint: Checkpoint) -> None:
        """Ignore."""


def take(model: nn.Module, optimizer: torch.optim.Optimizer | None, history: list[EpochRecord]) -> Checkpoint:
    """The state after the last epoch of `history`; a training that is over needs no optimiser, two thirds of it."""
    tensors = {_MODEL + name: parameter.detach() for name, parameter in model.named_parameters()}
    for number, state in optimizer.state_dict()["state"].items() if optimizer else ():
        tensors |= {f"{_OPTIMIZER}{number}.{key}": value for key, value in state.items()}
    return Checkpoint(tensors, tuple(history))


def restore(checkpoint: Checkpoint, model: nn.Module, optimizer: torch.optim.Optimizer) -> list[EpochRecord]:
    """Put model and optimiser back where they were; returns the history until then."""
    load_parameters(checkpoint, model)
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in checkpoint.tensors.items():
        if name.startswith(_OPTIMIZER):
            number, key = name.removeprefix(_OPTIMIZER).split(".", 1)
            state.setdefault(int(number), {})[key] = tensor
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
    return list(checkpoint.history)


def load_parameters(checkpoint: Checkpoint, model: nn.Module) -> None:
    """Copy the checkpoint's parameters into `model`; buffers stay as they were built."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(checkpoint.tensors[_MODEL + name])


def epoch_seed(seed: int, stage: str, epoch: int) -> int:
    """The seed of everything random in one epoch of one stage."""
    digest = hashlib.sha256(f"{seed}/{stage}/{epoch}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1
