"""BERTABSA (Hu et al. 2019), section "BERT-based ABSA Model" of the paper: a pretrained encoder that classifies from v(t).

It reads [CLS] x [SEP]; v(t) = sum_j softmax(w' h_j) h_j over the aspect's pieces, and a linear layer. There is no attention on
top, and no gradient at the other words' states. With `refine`, the method applies to the self-attention of the top layer.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from pssa.errors import InputError
from pssa.models._encoder import PieceEncoder, draw_linear
from pssa.models._layers import attend, check_options, dropout, full_precision
from pssa.models._pretrained import Pretrained
from pssa.models._protocol import Batch, Encoding, Prediction
from pssa.models._refinement import attention_of, check_refine

__all__ = ["BertAbsa"]


@dataclass(frozen=True)
class BertAbsaOptions:
    """What can be chosen about BERTABSA."""

    dropout: float = 0.1  # in the encoder and on v(t)
    head: str = "linear"  # or "dense": a layer with tanh before the dropout, as Hu et al. have it
    refine: str = "none"  # or "random_head", "smallest_entropy", "average": the heads whose self-attention is refined

    def __post_init__(self) -> None:
        check_options(self, shares=("dropout",), positive=())
        check_refine(self.refine)
        if self.head not in ("linear", "dense"):
            raise InputError(f"head is {self.head!r}; it can be linear or dense")


class BertAbsa(nn.Module):
    """Gated aspect states and a linear layer."""

    options = BertAbsaOptions
    reads = "pieces"
    shares_sentences = True
    attends = False

    def __init__(self, table: Pretrained, n_labels: int, options: BertAbsaOptions, seed: int) -> None:
        super().__init__()
        generator, width = torch.Generator().manual_seed(seed), table.dimension
        self.encoder = PieceEncoder(table, options.dropout, options.refine, seed)
        self.gate = draw_linear(width, 1, generator, bias=False)  # a bias would cancel in the softmax
        self.dense = draw_linear(width, width, generator) if options.head == "dense" else None
        self.output = draw_linear(width, n_labels, generator)
        self.dropout = options.dropout
        self.mask_id = table.mask_id
        self.recordable = self.encoder.recordable

    def encode(self, batch: Batch) -> Encoding:
        """Run the encoder; v(t) is of its states as they are here, below the top layer where that is refined."""
        words, top = self.encoder(batch)
        return Encoding(words, self._aspect(words, batch), top=top)

    def classify(self, encoding: Encoding, batch: Batch) -> Prediction:
        """Pool the aspect's states and classify v(t).

        v(t) is made again, from `encoding.words`: nothing else leads from the words to the logits.
        """
        states, heads = self.encoder.finish(encoding, batch.aspect_positions, batch)
        attention = None if heads is None else attention_of(heads, batch.candidate_positions)
        with full_precision(states):
            feature = self._aspect(states, batch)
            if self.dense is not None:
                feature = self.dense(feature).tanh()
            logits = self.output(dropout(feature, self.dropout, self.training))
        return Prediction(logits, attention, heads)

    def _aspect(self, states: Tensor, batch: Batch) -> Tensor:
        with full_precision(states):
            return attend(self.gate(states).squeeze(-1), batch.aspect_positions, states)[0]
