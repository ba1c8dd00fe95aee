"""What a run's models read: how examples become tensors, and what a model is built from.

`WordFeaturizer` is a vocabulary with its vectors, `PieceFeaturizer` a pretrained encoder with its tokenizer. Every model's folder
holds its featurizer, so that the folder is all that loading the model takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

import torch

from pssa.data.batch import IndexedCorpus, index_words
from pssa.data.example import Example
from pssa.data.pieces import PieceCutter
from pssa.data.vocabulary import Vocabulary
from pssa.models import Pretrained, WordTable

__all__ = ["UNITS", "Featurizer", "PieceFeaturizer", "WordFeaturizer"]

UNITS = ("word", "piece")
_FOLDER = "encoder"


class Featurizer(Protocol):
    """What the models of one run read."""

    @property
    def table(self) -> WordTable | Pretrained:
        """What a model is built from."""
        ...

    def cut(self, examples: Sequence[Example]) -> Sequence[Example]:
        """The examples with the words that evidence and explanations speak of; a second time changes nothing."""
        ...

    def index(self, examples: Sequence[Example], labels: Sequence[str]) -> IndexedCorpus:
        """Examples, once cut, as tensors."""
        ...

    def save(self, folder: Path) -> None:
        """Leave in `folder` what loading a model there needs, besides its weights."""
        ...


@dataclass(frozen=True)
class WordFeaturizer:
    """Words, and the vectors that models start from."""

    vocabulary: Vocabulary
    table: WordTable

    def cut(self, examples: Sequence[Example]) -> Sequence[Example]:
        """The examples as they are."""
        return examples

    def index(self, examples: Sequence[Example], labels: Sequence[str]) -> IndexedCorpus:
        """A position is a word."""
        return index_words(examples, self.vocabulary, labels)

    def save(self, folder: Path) -> None:
        """Write the words; vectors are among the model's weights."""
        self.vocabulary.save(folder / "vocabulary.json")

    @classmethod
    def load(cls, folder: Path, dimension: int) -> WordFeaturizer:
        """Read the words; vectors are zero until the weights fill them, and take no memory before that is sure."""
        vocabulary = Vocabulary.load(folder / "vocabulary.json")
        return cls(vocabulary, WordTable(torch.zeros(()).expand(len(vocabulary), dimension), vocabulary.n_trained))


@dataclass(frozen=True)
class PieceFeaturizer:
    """A pretrained encoder and how sentences are cut for it."""

    table: Pretrained
    pair: bool  # whether the aspect follows the sentence as a second segment
    max_pieces: int = 0  # 0: as many as the encoder can read
    unit: str = "word"  # of UNITS

    @cached_property
    def cutter(self) -> PieceCutter:
        """Cuts sentences into pieces."""
        return self.table.cutter(self.pair, self.max_pieces)

    def index(self, examples: Sequence[Example], labels: Sequence[str]) -> IndexedCorpus:
        """A position is a piece of a word."""
        return self.cutter.index(examples, labels)

    def cut(self, examples: Sequence[Example]) -> Sequence[Example]:
        """The examples, with pieces for words where that is the unit."""
        return [self.cutter.recut(example) for example in examples] if self.unit == "piece" else examples

    def save(self, folder: Path) -> None:
        """Write the encoder's configuration and tokenizer; its weights are among the model's."""
        self.table.save(folder / _FOLDER)

    @classmethod
    def load(cls, folder: Path, pair: bool, max_pieces: int, unit: str) -> PieceFeaturizer:
        """Read them back; no hub is asked."""
        return cls(Pretrained.load(folder / _FOLDER), pair, max_pieces, unit)
