"""TNet-ATT: TNet with its convolution replaced by attention, o = Attention(h(x), v(t)), so that the method applies to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from pssa.models._layers import WordTable, attend, dropout, match, reset_parameters
from pssa.models._protocol import Batch, Encoding, Prediction
from pssa.models.tnet import TransformationEncoder, TransformationOptions

__all__ = ["TNetAttention"]


@dataclass(frozen=True)
class TNetAttentionOptions(TransformationOptions):
    """What can be chosen about TNet-ATT."""

    attend_aspect: bool = False  # let the aspect's own words be attended, as the released code does


class TNetAttention(nn.Module):
    """Dot-product attention of the aspect on h(x), and a linear layer on o."""

    options = TNetAttentionOptions
    reads = "words"
    attends = True

    def __init__(self, table: WordTable, n_labels: int, options: TNetAttentionOptions, seed: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.encoder = TransformationEncoder(table, options, generator)
        self.output = nn.Linear(2 * options.hidden, n_labels)
        reset_parameters(self.output, options.initial_bound, generator)
        self.attend_aspect = options.attend_aspect
        self.dropout = options.dropout

    def encode(self, batch: Batch) -> Encoding:
        """Encode words and aspect."""
        encoding: Encoding = self.encoder(batch)
        return encoding

    def encode_noised(self, batch: Batch, add: Callable[[Tensor], Tensor]) -> Encoding:
        """Encode with the vectors (B, P, W) of the sentence's words as `add` returns them."""
        encoding: Encoding = self.encoder(batch, add)
        return encoding

    def classify(self, encoding: Encoding, batch: Batch) -> Prediction:
        """Attend to h(x) with v(t) and classify o."""
        attended = batch.candidate_positions
        if self.attend_aspect:
            attended = attended | batch.aspect_positions
        scores = match(encoding.aspect, encoding.words)
        summary, weights = attend(scores, attended, encoding.words)
        feature = dropout(summary, self.dropout, self.training)
        return Prediction(self.output(feature), weights)
