"""TNet (Li et al. 2018): transformed word states, a convolution over them, and the strongest answer of each filter.

h(x) = CPT(CPT(BiLSTM(x))). Each context-preserving transformation attends from a word to the aspect's states, merges the two,
preserves the context by a gate (`adaptive`) or by addition (`lossless`), and weighs words by their distance from the aspect.

TNet has no attention on top, so attention weights can neither be mined nor supervised here; TNet-ATT, its attentional variant,
shares all but the convolution.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from pssa.errors import InputError
from pssa.models._layers import WordTable, check_options, dropout, lookup, masked_softmax, reset_parameters
from pssa.models._protocol import Batch, Encoding, Prediction

__all__ = ["TNet"]

_KERNEL = 3
# Words further than this from the aspect have weight zero.
_REACH = 40
_LAYERS = 2


@dataclass(frozen=True)
class TransformationOptions:
    """What can be chosen about the body of TNet and TNet-ATT."""

    hidden: int = 50  # LSTM units per direction
    tied: bool = False  # one LSTM reads both directions, as in the released code
    gating: str = "lossless"  # or "adaptive": the two context-preserving mechanisms (chosen on held-out data)
    train_embeddings: bool = False  # change the word vectors in training
    dropout: float = 0.3  # on the word vectors that enter the LSTMs and on the final representation
    initial_bound: float = 0.05  # other parameters start uniformly in [-bound, bound]; 0.01 stays on a plateau for long

    def __post_init__(self) -> None:
        check_options(self, shares=("dropout",), positive=("hidden", "initial_bound"))
        if self.gating not in ("adaptive", "lossless"):
            raise InputError(f"gating is {self.gating!r}; it can be adaptive or lossless")


class TransformationEncoder(nn.Module):
    """h(x) and v(t) of a batch."""

    def __init__(self, table: WordTable, options: TransformationOptions, generator: torch.Generator) -> None:
        super().__init__()
        width = 2 * options.hidden
        self.context = BidirectionalLSTM(table.dimension, options.hidden, options.tied)
        self.target = BidirectionalLSTM(table.dimension, options.hidden, options.tied)
        self.merge = nn.Linear(2 * width, width)
        self.gate = nn.Linear(width, width) if options.gating == "adaptive" else None
        reset_parameters(self, options.initial_bound, generator)
        start, unseen = table.divide(options.train_embeddings)
        self.words = nn.Parameter(start)
        self.register_buffer("unseen", unseen)
        self.dropout = options.dropout

    def forward(self, batch: Batch, add: Callable[[Tensor], Tensor] | None = None) -> Encoding:
        """Encode words and aspect; `add` may change the vectors (B, P, W) of the sentence's words."""
        target, aspect = self.target(self._rows(batch.aspect), (batch.aspect > 0).sum(1))
        rows = self._rows(batch.positions)
        words, _ = self.context(add(rows) if add else rows, batch.lengths)
        weights = proximity(batch).unsqueeze(-1)
        for _ in range(_LAYERS):
            words = self._transform(words, target, batch.aspect > 0) * weights
        return Encoding(words, aspect)

    def _transform(self, words: Tensor, target: Tensor, real: Tensor) -> Tensor:
        scores = words @ target.transpose(1, 2)  # (B, P, M)
        about = masked_softmax(scores, real.unsqueeze(1)) @ target
        merged = self.merge(torch.cat([words, about], dim=-1))
        if self.gate is None:
            return functional.relu(merged) + words
        keep = torch.sigmoid(self.gate(words))
        return keep * torch.tanh(merged) + (1 - keep) * words

    def _rows(self, ids: Tensor) -> Tensor:
        return dropout(lookup(self.words, self.get_buffer("unseen"), ids), self.dropout, self.training)


class BidirectionalLSTM(nn.Module):
    """States of both directions (B, L, 2H) and the last state of each, joined (B, 2H); padding is never read."""

    def __init__(self, width: int, hidden: int, tied: bool) -> None:
        super().__init__()
        self.forwards = nn.LSTM(width, hidden, batch_first=True)
        # Tied: no second name for the same weights, which a file of tensors would refuse.
        self.backwards = None if tied else nn.LSTM(width, hidden, batch_first=True)

    def forward(self, rows: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Read `rows` (B, L, W), of which the first `lengths` (B,) are real."""
        places = torch.arange(rows.shape[1], device=rows.device)
        # Rows reversed within their own length: padding stays at the right, where a causal LSTM cannot see it.
        backwards = (lengths[:, None] - 1 - places).clamp(min=0)
        first, _ = self.forwards(rows)
        second, _ = (self.forwards if self.backwards is None else self.backwards)(_take(rows, backwards))
        real = (places < lengths[:, None]).unsqueeze(-1)
        states = torch.cat([first, _take(second, backwards)], dim=-1) * real
        end = (lengths - 1)[:, None]
        return states, torch.cat([_take(first, end), _take(second, end)], dim=-1).squeeze(1)


def proximity(batch: Batch) -> Tensor:
    """(B, P) weight of each word: one at the aspect's first word, falling with the distance, zero on padding."""
    first, last = batch.aspect_span[:, :1], batch.aspect_span[:, 1:] - 1
    distance = torch.where(batch.word_of < first, last - batch.word_of, batch.word_of - first)
    return (1 - distance / _REACH).clamp(min=0) * batch.real


def _take(rows: Tensor, places: Tensor) -> Tensor:
    """Return the rows (B, K, W) at `places` (B, K) of `rows` (B, L, W), copied whole: ten times as fast as by element."""
    n_rows, length, width = rows.shape
    starts = torch.arange(n_rows, device=rows.device)[:, None] * length
    return rows.flatten(0, 1).index_select(0, (places + starts).flatten()).view(n_rows, -1, width)


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
