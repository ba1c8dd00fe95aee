"""TNet (Li et al. 2018): transformed word states, a convolution over them, and the strongest answer of each filter.

It has no attention on top, so attention weights can neither be mined nor supervised here; TNet-ATT is its attentional variant.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

from pssa.models._batch import Batch
from pssa.models._layers import WordTable, check_options, dropout, reset_parameters
from pssa.models._protocol import Encoding, Prediction
from pssa.models._tnet import TransformationEncoder, TransformationOptions

__all__ = ["TNet"]

_KERNEL = 3


@dataclass(frozen=True)
class TNetOptions(TransformationOptions):
    """What can be chosen about TNet."""

    filters: int = 50

    def __post_init__(self) -> None:
        super().__post_init__()
        check_options(self, shares=(), positive=("filters",))


class TNet(nn.Module):
    """Convolution of width three over h(x), maximum over time, and a linear layer."""

    options = TNetOptions
    reads = "words"
    attends = False

    def __init__(self, table: WordTable, n_labels: int, options: TNetOptions, seed: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.encoder = TransformationEncoder(table, options, generator)
        self.convolution = nn.Conv1d(2 * options.hidden, options.filters, _KERNEL)
        self.output = nn.Linear(options.filters, n_labels)
        reset_parameters(self.convolution, options.initial_bound, generator)
        reset_parameters(self.output, options.initial_bound, generator)
        self.dropout = options.dropout

    def encode(self, batch: Batch) -> Encoding:
        """Encode words and aspect."""
        encoding: Encoding = self.encoder(batch)
        return encoding

    def classify(self, encoding: Encoding, batch: Batch) -> Prediction:
        """Convolve h(x) and classify each filter's maximum."""
        missing = max(0, _KERNEL - encoding.words.shape[1])
        # Padding is zero already, unless noise was added to h(x): a short sentence's window would read it.
        words = encoding.words * batch.real.unsqueeze(-1)
        rows = functional.pad(words, (0, 0, 0, missing)).transpose(1, 2)  # (B, D, P)
        answers = functional.relu(self.convolution(rows))  # (B, F, windows)
        starts = torch.arange(answers.shape[2], device=answers.device)
        # A window that reaches into padding does not count, except the only one of a sentence shorter than the kernel.
        whole = starts < (batch.lengths[:, None] - _KERNEL + 1).clamp(min=1)
        strongest = answers.masked_fill(~whole.unsqueeze(1), 0).amax(dim=2)
        feature = dropout(strongest, self.dropout, self.training)
        return Prediction(self.output(feature), None)
