"""Agreement of saliencies with people, and with each other.

With people: whether a saliency ranks those words first that people marked as opinion words. Measured on sentences with at least
one marked candidate, against a candidate drawn at random (its expected value) and beside the words nearest to the aspect, which
need no model. Neutral sentences are marked far less often than others, so the numbers are also given by label.

With each other: Kendall's tau-b and Spearman's rho. Both follow from the signs of the differences between any two words: tau-b
is the cosine of the two matrices of signs, rho that of their row sums, which are the ranks of the words (mean ranks for equal
scores) up to scale and origin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from pssa.data.evidence import ACTIVE, Evidence
from pssa.errors import InputError
from pssa.evaluation.significance import AgainstChance, Estimate, compare_with_control, estimate
from pssa.models import IndexedCorpus
from pssa.saliency import normalise

_MIN_WORDS = 3  # two words can only agree or disagree
_AT_ONCE = 256
Floats = npt.NDArray[np.float64]
NEAREST = "nearest word"
_TOP = 3


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


@dataclass(frozen=True)
class Hits:
    """How often a saliency finds marked words; the control is a uniformly random candidate."""

    instances: int
    precision_at_1: AgainstChance  # the first word is marked
    recall_at_3: AgainstChance  # share of the marked words among the first three
    mass: AgainstChance  # share of the saliency on marked words


@dataclass(frozen=True)
class Overlap:
    """Hits of one saliency, over all instances and by gold label."""

    overall: Hits
    per_label: Mapping[str, Hits]


@dataclass(frozen=True)
class Agreement:
    """Agreement of each saliency by name, and of the nearest words."""

    instances: int
    left_out: int  # without a marked candidate
    saliencies: Mapping[str, Overlap]


def measure_agreement(
    scores: Mapping[str, Tensor], marked: Tensor, corpus: IndexedCorpus, labels: Sequence[str], seed: int = 0
) -> Agreement:
    """Compare saliencies, given as shares (n, N) by name, with `marked` (n, N) words of the corpus."""
    table = corpus.table
    marked = marked & table.candidates
    rows = marked.any(dim=1).nonzero().squeeze(1)
    if not len(rows):
        what = f"no word is marked in any of the {len(corpus)} sentences"
        raise InputError(f"{what}; give the opinion words of this data")
    classes, candidates = table.labels[rows].numpy(), table.candidates[rows]
    chance = _chance(marked[rows], candidates)
    found = {}
    for name, values in {**scores, NEAREST: nearness(table.aspect_span, table.candidates)}.items():
        hits = _hits(values[rows], marked[rows], candidates, seed)
        chosen = {label: classes == number for number, label in enumerate(labels) if (classes == number).any()}
        per_label = {
            label: Hits(int(own.sum()), *compare_with_control(hits[own], chance[own], seed))
            for label, own in chosen.items()
        }
        found[name] = Overlap(Hits(len(hits), *compare_with_control(hits, chance, seed)), per_label)
    return Agreement(len(rows), len(corpus) - len(rows), found)


def marked_words(evidence: Evidence, n_words: int) -> Tensor:
    """Return (n, N): the active words of evidence, such as that made from human opinion words."""
    marked = torch.zeros(len(evidence.examples), n_words, dtype=torch.bool)
    for row, example in enumerate(evidence.examples):
        marked[row, [finding.word for finding in example.findings if finding.kind == ACTIVE]] = True
    return marked


def nearness(aspect_span: Tensor, candidates: Tensor) -> Tensor:
    """Return (n, N): shares proportional to one over the distance to the aspect, in words."""
    places = torch.arange(candidates.shape[1])
    first, last = aspect_span[:, :1], aspect_span[:, 1:] - 1
    away = torch.maximum(first - places, places - last).clamp(min=1)
    return normalise(1 / away, candidates)


def _hits(shares: Tensor, marked: Tensor, candidates: Tensor, seed: int) -> Floats:
    """Return (n, 3): precision at 1, recall at 3 and mass."""
    ranks = rank_words(shares, candidates, seed)
    found = [
        (marked & (ranks == 0)).sum(dim=1),
        (marked & (ranks < _TOP)).sum(dim=1) / marked.sum(dim=1),
        (shares.double() * marked).sum(dim=1),
    ]
    values: Floats = torch.stack([each.double() for each in found], dim=1).numpy()
    return values


def _chance(marked: Tensor, candidates: Tensor) -> Floats:
    """Return (n, 3): the expected `_hits` of a random order of the candidates with equal shares."""
    words, hits = candidates.sum(dim=1).double(), marked.sum(dim=1).double()
    values: Floats = torch.stack([hits / words, words.clamp(max=_TOP) / words, hits / words], dim=1).numpy()
    return values
