"""AW, Definition 1 of the paper: the saliency of a word is the weight that the model's attention gives it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from pssa.errors import InputError
from pssa.models import AspectModel, Batch
from pssa.saliency._scores import to_words

__all__ = ["Attention"]


@dataclass(frozen=True)
class Attention:
    """Attention weights, summed over a word's positions."""

    needs: ClassVar[str] = "attention"

    @torch.no_grad()
    def __call__(self, model: AspectModel, batch: Batch) -> Tensor:
        """(B, N) the weights."""
        weights = model.classify(model.encode(batch), batch).attention
        if weights is None:
            raise InputError("the model has no attention weights; use another saliency, such as gradient")
        return to_words(weights, batch)
