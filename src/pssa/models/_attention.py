"""The attention that all models share, and the way from positions back to words."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["attend", "masked_softmax", "pool_words"]


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Softmax over the last dimension where `mask` holds; zero elsewhere, also in a row where it never holds."""
    weights = scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(dim=-1)
    return weights * mask


def attend(scores: Tensor, mask: Tensor, words: Tensor) -> tuple[Tensor, Tensor]:
    """Weigh `words` (B, P, D) by the softmax of `scores` (B, P): o (B, D) and the weights (B, P)."""
    weights = masked_softmax(scores, mask)
    return torch.einsum("bp,bpd->bd", weights, words), weights


def pool_words(values: Tensor, word_of: Tensor, n_words: int) -> Tensor:
    """Sum `values` (B, P) over the positions of each word: (B, N)."""
    real = word_of >= 0
    pooled = values.new_zeros(values.shape[0], n_words)
    return pooled.scatter_add(1, word_of.clamp(min=0), values * real)
