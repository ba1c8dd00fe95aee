"""Classifiers small enough to be solved by hand, real ones with drawn parameters, and batches for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from tests.models.encoders import tiny_encoder
from torch import Tensor

from pssa import models
from pssa.models import Batch, Encoding, Prediction, WordTable


@dataclass
class Toy:
    """Logits are the sum of f(h_i) @ weights over real positions, f being the identity or tanh; calls are recorded."""

    table: Tensor  # (V, D) rows by position id
    weights: Tensor  # (D, C)
    saturates: bool = False
    attention: Tensor | None = None  # (B, P) what `classify` gives out as attention
    encoded: list[int] = field(default_factory=list)  # rows of each call
    classified: list[int] = field(default_factory=list)
    seen: list[Batch] = field(default_factory=list)

    def encode(self, batch: Batch) -> Encoding:
        self.encoded.append(len(batch.positions))
        self.seen.append(batch)
        return Encoding(self.table[batch.positions], self.table.new_zeros(len(batch.positions), self.table.shape[1]))

    def classify(self, encoding: Encoding, batch: Batch) -> Prediction:
        self.classified.append(len(batch.positions))
        words = encoding.words.tanh() if self.saturates else encoding.words
        return Prediction((words @ self.weights * batch.real.unsqueeze(-1)).sum(dim=1), self.attention)


def make_batch(
    positions: Sequence[Sequence[int]],
    candidates: Sequence[Sequence[int]],
    *,
    word_of: Sequence[Sequence[int]] | None = None,
    labels: Sequence[int] | None = None,
) -> Batch:
    """Rows of position ids, 0 being padding, and whether each word is a candidate; the first word is the aspect."""
    ids = torch.tensor(positions)
    places = torch.arange(ids.shape[1]).expand(ids.shape)
    return Batch(
        positions=ids,
        word_of=places.masked_fill(ids == 0, -1) if word_of is None else torch.tensor(word_of),
        aspect=ids[:, :1],
        aspect_span=torch.tensor([[0, 1]] * len(ids)),
        candidates=torch.tensor(candidates, dtype=torch.bool),
        labels=torch.zeros(len(ids), dtype=torch.long) if labels is None else torch.tensor(labels),
        index=torch.arange(len(ids)),
    )


def draw_model(variant: str, n_words: int, *, bound: float = 0.5, seed: int = 0, **options: Any) -> Any:
    """A model in double precision whose parameters, fresh ones being too small to tell words apart, are uniform.

    A variant is a model's name and, after a hyphen, its way to refine self-attention.
    """
    generator = torch.Generator().manual_seed(seed)
    name, _, way = variant.partition("-")
    words = WordTable(torch.randn(n_words, 4, generator=generator), n_words)
    start = tiny_encoder() if models.uses_encoder(name) else words
    model = models.build(name, start, 3, options | ({"refine": way} if way else {}), seed=0).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.uniform_(-bound, bound, generator=generator)
    return model
