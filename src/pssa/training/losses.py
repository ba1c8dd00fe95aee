"""The training objective: cross-entropy, and the attention penalty of the paper's last equation.

J_s = CE + gamma * distance(attention, expected) over the supervised words, both averaged over the batch by the step. Expected is
1/|active| on active words, or another share, and 0 on misleading ones; other words are free, and an example without evidence
contributes nothing. Both are computed in float32, whatever the model computed in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn import functional

from pssa.data.batch import Batch
from pssa.models import Prediction, pool_words

__all__ = ["DISTANCES", "Supervision", "attention_penalty", "cross_entropy"]

# Keeps the gradient of the norm finite where attention and expectation agree.
_TINY = 1e-12


def _squared(difference: Tensor) -> Tensor:
    return difference.square().sum(dim=1)


def _norm(difference: Tensor) -> Tensor:
    norm: Tensor = (difference.square().sum(dim=1) + _TINY).sqrt() - _TINY**0.5
    return norm


DISTANCES: dict[str, Callable[[Tensor], Tensor]] = {"squared": _squared, "norm": _norm}


@dataclass(frozen=True)
class Supervision:
    """What attention should be, for each word of a corpus of n examples."""

    expected: Tensor  # (n, N) wanted attention
    supervised: Tensor  # (n, N) bool: words that have an expectation
    gamma: float
    distance: str = "squared"  # a name in DISTANCES
    rising: int = 0  # steps over which gamma rises from zero; 0: it is the same in all

    def to(self, device: torch.device) -> Supervision:
        """The same on `device`."""
        return replace(self, expected=self.expected.to(device), supervised=self.supervised.to(device))


def cross_entropy(prediction: Prediction, batch: Batch, weights: Tensor | None) -> Tensor:
    """(B,) negative log-likelihood of each example, counted `weights[index]` times."""
    losses = functional.cross_entropy(prediction.logits.float(), batch.labels, reduction="none")
    return losses if weights is None else losses * weights[batch.index]


def attention_penalty(prediction: Prediction, batch: Batch, supervision: Supervision) -> Tensor:
    """(B,) distance between attention and expectation of each example, before gamma."""
    assert prediction.attention is not None, "supervision needs a model that attends"
    n_words = batch.candidates.shape[1]
    attention = pool_words(prediction.attention.float(), batch.word_of, n_words)
    expected = supervision.expected[batch.index, :n_words]
    supervised = supervision.supervised[batch.index, :n_words]
    return DISTANCES[supervision.distance]((attention - expected) * supervised)
