"""BERTABSA-ATT: BERTABSA with attention on top, o = sum_i softmax(v(t)' h_i / sqrt(D)) h_i, so that the method applies to it.

It reads [CLS] x [SEP], attends to the words that are candidates, and has a linear layer on o + v(t). With `context`, v(t) is of
the aspect's neighbours as well: an aspect alone says little about its label, and few labels do not teach the encoder to tell it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import nn

from pssa.errors import InputError
from pssa.models._encoder import PieceEncoder, draw_linear
from pssa.models._layers import attend, check_options, dropout, full_precision
from pssa.models._pretrained import Pretrained
from pssa.models._protocol import Batch, Encoding, Prediction

__all__ = ["BertAbsaAttention"]


@dataclass(frozen=True)
class BertAbsaAttentionOptions:
    """What can be chosen about BERTABSA-ATT."""

    dropout: float = 0.1  # in the encoder and on o + v(t)
    context: int = 0  # words on either side of the aspect whose states are part of v(t)

    def __post_init__(self) -> None:
        check_options(self, shares=("dropout",), positive=())
        if self.context < 0:
            raise InputError(f"context is {self.context}; it must be at least 0")


class BertAbsaAttention(nn.Module):
    """Scaled dot-product attention of the aspect on h(x), and a linear layer on o + v(t)."""

    options = BertAbsaAttentionOptions
    reads = "pieces"
    shares_sentences = True
    attends = True

    def __init__(self, table: Pretrained, n_labels: int, options: BertAbsaAttentionOptions, seed: int) -> None:
        super().__init__()
        generator, width = torch.Generator().manual_seed(seed), table.dimension
        self.encoder = PieceEncoder(table, options.dropout, "none", seed)
        self.gate = draw_linear(width, 1, generator, bias=False)
        self.output = draw_linear(width, n_labels, generator)
        self.scale = 1 / math.sqrt(width)
        self.dropout = options.dropout
        self.context = options.context
        self.mask_id = table.mask_id
        self.recordable = self.encoder.recordable

    def encode(self, batch: Batch) -> Encoding:
        """Run the encoder and pool the states of the aspect and its context."""
        words, _ = self.encoder(batch)
        with full_precision(words):
            aspect, _ = attend(self.gate(words).squeeze(-1), batch.aspect_in_context(self.context), words)
        return Encoding(words, aspect)

    def classify(self, encoding: Encoding, batch: Batch) -> Prediction:
        """Attend to h(x) with v(t) and classify o + v(t)."""
        with full_precision(encoding.words):
            scores = torch.einsum("bd,bpd->bp", encoding.aspect, encoding.words) * self.scale
            summary, weights = attend(scores, batch.candidate_positions, encoding.words)
            feature = dropout(summary + encoding.aspect, self.dropout, self.training)
            return Prediction(self.output(feature), weights)
