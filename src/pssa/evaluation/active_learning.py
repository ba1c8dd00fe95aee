"""Active learning: which texts without labels are most useful to label next.

A text is useful where the model is in doubt. Doubt is small where the most probable label is far ahead of the second (margin
sampling, Scheffer et al. 2001) and, if there are several models, where they agree (query by committee, Seung et al. 1992; the
Jensen-Shannon divergence of their answers). Of the texts in doubt a greedy choice takes those that are unlike the ones taken
before: a batch of the most doubtful texts alone says the same thing many times.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from pssa.models import Batch, IndexedCorpus

_BATCH = 64
_SAME = 0.8  # share of common words from which two texts are near duplicates


@dataclass(frozen=True)
class DoubtfulText:
    """A text to choose from."""

    doubt: float  # 0 to 1
    aspect: str  # that the doubt is about
    words: frozenset[str]


@dataclass(frozen=True)
class Choice:
    """A text that was chosen."""

    index: int  # among those given
    novelty: float  # 1: unlike all that were chosen before; 0: like one of them
    times: int  # how often its aspect was chosen before


def margin_doubt(probabilities: Tensor) -> Tensor:
    """Return (...): one minus the distance between the two highest of (..., C) probabilities."""
    first, second = probabilities.topk(2, dim=-1).values.unbind(-1)
    return 1 - (first - second)


def disagreement(probabilities: Tensor) -> Tensor:
    """Return (n,): the Jensen-Shannon divergence of the answers (M, n, C) of M models, as a share of the highest possible."""
    n_models, _, n_labels = probabilities.shape
    mean = _entropy(probabilities.mean(dim=0)) - _entropy(probabilities).mean(dim=0)
    return (mean / math.log(min(n_models, n_labels))).clamp(0, 1) if n_models > 1 else torch.zeros_like(mean)


def _entropy(probabilities: Tensor) -> Tensor:
    terms: Tensor = torch.special.entr(probabilities)
    return terms.sum(dim=-1)


@torch.no_grad()
def embed(model: nn.Module, corpus: IndexedCorpus) -> Tensor:
    """Return (n, 2 D): what the model attends to and the aspect, both of length one; on the CPU."""
    model.eval()
    device = next(model.parameters()).device
    order = corpus.length_order()
    parts = [_features(model, corpus.batch(rows).to(device)).float().cpu() for rows in torch.split(order, _BATCH)]
    return torch.cat(parts)[order.argsort()]


def _features(model: nn.Module, batch: Batch) -> Tensor:
    encoding = model.encode(batch)  # type: ignore[operator]
    weights = model.classify(encoding, batch).attention  # type: ignore[operator]
    if weights is None:
        weights = batch.candidate_positions.float()
    words = torch.einsum("bp,bpd->bd", weights.to(encoding.words.dtype), encoding.words)
    return torch.cat([nn.functional.normalize(words), nn.functional.normalize(encoding.aspect)], dim=1)


def choose_diverse(texts: Sequence[DoubtfulText], vectors: Tensor, count: int) -> list[Choice]:
    """Return up to `count` of the texts, the most useful first; near duplicates of a chosen text are left out.

    The use of a text is its doubt times its novelty, divided by the square root of one plus the number of chosen texts with the
    same aspect. Novelty is one minus the cosine to the nearest of them; of equal texts the first is taken.

    :param vectors: (n, D) a point for each text; what all have in common is left out.
    """
    points = nn.functional.normalize(vectors - vectors.mean(dim=0))
    doubts = torch.tensor([text.doubt for text in texts])
    nearest = torch.zeros(len(texts))  # highest cosine to a chosen text
    is_open = torch.ones(len(texts), dtype=torch.bool)
    shown: Counter[str] = Counter()
    chosen: list[Choice] = []
    while is_open.any() and len(chosen) < count:
        rarity = torch.tensor([(1 + shown[text.aspect]) ** -0.5 for text in texts])
        use = (doubts * (1 - nearest) * rarity).masked_fill(~is_open, -1.0)
        index = int(use.argmax())
        is_open[index] = False
        if any(_are_near(texts[index].words, texts[other.index].words) for other in chosen):
            continue
        chosen.append(Choice(index, 1 - float(nearest[index]), shown[texts[index].aspect]))
        shown[texts[index].aspect] += 1
        nearest = torch.maximum(nearest, (points @ points[index]).clamp(0, 1))
    return chosen


def _are_near(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= _SAME * max(1, len(one | other))
