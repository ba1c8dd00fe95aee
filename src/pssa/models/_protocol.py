"""What a model is to everybody else: two calls, `encode` and `classify`, and the values they return.

The cut is placed so that gradients and noise go on `Encoding.words`: a saliency re-runs only the small head, never the encoder.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from torch import Tensor

from pssa.data.batch import Batch

__all__ = ["AspectClassifier", "Encoding", "Prediction"]


@dataclass(frozen=True)
class Encoding:
    """What the encoder says of a batch: h(x), v(t) and, in a memory network, m."""

    words: Tensor  # (B, P, D) h(x)
    aspect: Tensor  # (B, D) v(t)
    memory: Tensor | None = None  # (B, P, D) m, where the attention reads other vectors than it returns

    def with_words(self, words: Tensor, memory: Tensor | None) -> Encoding:
        """The same aspect with other word vectors."""
        return replace(self, words=words, memory=memory)


@dataclass(frozen=True)
class Prediction:
    """Class scores and, where the model attends, the weight of each position."""

    logits: Tensor  # (B, C)
    attention: Tensor | None  # (B, P), sums to one over the attended positions


@runtime_checkable
class AspectClassifier(Protocol):
    """A classifier of (sentence, aspect) pairs."""

    def encode(self, batch: Batch) -> Encoding:
        """Represent the words and the aspect."""
        ...

    def classify(self, encoding: Encoding, batch: Batch) -> Prediction:
        """Predict from the representations."""
        ...
