"""What one training learns from."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from pssa.data.batch import IndexedCorpus
from pssa.training.losses import Supervision
from pssa.training.parallel import Team

__all__ = ["Task"]


@dataclass(frozen=True)
class Task:
    """What one training learns from; `weights` and `supervision` are looked up by `Batch.index`."""

    train: IndexedCorpus
    seed: int
    stage: str  # names the training in its history and, with the seed, fixes its random numbers
    weights: Tensor | None = None  # (n,) how much each example counts
    supervision: Supervision | None = None
    dev: IndexedCorpus | None = None
    team: Team = field(default_factory=Team)  # the processes that share the work
    horizon: int = 0  # epochs over which a schedule falls, where these are more than are trained

    def to(self, device: torch.device) -> Task:
        """The same with everything on `device`."""
        weights = None if self.weights is None else self.weights.to(device)
        supervision = None if self.supervision is None else self.supervision.to(device)
        dev = None if self.dev is None else self.dev.to(device)
        return replace(self, train=self.train.to(device), dev=dev, weights=weights, supervision=supervision)
