"""The order of a sentence's words by their scores, and rank correlations of two saliencies: Kendall's tau-b, Spearman's rho.

Both correlations follow from the signs of the differences between any two words: tau-b is the cosine of the two matrices of
signs, rho that of their row sums, which are the ranks of the words (mean ranks for equal scores) up to scale and origin.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import torch
from torch import Tensor

from pssa.evaluation.significance import Estimate, estimate

_MIN_WORDS = 3  # two words can only agree or disagree
_AT_ONCE = 256


@dataclass(frozen=True)
class Correlation:
    """Mean rank correlation of two saliencies; None if no sentence has one."""

    first: str
    second: str
    kendall: Estimate | None
    spearman: Estimate | None
    instances: int
    left_out: int  # fewer than three candidates, or one of the two scores all words equally


def rank_words(scores: Tensor, candidates: Tensor, seed: int = 0) -> Tensor:
    """Return (n, N): the rank of each word in its sentence, 0 for the highest of `scores` (n, N); candidates come first.

    Equal scores get a random order, so that a constant saliency is no better than chance; the order of the sentence would be.
    """
    shuffled = torch.rand(scores.shape, generator=torch.Generator().manual_seed(seed)).argsort(dim=1)
    comparable = scores.masked_fill(~candidates, -torch.inf).gather(1, shuffled)
    order = shuffled.gather(1, comparable.argsort(dim=1, descending=True, stable=True))
    return order.argsort(dim=1)


def correlate(scores: Mapping[str, Tensor], candidates: Tensor, seed: int = 0) -> tuple[Correlation, ...]:
    """Correlate every pair of saliencies, given as (n, N) `scores` by name."""
    found = []
    for first, second in combinations(scores, 2):
        values = rank_correlations(scores[first], scores[second], candidates)
        known = values[~values.isnan().any(dim=1)]
        kendall, spearman = estimate(known.numpy(), seed) if len(known) else (None, None)
        found.append(Correlation(first, second, kendall, spearman, len(known), len(values) - len(known)))
    return tuple(found)


def rank_correlations(first: Tensor, second: Tensor, candidates: Tensor) -> Tensor:
    """Return (n, 2): tau-b and rho over the candidates of each sentence; NaN if undefined."""
    found = []
    for ours, theirs, inside in zip(
        *(torch.split(each, _AT_ONCE) for each in (first, second, candidates)), strict=True
    ):
        one, other = _signs(ours, inside), _signs(theirs, inside)  # (n, N, N)
        tau = _cosine(one.flatten(1), other.flatten(1))
        rho = _cosine(one.sum(dim=2), other.sum(dim=2))
        few = inside.sum(dim=1, keepdim=True) < _MIN_WORDS
        found.append(torch.stack([tau, rho], dim=1).masked_fill(few, torch.nan))
    return torch.cat(found)


def _signs(scores: Tensor, candidates: Tensor) -> Tensor:
    both = candidates[:, :, None] & candidates[:, None, :]
    return (scores[:, :, None] - scores[:, None, :]).sign().double() * both


def _cosine(first: Tensor, second: Tensor) -> Tensor:
    # All values are whole numbers: a length is zero exactly if all scores are equal, and the quotient is then NaN.
    lengths = first.square().sum(dim=1) * second.square().sum(dim=1)
    return (first * second).sum(dim=1) / lengths.sqrt()
