"""The data of one training (`Task`), and how it is carried out (`Settings`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor, nn

from pssa.errors import InputError
from pssa.models import BUCKET_BATCHES, IndexedCorpus
from pssa.training.contrast import Contrast
from pssa.training.parallel import Team
from pssa.training.supervision import Supervision

_POSITIVE = (
    "learning_rate",
    "head_learning_rate",
    "batch_size",
    "bucket_batches",
    "clip_norm",
    "max_epochs",
    "patience",
    "smoothing",
    "accumulation",
    "pad_multiple",
)
_CHOICES = {
    "class_weights": ("none", "balanced"),
    "schedule": ("constant", "linear"),
    "precision": ("float32", "bfloat16"),
}


@dataclass(frozen=True)
class Settings:
    """Optimiser, stopping rule, and how a step is computed."""

    learning_rate: float = 0.001
    head_learning_rate: float | None = None  # of the layers on top of an encoder; None: the same
    batch_size: int = 64
    clip_norm: float = 5.0
    max_epochs: int = 40  # of a search; a training of known length runs that long
    patience: int = 8  # epochs without a better development score before a search stops
    smoothing: int = 5  # epochs over which development scores are averaged before the best is chosen
    class_weights: str = "none"  # or "balanced": every class counts the same in the loss
    schedule: str = "constant"  # or "linear": the rate falls to zero over the steps after the warm-up
    warmup: float = 0.0  # share of the steps over which the rate rises from zero
    accumulation: int = 1  # parts that a batch is computed in, one after the other; the step is the same
    precision: str = "float32"  # or "bfloat16": of what a model computes; its parameters stay float32
    graphs: bool = False  # on a GPU, record a step once for each width of batches and replay it
    bucket_batches: int = BUCKET_BATCHES  # batches whose rows are sorted by length together; 1: rows are shuffled alone
    share_sentences: bool = False  # train only those rows of an encoder's table that occur in the training data
    pad_multiple: int = 1  # widths of batches are rounded up to a multiple of this, so that there are fewer of them

    def __post_init__(self) -> None:
        for name in _POSITIVE:
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise InputError(f"{name} is {value}; it must be greater than 0")
        for name, known in _CHOICES.items():
            if getattr(self, name) not in known:
                raise InputError(f"{name} is {getattr(self, name)!r}; it can be {' or '.join(known)}")
        if not 0 <= self.warmup < 1:
            raise InputError(f"warmup is {self.warmup}; it is a share of the steps, at least 0 and below 1")


@dataclass(frozen=True)
class Task:
    """The data of one training; `weights` and `supervision` are looked up by `Batch.index`."""

    train: IndexedCorpus
    seed: int
    stage: str  # names the training in its history and, with the seed, fixes its random numbers
    weights: Tensor | None = None  # (n,) how much each example counts
    supervision: Supervision | None = None
    dev: IndexedCorpus | None = None
    team: Team = field(default_factory=Team)  # the processes that share the work
    score: Callable[[nn.Module, IndexedCorpus], tuple[float, float]] | None = None  # accuracy and F1; None: of classes
    horizon: int = 0  # epochs over which a schedule falls, where these are more than are trained
    contrast: Contrast | None = None  # draws copies that each epoch trains on as well
    goes_on: Callable[[int], bool] | None = None  # asked with the epochs done; may wait, and may end the training early

    @property
    def n_words(self) -> int:
        """Words of the longest row that a batch can have."""
        longest = self.train.table.candidates.shape[1]
        return max(longest, self.contrast.options.words) if self.contrast else longest

    @property
    def n_rows(self) -> int:
        """The rows of an epoch, at most."""
        return len(self.train) + (self.contrast.n_copies(len(self.train)) if self.contrast else 0)

    def to(self, device: torch.device) -> Task:
        """Return the same with everything on `device`."""
        weights = None if self.weights is None else self.weights.to(device)
        supervision = None if self.supervision is None else self.supervision.to(device)
        dev = None if self.dev is None else self.dev.to(device)
        return replace(self, train=self.train.to(device), dev=dev, weights=weights, supervision=supervision)
