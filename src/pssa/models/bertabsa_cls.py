"""BERTABSA-CLS of the paper: the encoder reads [CLS] x [SEP] aspect [SEP] and classifies from the state of [CLS].

There is no attention on top, and no gradient at any word's own state. With `refine`, the method applies to the self-attention of
the encoder's top layer.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from pssa.models._encoder import PieceEncoder, draw_linear
from pssa.models._layers import check_options, dropout, full_precision
from pssa.models._pretrained import Pretrained
from pssa.models._protocol import Batch, Encoding, Prediction
from pssa.models._refinement import attention_of, check_refine

__all__ = ["BertAbsaCls"]


@dataclass(frozen=True)
class BertAbsaClsOptions:
    """What can be chosen about BERTABSA-CLS."""

    dropout: float = 0.1  # in the encoder and on the state of [CLS]
    pooler: bool = False  # a dense layer with tanh first; drawn with the head, since not every encoder brings one
    refine: str = "none"  # or "random_head", "smallest_entropy", "average": the heads whose self-attention is refined

    def __post_init__(self) -> None:
        check_options(self, shares=("dropout",), positive=())
        check_refine(self.refine)


class BertAbsaCls(nn.Module):
    """The state of the first position and a linear layer."""

    options = BertAbsaClsOptions
    reads = "pairs"
    attends = False

    def __init__(self, table: Pretrained, n_labels: int, options: BertAbsaClsOptions, seed: int) -> None:
        super().__init__()
        generator, width = torch.Generator().manual_seed(seed), table.dimension
        self.encoder = PieceEncoder(table, options.dropout, options.refine, seed)
        self.pooler = draw_linear(width, width, generator) if options.pooler else None
        self.output = draw_linear(width, n_labels, generator)
        self.dropout = options.dropout
        self.mask_id = table.mask_id
        self.recordable = self.encoder.recordable

    def encode(self, batch: Batch) -> Encoding:
        """Run the encoder; the aspect is the state of [CLS], below the top layer where that is refined."""
        words, top = self.encoder(batch)
        return Encoding(words, words[:, 0], top=top)

    def classify(self, encoding: Encoding, batch: Batch) -> Prediction:
        """Classify the state of [CLS], taken from `encoding.words`."""
        first = torch.arange(batch.positions.shape[1], device=batch.positions.device) == 0
        states, heads = self.encoder.finish(encoding, first.expand(batch.positions.shape), batch)
        attention = None if heads is None else attention_of(heads, batch.candidate_positions)
        with full_precision(states):
            feature = states[:, 0]
            if self.pooler is not None:
                feature = self.pooler(feature).tanh()
            logits = self.output(dropout(feature, self.dropout, self.training))
        return Prediction(logits, attention, heads)
