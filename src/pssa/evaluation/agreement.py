"""Agreement with people: whether a saliency ranks those words first that people marked as opinion words.

Measured on sentences with at least one marked candidate, against a candidate drawn at random (its expected value) and beside the
words nearest to the aspect, which need no model. Neutral sentences are marked far less often than others, so the numbers are also
given by label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from pssa.data.evidence import ACTIVE, Evidence
from pssa.errors import InputError
from pssa.evaluation.ranking import rank_words
from pssa.evaluation.significance import AgainstChance, compare_with_control
from pssa.models import IndexedCorpus
from pssa.saliency import normalise

Floats = npt.NDArray[np.float64]

NEAREST = "nearest word"
_TOP = 3


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
