"""The protocol of a model: two calls, `encode` and `classify`, and the values they return.

The cut is placed so that gradients and noise apply to `Encoding.words`: a saliency runs only the small head, not the encoder.
Where an encoder's self-attention is refined, the encoder's top layer belongs to the head.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

from torch import Tensor

from pssa.models._batch import Batch

# The arguments of an encoder's top layer besides its input, `Encoding.words`: masks, relative positions and the like, by place
# and by name. The first value is B of the batch that was encoded.
TopLayer = tuple[int, tuple[Any, ...], Mapping[str, Any]]


@dataclass(frozen=True)
class Encoding:
    """The representations of a batch: h(x), v(t) and, in a memory network, m."""

    words: Tensor  # (B, P, D) h(x); the top layer's input where there is a `top`
    aspect: Tensor  # (B, D) v(t)
    memory: Tensor | None = None  # (B, P, D) m, where the attention reads other vectors than it returns
    top: TopLayer | None = None  # where self-attention is refined: `classify` runs the top layer

    def with_words(self, words: Tensor, memory: Tensor | None) -> Encoding:
        """Return the same with other word vectors."""
        return replace(self, words=words, memory=memory)


@dataclass(frozen=True)
class Heads:
    """The top layer's self-attention, as part of the graph that leads to the logits."""

    weights: Tensor  # (B, H, P, P) of each head, from the row's position to the column's
    rows: Tensor  # (B, P) positions whose rows count: the aspect's, or [CLS]
    share: Tensor  # (B, H) how the heads that are refined are mixed; a row sums to one


@dataclass(frozen=True)
class Prediction:
    """Class scores and, where the model attends, the weight of each position."""

    logits: Tensor  # (B, C); of a tagger (B, C, N)
    attention: Tensor | None  # (B, P), sums to one over the attended positions; to less in self-attention
    heads: Heads | None = None  # where self-attention is refined


@runtime_checkable
class AspectModel(Protocol):
    """A classifier of (sentence, aspect) pairs."""

    def encode(self, batch: Batch) -> Encoding:
        """Represent the words and the aspect."""

    def classify(self, encoding: Encoding, batch: Batch) -> Prediction:
        """Predict from the representations."""
