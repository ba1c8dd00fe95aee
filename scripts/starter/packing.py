"""Which word vectors fit into the starter, and what the result weighs."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pssa.aspects.find import FOLDER
from pssa.data.vectors import Vectors, read_vectors
from pssa.data.vocabulary import Vocabulary
from pssa.runs.compact import write_compact

__all__ = ["choose_words", "size_of"]

_BYTES = 2  # of a number
_LEAST_COUNT = 3  # of a training word without a vector: its row, drawn at random, says nothing but which word it is
_CARD_BYTES = 6_000  # the final card is longer than the one it replaces


def choose_words(run: Path, vectors_file: Path, max_bytes: int) -> list[str]:
    """Return the words whose vectors to keep: those of the training corpora, then the first of the file while they fit."""
    own = Vocabulary.load(run / "vocabulary.json")
    vectors = read_vectors(vectors_file, own.training_words)
    known = set(own.words) & set(Vocabulary.load(run / FOLDER / "vocabulary.json").words)
    left = max_bytes - _CARD_BYTES - _bytes_without_words(run)
    chosen: list[str] = []
    for word in dict.fromkeys((*_training_words(own, vectors), *vectors.words)):
        if word not in known:
            continue
        left -= _BYTES * vectors.dimension + len(json.dumps(word) + ", ") + len("99, ")
        if left < 0:
            break
        chosen.append(word)
    return chosen


def _training_words(vocabulary: Vocabulary, vectors: Vectors) -> Iterator[str]:
    """Yield the words under which the vectors of training words are found, the most frequent first."""
    available = set(vectors.words)
    for word, count in zip(vocabulary.training_words, vocabulary.counts, strict=True):
        if word in available:
            yield word
        elif word.lower() in available:
            yield word.lower()
        elif count >= _LEAST_COUNT:
            yield word


def _bytes_without_words(run: Path) -> int:
    with tempfile.TemporaryDirectory() as folder:
        return size_of(write_compact(run, Path(folder) / "bare", words=()))


def size_of(folder: Path) -> int:
    """Return the bytes of all files."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
