"""Featurizers: how examples become tensors, and what a model is built from.

A `WordFeaturizer` is a vocabulary with its vectors, a `PieceFeaturizer` a pretrained encoder with its tokenizer. Every model's
folder holds its featurizer, so that the folder is all that loading the model takes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path

import torch

from pssa import models
from pssa.data.example import Corpus, Example
from pssa.data.vectors import Coverage, embedding_matrix, load_matrix, read_vectors_once, save_matrix
from pssa.data.vocabulary import Vocabulary
from pssa.errors import InputError
from pssa.models import IndexedCorpus, Pretrained, WordTable, index_words
from pssa.models._pieces import PieceCutter
from pssa.models._plain_tokenizer import ReadPieces
from pssa.runs.directory import naming_damage, read_json, write_json
from pssa.runs.settings import Config

_FOLDER = "encoder"
_VECTORS, _MATERIALS = "stages/vectors.safetensors", "stages/materials.json"  # of an interrupted training
_LEAST_WINDOW = 256  # words


@dataclass(frozen=True)
class WordFeaturizer:
    """A vocabulary, and the vectors that models start from."""

    vocabulary: Vocabulary
    table: WordTable
    max_words: int = 0  # that are read of a text, around the aspect; 0: all

    @property
    def max_positions(self) -> int:
        """Longest row that a model reads."""
        return self.max_words or sys.maxsize

    def cut(self, examples: Sequence[Example]) -> Sequence[Example]:
        """Return the examples as they are."""
        return examples

    def read(self, examples: Sequence[Example]) -> None:
        """Do nothing: words are looked up by `index`."""

    def index(
        self, examples: Sequence[Example], labels: Sequence[str], read: ReadPieces | None = None
    ) -> IndexedCorpus:
        """Return the examples as tensors in which a position is a word."""
        return index_words(examples, self.vocabulary, labels, self.max_positions)

    def save(self, folder: Path) -> None:
        """Write the words; vectors are among the model's weights."""
        self.vocabulary.save(folder / "vocabulary.json")

    @classmethod
    def load(cls, folder: Path, dimension: int, max_words: int = 0) -> WordFeaturizer:
        """Read the words; vectors are zero until the weights fill them, and take no memory before that is sure."""
        vocabulary = Vocabulary.load(folder / "vocabulary.json")
        table = WordTable(torch.zeros(()).expand(len(vocabulary), dimension), vocabulary.n_trained)
        return cls(vocabulary, table, max_words)


@dataclass(frozen=True)
class PieceFeaturizer:
    """A pretrained encoder and how sentences are cut for it."""

    table: Pretrained
    pair: bool  # whether the aspect follows the sentence as a second segment
    max_pieces: int | None = None  # None: as many as the encoder can read
    unit: str = "word"  # of UNITS

    @cached_property
    def cutter(self) -> PieceCutter:
        """The tokenizer of sentences."""
        return self.table.cutter(self.pair, self.max_pieces or 0)

    @property
    def max_positions(self) -> int:
        """Longest row that a model can read."""
        return self.cutter.max_positions

    def cut(self, examples: Sequence[Example]) -> Sequence[Example]:
        """Return the examples with the words of evidence and explanations: pieces, where that is the unit.

        Examples that are cut already stay as they are.
        """
        return [self.cutter.recut(example) for example in examples] if self.unit == "piece" else examples

    def read(self, examples: Sequence[Example]) -> ReadPieces | None:
        """Tokenise the examples, once cut, ahead of `index`; other threads of Python can run meanwhile."""
        return self.cutter.read(examples)

    def index(
        self, examples: Sequence[Example], labels: Sequence[str], read: ReadPieces | None = None
    ) -> IndexedCorpus:
        """Return the examples, once cut, as tensors in which a position is a piece of a word.

        :param read: what `read` returned, if it was called before.
        """
        return IndexedCorpus.of(self.cutter.features(examples, labels, read))

    def save(self, folder: Path) -> None:
        """Write the encoder's configuration and tokenizer; its weights are among the model's."""
        self.table.save(folder / _FOLDER)

    @classmethod
    def load(cls, folder: Path, pair: bool, max_pieces: int | None, unit: str) -> PieceFeaturizer:
        """Read them back, without a network."""
        return cls(Pretrained.load(folder / _FOLDER), pair, max_pieces, unit)


Featurizer = WordFeaturizer | PieceFeaturizer


def open_featurizer(
    config: Config, corpus: Corpus, observer: Callable[[int, int], None] | None, cache: Path | None
) -> tuple[Featurizer, Coverage | None]:
    """Build the featurizer of a new run, and measure how much of the corpus a vector file covers."""
    data = config.data
    if models.uses_encoder(config.model):
        pair = models.reads_pairs(config.model)
        featurizer = PieceFeaturizer(Pretrained.open(data.encoder or ""), pair, data.max_pieces, data.unit)
        # Incomplete weights, or more pieces than the encoder can read, are found now and not in the first stage.
        models.build(config.model, featurizer.table, len(data.labels), config.options, config.seed)
        featurizer.table.cutter(pair, data.max_pieces or 0)
        return featurizer, None
    vectors, words = None, [word for example in corpus for word in example.words]
    if data.vectors:
        vectors = read_vectors_once(data.vectors, set(words), cache, extra_rows=data.vector_rows, observer=observer)
    vocabulary = Vocabulary.build(words, vectors.words if vectors else ())
    matrix, coverage = embedding_matrix(
        vocabulary, vectors, vectors.dimension if vectors else data.dimension, config.seed
    )
    table = WordTable(torch.from_numpy(matrix), vocabulary.n_trained)
    return WordFeaturizer(vocabulary, table, choose_window(corpus)), coverage if vectors else None


def choose_window(corpus: Corpus) -> int:
    """Return how many words around its aspect are read of a text: twice those of the longest training text, and not few."""
    return max(_LEAST_WINDOW, 2 * max(len(example.spans) for example in corpus))


def save_start(
    root: Path, featurizer: Featurizer, coverage: Coverage | None, dropped: Mapping[str, int] | None = None
) -> None:
    """Keep what an interrupted training starts from again.

    :param dropped: counts of the instances that its data has lost, by reason.
    """
    table = featurizer.table
    if isinstance(table, WordTable):
        save_matrix(root / _VECTORS, table.matrix.numpy())
    known = {
        "dropped": dict(dropped or {}),
        "coverage": asdict(coverage) if coverage else None,
        "encoder": table.digest() if isinstance(table, Pretrained) else None,
    }
    write_json(root / _MATERIALS, known)
    featurizer.save(root)


def read_start(root: Path) -> tuple[dict[str, int], Coverage | None, str | None]:
    """Return what `save_start` noted: the dropped instances, the coverage, and the digest of the encoder's weights."""
    path = root / _MATERIALS
    known = read_json(path)
    with naming_damage(path, AttributeError, KeyError, TypeError, ValueError, advice="start the training again"):
        dropped = {str(reason): int(count) for reason, count in known.get("dropped", {}).items()}
        coverage = Coverage(**known["coverage"]) if known["coverage"] else None
        return dropped, coverage, known.get("encoder")


def reopen_featurizer(config: Config, root: Path, digest: str | None) -> Featurizer:
    """Return the featurizer of an interrupted run.

    :param digest: of the encoder's weights when the run began.
    """
    data = config.data
    if not models.uses_encoder(config.model):
        vocabulary, matrix = Vocabulary.load(root / "vocabulary.json"), load_matrix(root / _VECTORS)
        return WordFeaturizer(vocabulary, WordTable(torch.from_numpy(matrix), vocabulary.n_trained))
    featurizer = PieceFeaturizer.load(root, models.reads_pairs(config.model), data.max_pieces, data.unit)
    if data.from_pretrained:  # the weights are in the run
        return featurizer
    encoder = data.encoder or ""
    try:
        found = Pretrained.open(encoder)
    except InputError as error:
        raise InputError(f"{root} needs its encoder, {encoder}, to be resumed: {error.message}") from error
    if found.digest() != digest:
        raise InputError(f"the weights of {encoder} are not those the run began with; put the old ones back")
    return replace(featurizer, table=replace(featurizer.table, weights=found.weights))
