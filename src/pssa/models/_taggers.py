"""Taggers: models that give each word of a sentence a tag, B (an aspect begins), I (it continues) or O (outside).

They have the two calls of a classifier, `encode` and `classify`; their logits are (B, 3, N), a column for each word.

- `WordTagger`: word vectors and a convolution over the characters of each word (Ma and Hovy 2016), then a Bi-LSTM.
- `EncoderTagger`: a pretrained encoder; a word is represented by its first piece.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from pssa.errors import InputError
from pssa.models._encoder import PieceEncoder, draw_linear
from pssa.models._layers import WordTable, check_options, dropout, lookup, reset_parameters
from pssa.models._pretrained import Pretrained
from pssa.models._protocol import Batch, Encoding, Prediction
from pssa.models.tnet import BidirectionalLSTM

MAX_LETTERS = 20  # of a word that are read: its first and its last
CHARACTERS = 256  # ids: 0 is padding, the last is shared by all characters that are not ASCII or Latin
_MAX_UNITS = 10**6  # of a layer


@dataclass(frozen=True)
class WordTaggerOptions:
    """What can be chosen about `WordTagger`."""

    hidden: int = 100  # LSTM units per direction
    letter_width: int = 30  # of a character's vector
    letter_filters: int = 50  # of the convolution over characters
    dropout: float = 0.5  # on what enters the LSTM and on what leaves it
    initial_bound: float = 0.1  # LSTM and output start uniformly in [-bound, bound]

    def __post_init__(self) -> None:
        positive = ("hidden", "letter_width", "letter_filters", "initial_bound")
        check_options(self, shares=("dropout",), positive=positive)
        if max(self.hidden, self.letter_width, self.letter_filters) > _MAX_UNITS:
            raise InputError(f"options describe layers of more than {_MAX_UNITS} units")


class WordTagger(nn.Module):
    """A Bi-LSTM on word vectors, which stay as they are, and on the characters of each word."""

    options = WordTaggerOptions
    reads = "words"
    attends = False

    def __init__(self, table: WordTable, n_labels: int, options: WordTaggerOptions, seed: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        width = table.dimension + options.letter_filters
        # Without values of its own: drawing them on the device "meta", where a saved model is measured, loads torch's compiler.
        empty = torch.empty(CHARACTERS, options.letter_width)
        self.letters = nn.Embedding(CHARACTERS, options.letter_width, _weight=empty)
        self.shapes = nn.Conv1d(options.letter_width, options.letter_filters, 3, padding=1)
        self.context = BidirectionalLSTM(width, options.hidden, tied=False)
        self.output = nn.Linear(2 * options.hidden, n_labels)
        reset_parameters(self, options.initial_bound, generator)
        start, unseen = table.divide(trainable=False)
        self.words = nn.Parameter(start)
        self.register_buffer("unseen", unseen)
        self.dropout = options.dropout

    def encode(self, batch: Batch) -> Encoding:
        """Represent each word by its context."""
        ids, letters = batch.positions[..., 0], batch.positions[..., 1:]
        rows = lookup(self.words, self.get_buffer("unseen"), ids)
        n_rows, n_words, n_letters = letters.shape
        vectors = self.letters(letters.reshape(n_rows * n_words, n_letters)).transpose(1, 2)
        # The strongest answer of each filter anywhere in a word.
        shapes = functional.relu(self.shapes(vectors)).amax(dim=2).view(n_rows, n_words, -1)
        rows = torch.cat([rows, shapes], dim=-1)
        states, last = self.context(dropout(rows, self.dropout, self.training), batch.lengths)
        return Encoding(dropout(states, self.dropout, self.training), last)

    def classify(self, encoding: Encoding, batch: Batch) -> Prediction:
        """Score the tags of each word."""
        return Prediction(self.output(encoding.words).transpose(1, 2), None)


@dataclass(frozen=True)
class EncoderTaggerOptions:
    """What can be chosen about `EncoderTagger`."""

    dropout: float = 0.1  # in the encoder and on its states

    def __post_init__(self) -> None:
        check_options(self, shares=("dropout",), positive=())


class EncoderTagger(nn.Module):
    """A linear layer on a pretrained encoder."""

    options = EncoderTaggerOptions
    reads = "pieces"
    attends = False

    def __init__(self, table: Pretrained, n_labels: int, options: EncoderTaggerOptions, seed: int) -> None:
        super().__init__()
        self.encoder = PieceEncoder(table, options.dropout, "none", seed)
        self.output = draw_linear(table.dimension, n_labels, torch.Generator().manual_seed(seed))
        self.dropout = options.dropout

    def encode(self, batch: Batch) -> Encoding:
        """Represent each piece."""
        states, _ = self.encoder(batch)
        return Encoding(states, states[:, 0])

    def classify(self, encoding: Encoding, batch: Batch) -> Prediction:
        """Score the tags of each word by its first piece."""
        first = _first_positions(batch.word_of, batch.candidates.shape[1])
        states = encoding.words.gather(1, first.unsqueeze(-1).expand(-1, -1, encoding.words.shape[-1]))
        return Prediction(self.output(dropout(states, self.dropout, self.training)).transpose(1, 2), None)


def _first_positions(word_of: Tensor, n_words: int) -> Tensor:
    """(B, N) the first position of each word; 0 for a word without any."""
    n_rows, n_positions = word_of.shape
    places = torch.arange(n_positions, device=word_of.device).expand(n_rows, -1)
    first = torch.full((n_rows, n_words + 1), n_positions, device=word_of.device)
    # Positions of no word are collected in a column of their own.
    first = first.scatter_reduce(1, torch.where(word_of >= 0, word_of, n_words), places, "amin")[:, :n_words]
    return first.masked_fill(first == n_positions, 0)
