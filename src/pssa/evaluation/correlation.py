"""Do two saliencies put the words of a sentence in the same order? Kendall's tau-b and Spearman's rho, by sentence.

Both follow from the signs of the differences between any two words: tau-b is the cosine of the two matrices of signs, rho that of
their row sums, which are the words' ranks (the mean rank where scores are equal) but for scale and origin.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import torch
from torch import Tensor

from pssa.evaluation.intervals import Estimate, estimate

__all__ = ["Correlation", "correlate", "rank_correlations"]

_LEAST = 3  # words: two can only agree or not
_AT_ONCE = 256


@dataclass(frozen=True)
class Correlation:
    """Mean rank correlation of two saliencies; none where no sentence has one."""

    first: str
    second: str
    kendall: Estimate | None
    spearman: Estimate | None
    instances: int
    left_out: int  # fewer than three candidates, or one of the two does not tell any words apart


def correlate(scores: Mapping[str, Tensor], candidates: Tensor, seed: int = 0) -> tuple[Correlation, ...]:
    """Every pair of saliencies, given as (n, N) `scores` by name."""
    found = []
    for first, second in combinations(scores, 2):
        values = rank_correlations(scores[first], scores[second], candidates)
        known = values[~values.isnan().any(dim=1)]
        kendall, spearman = estimate(known.numpy(), seed) if len(known) else (None, None)
        found.append(Correlation(first, second, kendall, spearman, len(known), len(values) - len(known)))
    return tuple(found)


def rank_correlations(first: Tensor, second: Tensor, candidates: Tensor) -> Tensor:
    """(n, 2) tau-b and rho over the candidates of each sentence; not a number where there is none."""
    parts = zip(*(torch.split(each, _AT_ONCE) for each in (first, second, candidates)), strict=True)
    return torch.cat([_rank_correlations(*part) for part in parts])


def _rank_correlations(first: Tensor, second: Tensor, candidates: Tensor) -> Tensor:
    ours, theirs = _signs(first, candidates), _signs(second, candidates)  # (n, N, N)
    tau = _cosine(ours.flatten(1), theirs.flatten(1))
    rho = _cosine(ours.sum(dim=2), theirs.sum(dim=2))
    few = candidates.sum(dim=1, keepdim=True) < _LEAST
    return torch.stack([tau, rho], dim=1).masked_fill(few, torch.nan)


def _signs(scores: Tensor, candidates: Tensor) -> Tensor:
    both = candidates[:, :, None] & candidates[:, None, :]
    return (scores[:, :, None] - scores[:, None, :]).sign().double() * both


def _cosine(first: Tensor, second: Tensor) -> Tensor:
    # All are whole numbers: a length is zero exactly where all scores are equal, and the quotient not a number.
    lengths = first.square().sum(dim=1) * second.square().sum(dim=1)
    return (first * second).sum(dim=1) / lengths.sqrt()
