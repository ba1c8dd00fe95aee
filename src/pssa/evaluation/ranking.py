"""Which words of a sentence come first, by their scores."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["rank_words"]


def rank_words(scores: Tensor, candidates: Tensor, seed: int = 0) -> Tensor:
    """(n, N) the place of each word in its sentence, 0 being the highest of `scores` (n, N); candidates come first.

    Equal scores come in a random order, so that a saliency that says nothing is no better than chance: order in the
    sentence is not chance.
    """
    shuffled = torch.rand(scores.shape, generator=torch.Generator().manual_seed(seed)).argsort(dim=1)
    comparable = scores.masked_fill(~candidates, -torch.inf).gather(1, shuffled)
    order = shuffled.gather(1, comparable.argsort(dim=1, descending=True, stable=True))
    return order.argsort(dim=1)
