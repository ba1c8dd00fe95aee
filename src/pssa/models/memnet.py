"""MN, the memory network (Tang et al. 2016; Wang et al. 2018), section "Memory Network" of the paper.

o = sum_i softmax(v(t)' M m_i) h_i, and a linear layer on o + v(t). Three embedding matrices start from the same word vectors:
m_i (memory), v(t) (mean of the aspect's rows) and h_i (output).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from pssa.errors import InputError
from pssa.models._layers import WordTable, attend, check_options, dropout, lookup, match, reset_parameters
from pssa.models._protocol import Batch, Encoding, Prediction

__all__ = ["MemoryNetwork"]

_MAX_HOPS = 100  # they have no weights of their own, whose size would bound them in the run of a stranger


@dataclass(frozen=True)
class MemoryNetworkOptions:
    """What can be chosen about MN."""

    train_embeddings: bool = True  # three copies of the word vectors, changed in training
    scale_scores: bool = True  # divide the attention scores by sqrt(D); the paper does not
    # Readings of the memory, each with the sum of the one before. Tang et al. read three times, and held-out data agree; the
    # paper writes one. Models saved before there was a choice read once.
    hops: int = field(default=3, metadata={"before": 1})
    aspect_matrix: bool = False  # the released code's extra matrix H on v(t) before the sum
    dropout: float = 0.3  # on o + v(t)
    embedding_dropout: float = (
        0.5  # on all word vectors; the paper has none, and MN then over-fits (chosen on held-out data)
    )
    initial_bound: float = 0.01  # other parameters start uniformly in [-bound, bound]

    def __post_init__(self) -> None:
        check_options(self, shares=("dropout", "embedding_dropout"), positive=("initial_bound", "hops"))
        if self.hops > _MAX_HOPS:
            raise InputError(f"hops is {self.hops}; it must be at most {_MAX_HOPS}")


class MemoryNetwork(nn.Module):
    """MN."""

    options = MemoryNetworkOptions
    reads = "words"
    word_tables = ("memory", "aspect", "words")
    attends = True

    def __init__(self, table: WordTable, n_labels: int, options: MemoryNetworkOptions, seed: int) -> None:
        super().__init__()
        width = table.dimension
        self.match = nn.Parameter(torch.empty(width, width))  # M
        self.shift = nn.Parameter(torch.empty(width, width)) if options.aspect_matrix else None  # H
        self.output = nn.Linear(width, n_labels)
        reset_parameters(self, options.initial_bound, torch.Generator().manual_seed(seed))
        start, unseen = table.divide(options.train_embeddings)
        self.memory = nn.Parameter(start.clone())
        self.aspect = nn.Parameter(start.clone())
        self.words = nn.Parameter(start.clone())
        self.register_buffer("unseen", unseen)
        self.hops = options.hops
        self.scale = 1 / math.sqrt(width) if options.scale_scores else 1.0
        self.dropout = options.dropout
        self.embedding_dropout = options.embedding_dropout

    def encode(self, batch: Batch) -> Encoding:
        """Look up h_i, m_i and the mean of the aspect's rows."""
        real = (batch.aspect > 0).unsqueeze(-1)
        aspect = (self._rows(self.aspect, batch.aspect) * real).sum(1) / real.sum(1)
        return Encoding(
            self._rows(self.words, batch.positions), aspect, memory=self._rows(self.memory, batch.positions)
        )

    def classify(self, encoding: Encoding, batch: Batch) -> Prediction:
        """Attend to the memory with the aspect and classify o + v(t); the attention is that of the last hop."""
        assert encoding.memory is not None
        query, candidates = encoding.aspect, batch.candidate_positions
        for _ in range(self.hops):
            scores = match(query @ self.match, encoding.memory) * self.scale
            summary, weights = attend(scores, candidates, encoding.words)
            query = summary + (query if self.shift is None else query @ self.shift)
        feature = dropout(query, self.dropout, self.training)
        return Prediction(self.output(feature), weights)

    def _rows(self, trained: Tensor, ids: Tensor) -> Tensor:
        rows = lookup(trained, self.get_buffer("unseen"), ids)
        return dropout(rows, self.embedding_dropout, self.training)
