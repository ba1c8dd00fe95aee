"""Does a model really rest on the words that a saliency names? Comprehensiveness and sufficiency (ERASER, DeYoung et al. 2020).

p is the probability of the class that is predicted from the whole sentence. Comprehensiveness is what p loses when the k most
salient words are taken away (high: they mattered), sufficiency what it loses when they alone stay (low: they are enough). The
aspect always stays. AOPC is the mean over k = 1, 5, 10, 20 and 50 % of the words, rounded up, as in the benchmark's own scorer.
The control takes away as many words in random order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from pssa.errors import InputError
from pssa.evaluation.intervals import AgainstChance, judge
from pssa.evaluation.ranking import rank_words
from pssa.evaluation.removal import Remove

__all__ = ["COLUMNS", "Drops", "Faithfulness", "Sentences", "measure_drops", "measure_faithfulness", "random_drops"]

Floats = npt.NDArray[np.float64]

_WORDS = (1, 2, 3)
_PERCENTAGES = (1, 5, 10, 20, 50)
COLUMNS = (*map(str, _WORDS), "aopc")
_ORDERS = 3  # random ones, whose mean is the control
# Sentences whose shortened versions are held at once, about ten each.
_AT_ONCE = 1024


@dataclass(frozen=True)
class Faithfulness:
    """How far one saliency is borne out, by number of words and as AOPC: the keys are `COLUMNS`."""

    comprehensiveness: Mapping[str, AgainstChance]  # high is good
    sufficiency: Mapping[str, AgainstChance]  # low is good


class Drops(NamedTuple):
    """What the predicted class's probability loses, by sentence."""

    comprehensiveness: Floats  # (n, len(COLUMNS))
    sufficiency: Floats  # (n, len(COLUMNS))


@dataclass(frozen=True)
class Sentences:
    """The sentences that have candidates, what is predicted from the whole of each, and how words are taken away."""

    rows: Tensor  # (n,) in their corpus
    candidates: Tensor  # (n, N)
    probability: Tensor  # (n,) of the predicted class
    classes: Tensor  # (n,) the predicted class
    remove: Remove

    @classmethod
    def look(cls, candidates: Tensor, remove: Remove) -> Sentences:
        """Predict from the whole sentences of a corpus with these `candidates`, leaving out those that have none.

        :raises InputError: if none has any.
        """
        rows = candidates.any(dim=1).nonzero().squeeze(1)
        if not len(rows):
            raise InputError(f"none of the {len(candidates)} sentences has a word beside its aspect to take away")
        whole = remove(rows, torch.zeros_like(candidates[rows]))
        probability, classes = whole.max(dim=1)
        return cls(rows, candidates[rows], probability, classes, remove)


def measure_faithfulness(
    scores: Mapping[str, Tensor], candidates: Tensor, remove: Remove, seed: int = 0
) -> dict[str, Faithfulness]:
    """Judge saliencies, given as (n, N) `scores` by name, by one way of taking words away; all share one control.

    :raises InputError: if no sentence has a candidate.
    """
    sentences = Sentences.look(candidates, remove)
    control = random_drops(sentences, [seed + 1 + number for number in range(_ORDERS)])
    judged = {}
    for name, values in scores.items():
        drops = measure_drops(sentences, rank_words(values[sentences.rows], sentences.candidates, seed))
        pairs = (judge(own, chance, seed) for own, chance in zip(drops, control, strict=True))
        judged[name] = Faithfulness(*(dict(zip(COLUMNS, found, strict=True)) for found in pairs))
    return judged


def random_drops(sentences: Sentences, seeds: list[int]) -> Drops:
    """The mean drops of as many random orders as there are seeds."""
    nothing = torch.zeros(sentences.candidates.shape)
    orders = [measure_drops(sentences, rank_words(nothing, sentences.candidates, seed)) for seed in seeds]
    return Drops(*(np.mean(each, axis=0) for each in zip(*orders, strict=True)))


def measure_drops(sentences: Sentences, ranks: Tensor) -> Drops:
    """Take away the first words by `ranks` (n, N), and all the others."""
    parts = [_measure(sentences, own, ranks) for own in torch.split(torch.arange(len(ranks)), _AT_ONCE)]
    return Drops(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def _measure(sentences: Sentences, own: Tensor, ranks: Tensor) -> Drops:
    sizes = _sizes(sentences.candidates[own].sum(dim=1))  # (R, K)
    # Short sentences have the same number of words for several k: each number is tried once.
    base = ranks.shape[1] + 1
    tried, place = torch.unique(own[:, None] * base + sizes, return_inverse=True)  # (V,), (R, K)
    sentence, size = tried // base, tried % base
    first = ranks[sentence] < size[:, None]  # (V, N)
    others = sentences.candidates[sentence] & ~first

    def lost(words: Tensor) -> Floats:
        left = sentences.remove(sentences.rows[sentence], words).gather(1, sentences.classes[sentence, None])
        drops = (sentences.probability[sentence] - left.squeeze(1))[place].double()
        areas = drops[:, len(_WORDS) :].mean(dim=1, keepdim=True)
        values: Floats = torch.cat([drops[:, : len(_WORDS)], areas], dim=1).numpy()
        return values

    return Drops(lost(first), lost(others))


def _sizes(counts: Tensor) -> Tensor:
    """(R, K) how many of `counts` (R,) words each k stands for."""
    fixed = [counts.clamp(max=words) for words in _WORDS]
    shares = [-(-counts * percentage // 100) for percentage in _PERCENTAGES]
    return torch.stack(fixed + shares, dim=1)
