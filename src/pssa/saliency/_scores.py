"""From raw scores to shares of the candidate words, once for every saliency, and the entropy that mining gates on.

The score of a word is the sum over its positions. Where a definition takes absolute values, they are taken per
position, before the sum: two pieces of one word that pull in opposite directions both count.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from pssa.data.batch import Batch
from pssa.errors import InputError
from pssa.models import AspectClassifier, pool_words
from pssa.saliency._protocol import Saliency

__all__ = ["entropy_bits", "normalise", "score_words", "to_words"]


@torch.no_grad()
def score_words(saliency: Saliency, model: AspectClassifier, batch: Batch) -> Tensor:
    """(B, N) each candidate word's share of the saliency; a row sums to one, or is zero where nothing can be said.

    :raises InputError: if the saliency does not apply to the model, or returns another shape.
    """
    raw = saliency(model, batch)
    if raw.shape != batch.candidates.shape:
        expected = tuple(batch.candidates.shape)
        raise InputError(f"{saliency} returned scores of shape {tuple(raw.shape)}; expected {expected}, one per word")
    return normalise(raw, batch.candidates)


def normalise(scores: Tensor, candidates: Tensor) -> Tensor:
    """Share of each word: (..., B, N) scores masked to `candidates` (B, N) and divided by their sum.

    A negative score speaks against the word and gets no share. A row without a positive score is all zero.
    """
    scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
    positive = scores.clamp(min=0).masked_fill(~candidates, 0)
    total = positive.sum(dim=-1, keepdim=True)
    return positive / total.masked_fill(total == 0, 1)


def entropy_bits(scores: Tensor) -> Tensor:
    """Equation (2) in bits: E = -sum of a log2(a) over the last dimension of normalised `scores`, with 0 log 0 = 0.

    Words that are no candidates have share zero and add nothing. A row of zeros has entropy 0 and says nothing, so a
    caller that looks for low entropy leaves it out.
    """
    entropy: Tensor = torch.special.entr(scores).sum(dim=-1) / math.log(2)
    return entropy


def to_words(values: Tensor, batch: Batch) -> Tensor:
    """Sum `values` (B, P) over the positions of each word: (B, N)."""
    return pool_words(values, batch.word_of, batch.candidates.shape[1])
