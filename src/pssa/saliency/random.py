"""Random scores: the control that a faithfulness measure must distinguish from a real saliency.

The paper's random masking (RM) is not this: it gates and routes on the gradient's scores and only then picks a word at
random, which is a matter of mining.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from pssa.errors import InputError
from pssa.models import AspectModel, Batch

__all__ = ["Random"]


@dataclass(frozen=True)
class Random:
    """Uniform scores, determined by the seed, the example's place in its corpus and the word's place in the example."""

    seed: int = 0

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise InputError(f"seed is {self.seed}; expected 0 or more")

    def __call__(self, model: AspectModel, batch: Batch) -> Tensor:
        """Return (B, N) numbers between zero and one; the model is not used."""
        n_words = batch.candidates.shape[1]
        rows = [np.random.default_rng((self.seed, index)).random(n_words) for index in batch.index.tolist()]
        return torch.tensor(np.array(rows), dtype=torch.float32, device=batch.candidates.device)
