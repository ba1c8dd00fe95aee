"""Word vectors inside a model: rows that training changes, and rows that only unseen words need.

A vocabulary lists the training words first. Where embeddings are trained, only those rows are parameters: no gradient could
ever reach the others, so they are a buffer that costs nothing in the optimiser and in checkpoints.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from pssa.errors import InputError

__all__ = ["WordTable", "check_options", "lookup", "reset_parameters"]


@dataclass(frozen=True)
class WordTable:
    """The vectors a word model starts from."""

    matrix: Tensor  # (V, D) a row per word of the vocabulary
    n_trained: int  # rows that occur in training

    @property
    def dimension(self) -> int:
        """D."""
        return self.matrix.shape[1]

    def divide(self, trainable: bool) -> tuple[Tensor, Tensor]:
        """Rows to be parameters and rows to be a buffer; all of them are the latter where vectors stay as they are."""
        n_parameters = self.n_trained if trainable else 0
        return self.matrix[:n_parameters].clone(), self.matrix[n_parameters:].clone()


def check_options(options: Any, *, shares: tuple[str, ...], positive: tuple[str, ...]) -> None:
    """Refuse a model's options that are out of range: `shares` lie in [0, 1), `positive` values above 0."""
    for name in shares:
        if not 0 <= getattr(options, name) < 1:
            raise InputError(f"{name} is {getattr(options, name)}; it must be at least 0 and below 1")
    for name in positive:
        if not getattr(options, name) > 0:
            raise InputError(f"{name} is {getattr(options, name)}; it must be greater than 0")


def lookup(trained: Tensor, fixed: Tensor, ids: Tensor) -> Tensor:
    """Rows of the table that `trained` (T, D) and `fixed` (V - T, D) make up together."""
    if len(fixed) == 0:
        return functional.embedding(ids, trained)
    if len(trained) == 0:
        return functional.embedding(ids, fixed)
    # In training no word is beyond. Only a CPU can look without making the device wait.
    if ids.device.type == "cpu" and int(ids.max()) < len(trained):
        return functional.embedding(ids, trained)
    beyond = ids >= len(trained)
    rows = functional.embedding(ids.masked_fill(beyond, 0), trained)
    unseen = functional.embedding((ids - len(trained)).clamp(min=0), fixed)
    return torch.where(beyond.unsqueeze(-1), unseen, rows)


def reset_parameters(module: nn.Module, bound: float, generator: torch.Generator) -> None:
    """Draw every matrix uniformly from [-bound, bound] and set every bias to zero, as the paper does."""
    with torch.no_grad():
        for parameter in module.parameters():
            if parameter.dim() > 1:
                parameter.uniform_(-bound, bound, generator=generator)
            else:
                parameter.zero_()
