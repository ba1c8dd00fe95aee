"""Pre-trained word vectors: what a run needs of a large file, and the embedding matrix made of it.

Only kept rows are parsed and held, so memory does not grow with the file. A word without a vector gets one from the
seed and its own letters, uniform and small: the same in every run and whichever other words there are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from pssa.data.files import require_regular, write_atomically
from pssa.data.packed_text import Observer
from pssa.data.validation import format_error
from pssa.data.vector_file import read_rows
from pssa.data.vocabulary import Vocabulary
from pssa.errors import InputError

__all__ = ["Coverage", "Vectors", "embedding_matrix", "load_matrix", "read_vectors", "save_matrix"]

_OOV_BOUND = 0.25
_LONGEST_WORD = 4096  # bytes; a row of a longer one is passed over
_TENSOR = "embedding"


@dataclass(frozen=True, eq=False)
class Vectors:
    """Words and their vectors, in the order of the file."""

    words: tuple[str, ...]
    matrix: npt.NDArray[np.float32]  # (n, d)

    def __len__(self) -> int:
        return len(self.words)

    @property
    def dimension(self) -> int:
        """Number of values in a vector."""
        return int(self.matrix.shape[1])

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.words)}

    def find(self, word: str) -> int | None:
        """The row of the word as it stands, else of its lower-case form."""
        row = self._rows.get(word)
        return self._rows.get(word.lower()) if row is None else row


@dataclass(frozen=True)
class Coverage:
    """How many of the training words have a pre-trained vector, counted once each and as often as they occur."""

    types: int
    covered_types: int
    tokens: int
    covered_tokens: int

    @property
    def type_share(self) -> float:
        """Share of the distinct words; 0 where there are none."""
        return self.covered_types / self.types if self.types else 0.0

    @property
    def token_share(self) -> float:
        """Share of the running words; 0 where there are none."""
        return self.covered_tokens / self.tokens if self.tokens else 0.0


def read_vectors(
    path: str | Path, words: Collection[str], *, extra_rows: int = 50_000, observer: Observer | None = None
) -> Vectors:
    """Read the vectors of `words` and the first `extra_rows` rows, so that words unseen in training have vectors too.

    A word that the file lacks is taken in lower case. Of rows with the same word the first counts. A row whose word is
    not UTF-8, or longer than any, is passed over, since no text contains it.

    :param observer: is told now and then how many bytes of the file are read, of how many.
    :raises InputError: if the file cannot be read, a row has not as many values as the first, or a kept one no number.
    """
    exact = {_encode(word) for word in words}
    lowered = {_encode(word.lower()) for word in words}
    kept: dict[str, bool] = {}  # whether a row stays also where it only stands in for another form of the word
    values = bytearray()  # float32 rows end to end: a list of arrays would be held twice while it is stacked
    dimension = 0
    for place, row in enumerate(read_rows(Path(path), observer)):
        dimension = row.dimension
        stays = place < extra_rows or row.word in exact
        if not stays and row.word not in lowered:
            continue
        if (word := _decode(row.word)) and word not in kept:
            values += row.values().tobytes()
            kept[word] = stays
    stand_ins = {word.lower() for word in words if word not in kept}
    chosen = [place for place, (word, stays) in enumerate(kept.items()) if stays or word in stand_ins]
    names = tuple(kept)
    matrix = np.frombuffer(values, dtype=np.float32).reshape(len(kept), dimension)
    return Vectors(tuple(names[place] for place in chosen), matrix[chosen])


def embedding_matrix(
    vocabulary: Vocabulary, vectors: Vectors | None, dimension: int, seed: int
) -> tuple[npt.NDArray[np.float32], Coverage]:
    """Make the row of every id, (V, d), and count what the vectors cover; the special rows are zero.

    :raises InputError: if the vectors do not have `dimension` values.
    """
    if vectors is not None and vectors.dimension != dimension:
        raise InputError(
            f"the vectors have {vectors.dimension} values and the model expects {dimension}; set it to match"
        )
    matrix = np.zeros((len(vocabulary), dimension), dtype=np.float32)
    covered = np.zeros(len(vocabulary), dtype=bool)
    for number in range(vocabulary.n_special, len(vocabulary)):
        word = vocabulary.words[number]
        row = None if vectors is None else vectors.find(word)
        if vectors is None or row is None:
            matrix[number] = _oov_row(word, dimension, seed)
        else:
            matrix[number], covered[number] = vectors.matrix[row], True
    return matrix, _coverage(vocabulary, covered)


def save_matrix(path: str | Path, matrix: npt.NDArray[np.float32]) -> None:
    """Write an embedding matrix as safetensors, to be found again beside the run."""
    write_atomically(path, save({_TENSOR: np.ascontiguousarray(matrix)}))


def load_matrix(path: str | Path) -> npt.NDArray[np.float32]:
    """Read what `save_matrix` wrote.

    :raises InputError: if the file is missing, damaged or holds something else.
    """
    try:
        require_regular(path)
        tensors = load_file(path)
    except (OSError, SafetensorError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError.at(
            path, None, f"the embedding matrix cannot be read: {format_error(error)}; make it again"
        ) from error
    matrix = tensors.get(_TENSOR)
    if matrix is None or matrix.ndim != 2 or matrix.dtype != np.float32:
        raise InputError.at(path, None, f"expected one float32 matrix named {_TENSOR}; make the file again")
    return np.asarray(matrix)


def _encode(word: str) -> bytes:
    return word.encode("utf-8", "surrogatepass")  # JSON can smuggle half a pair into a text


def _decode(word: bytes) -> str | None:
    try:
        return word.decode() if len(word) <= _LONGEST_WORD else None
    except UnicodeDecodeError:
        return None


def _oov_row(word: str, dimension: int, seed: int) -> npt.NDArray[np.float64]:
    # Hashed rather than drawn: no word's row depends on another's, nor on the generator of a numpy version.
    digest = hashlib.shake_256(f"{seed} ".encode() + _encode(word)).digest(4 * dimension)
    return np.frombuffer(digest, dtype="<u4") * (2 * _OOV_BOUND / 2**32) - _OOV_BOUND


def _coverage(vocabulary: Vocabulary, covered: npt.NDArray[np.bool_]) -> Coverage:
    trained = covered[vocabulary.n_special : vocabulary.n_trained]
    counts = np.asarray(vocabulary.counts, dtype=np.int64)
    return Coverage(
        types=trained.size,
        covered_types=int(trained.sum()),
        tokens=int(counts.sum()),
        covered_tokens=int(counts[trained].sum()) if counts.size else 0,
    )
