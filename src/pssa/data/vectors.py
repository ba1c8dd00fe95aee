"""Pre-trained word vectors: reading a large file, caching what a run needs of it, and building the embedding matrix.

A GloVe or word2vec text file has a word and its values on each line, separated by single spaces. word2vec puts a line "rows
dimension" before them. Some words of GloVe 840B contain spaces (". . ."), so the values are the last fields of a row and the word
is whatever comes before them. Only the rows that are kept are parsed and held, so that memory does not grow with the file.
A word without a vector gets a small uniform one from the seed and its own letters: the same in every run and whatever the other
words.
"""

from __future__ import annotations

import codecs
import contextlib
import hashlib
import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load_file, save

from pssa.data.files import require_regular, write_atomically
from pssa.data.text_file import Observer, read_packed
from pssa.data.validation import format_error
from pssa.data.vocabulary import Vocabulary
from pssa.errors import InputError

_HEADER = re.compile(rb"\d{1,12} \d{1,6}")
# No two parts match the same digits: trying all ways to divide a million of them would take forever.
_NUMBER = re.compile(rb"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")
_MAX_VALUES = 4096
_OOV_BOUND = 0.25
_MAX_WORD = 4096  # bytes; rows of longer words are skipped
_TENSOR = "embedding"

# Number and word of a line, the line, and the number of values: most rows are never parsed.
VectorRow = tuple[int, bytes, bytes, int]
CACHE_FOLDER = ".pssa-vectors"  # beside the runs that read vectors


@dataclass(frozen=True, eq=False)
class Vectors:
    """Words and their vectors, in the order of the file."""

    words: tuple[str, ...]
    matrix: npt.NDArray[np.float32]  # (n, d)

    def __len__(self) -> int:
        return len(self.words)

    @property
    def dimension(self) -> int:
        """Number of values of a vector."""
        return int(self.matrix.shape[1])

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.words)}

    def find(self, word: str) -> int | None:
        """Return the row of the word or, if it has none, of its lower-case form."""
        row = self._rows.get(word)
        return self._rows.get(word.lower()) if row is None else row


@dataclass(frozen=True)
class Coverage:
    """How many of the training words have a pre-trained vector: distinct words (types) and running words (tokens)."""

    types: int
    covered_types: int
    tokens: int
    covered_tokens: int

    @property
    def type_share(self) -> float:
        """Share of the distinct words; 0 if there are none."""
        return self.covered_types / self.types if self.types else 0.0

    @property
    def token_share(self) -> float:
        """Share of the running words; 0 if there are none."""
        return self.covered_tokens / self.tokens if self.tokens else 0.0


def read_vectors(
    path: str | Path, words: Collection[str], *, extra_rows: int = 50_000, observer: Observer | None = None
) -> Vectors:
    """Read the vectors of `words` and the first `extra_rows` rows, so that words unseen in training have vectors too.

    A word that the file lacks is looked up in lower case. Of rows with the same word the first counts. A row whose word is
    not UTF-8, or too long, is skipped, since no text contains it.

    :param observer: called now and then with the bytes read so far and the size of the file.
    :raises InputError: if the file cannot be read, a row has more or fewer values than the first, or a kept value is not a
        number.
    """
    path = Path(path)
    exact = {_encode(word) for word in words}
    lowered = {_encode(word.lower()) for word in words}
    kept: dict[str, bool] = {}  # whether a row is kept even if it is not needed as the lower-case form of a word
    values = bytearray()  # float32 rows end to end: a list of arrays would be in memory twice while it is stacked
    dimension = 0
    for place, (number, raw, line, dimension) in enumerate(_read_rows(path, observer)):
        is_kept = place < extra_rows or raw in exact
        if not is_kept and raw not in lowered:
            continue
        try:
            word = raw.decode() if len(raw) <= _MAX_WORD else ""
        except UnicodeDecodeError:
            continue
        if word and word not in kept:
            values += _values(path, number, line, dimension).tobytes()
            kept[word] = is_kept
    stand_ins = {word.lower() for word in words if word not in kept}
    chosen = [place for place, (word, is_kept) in enumerate(kept.items()) if is_kept or word in stand_ins]
    names = tuple(kept)
    matrix = np.frombuffer(values, dtype=np.float32).reshape(len(kept), dimension)
    return Vectors(tuple(names[place] for place in chosen), matrix[chosen])


def read_vectors_once(
    path: str | Path, words: Collection[str], folder: Path | None, *, extra_rows: int, observer: Observer | None = None
) -> Vectors:
    """Return what `read_vectors` does, from a cache in `folder` if it was read before; None for no cache.

    A cache entry is found by the file's name, size and time, the words and the number of extra rows. A damaged entry is
    replaced.
    """
    if folder is None:
        return read_vectors(path, words, extra_rows=extra_rows, observer=observer)
    # `read_vectors` reports a missing file.
    known = Path(path).stat() if Path(path).is_file() else None
    facts = (known.st_size, known.st_mtime_ns) if known else ()
    key = repr((str(Path(path).resolve()), facts, extra_rows, sorted(words)))
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:20]
    entry = folder / f"{digest}.safetensors"
    if (cached := _load_cached(entry)) is not None:
        return cached
    vectors = read_vectors(path, words, extra_rows=extra_rows, observer=observer)
    # Without room for a cache, continue without one.
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(entry, save({"matrix": vectors.matrix}, {"words": json.dumps(vectors.words)}))
    return vectors


def embedding_matrix(
    vocabulary: Vocabulary, vectors: Vectors | None, dimension: int, seed: int
) -> tuple[npt.NDArray[np.float32], Coverage]:
    """Return the matrix with a row for every id, (V, d), and the coverage of the vectors; special rows are zero."""
    if vectors is not None and vectors.dimension != dimension:
        what = f"the vectors have {vectors.dimension} values and the model expects {dimension}"
        raise InputError(f"{what}; use the same number for both")
    matrix = np.zeros((len(vocabulary), dimension), dtype=np.float32)
    covered = np.zeros(len(vocabulary), dtype=bool)
    for number in range(vocabulary.n_special, len(vocabulary)):
        word = vocabulary.words[number]
        row = None if vectors is None else vectors.find(word)
        if vectors is None or row is None:
            matrix[number] = _oov_row(word, dimension, seed)
        else:
            matrix[number], covered[number] = vectors.matrix[row], True
    trained = covered[vocabulary.n_special : vocabulary.n_trained]
    counts = np.asarray(vocabulary.counts, dtype=np.int64)
    n_covered = int(counts[trained].sum()) if counts.size else 0
    return matrix, Coverage(trained.size, int(trained.sum()), int(counts.sum()), n_covered)


def save_matrix(path: str | Path, matrix: npt.NDArray[np.floating]) -> None:
    """Write an embedding matrix, of single or half precision, as safetensors."""
    write_atomically(path, save({_TENSOR: np.ascontiguousarray(matrix)}))


def load_matrix(path: str | Path) -> npt.NDArray[np.float32]:
    """Read what `save_matrix` wrote, in single precision."""
    try:
        require_regular(path)
        tensors = load_file(path)
    except (OSError, SafetensorError, AttributeError, KeyError, TypeError, ValueError) as error:
        what = f"is not a readable embedding matrix: {format_error(error)}; create it again"
        raise InputError.at(path, None, what) from error
    matrix = tensors.get(_TENSOR)
    if matrix is None or matrix.ndim != 2 or matrix.dtype not in (np.float32, np.float16):
        raise InputError.at(path, None, f"has no matrix of floats named {_TENSOR}; create it again")
    return np.asarray(matrix, dtype=np.float32)


def _read_rows(path: Path, observer: Observer | None = None) -> Iterator[VectorRow]:
    """Yield every row of the file, each checked for its number of values; refuse a file without any."""
    dimension = 0
    for number, line in read_packed(path, observer):
        if number == 1:
            line = line.removeprefix(codecs.BOM_UTF8)
            if _HEADER.fullmatch(line):
                continue
        if not dimension:
            dimension = line.count(b" ")
            if not dimension:
                expected = "expected a word and its values, separated by spaces"
                raise InputError.at(path, number, f"is not a vector; {expected}")
            if dimension > _MAX_VALUES:
                raise InputError.at(path, number, f"has {dimension} values; expected at most {_MAX_VALUES}")
            _values(path, number, line, dimension)  # tells prose from vectors even if no row is kept
        yield number, _word(path, number, line, dimension), line, dimension
    if not dimension:
        raise InputError.at(path, None, "has no vectors; expected a word and its values on every line")


def _values(path: Path, number: int, line: bytes, dimension: int) -> npt.NDArray[np.float32]:
    """Return the vector in a line, (dimension,); refuse a value that is not a finite number."""
    fields = line.rsplit(b" ", dimension)[1:]
    try:
        with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite, which is refused below
            values = np.array(fields, dtype=np.float32)
        finite = np.isfinite(values)
        if finite.all():
            return values
        wrong, expected = fields[int(finite.argmin())], "a finite number of 32 bits"
    except ValueError:
        wrong, expected = next((field for field in fields if not _NUMBER.fullmatch(field)), fields[0]), "a number"
    found = wrong[:40].decode(errors="replace")
    raise InputError.at(path, number, f"has the value {found!r}; expected {expected}")


def _word(path: Path, number: int, line: bytes, dimension: int) -> bytes:
    spaces = line.count(b" ")
    if spaces == dimension:
        return line[: line.index(b" ")]
    if spaces > dimension:
        word = line.rsplit(b" ", dimension)[0]
        # A number at the end of a word with spaces is one value too many.
        if not _NUMBER.fullmatch(word.rpartition(b" ")[2]):
            return word
    raise InputError.at(path, number, f"has {spaces} values; expected {dimension} as in the first row")


def _load_cached(entry: Path) -> Vectors | None:
    if not entry.is_file():
        return None
    try:
        with safe_open(entry, framework="numpy") as handle:
            return Vectors(tuple(json.loads(handle.metadata()["words"])), handle.get_tensor("matrix"))
    except (SafetensorError, OSError, AttributeError, KeyError, TypeError, ValueError, RecursionError):
        return None


def _encode(word: str) -> bytes:
    return word.encode("utf-8", "surrogatepass")  # JSON can put half a surrogate pair into a text


def _oov_row(word: str, dimension: int, seed: int) -> npt.NDArray[np.float64]:
    # Hashed rather than drawn: no word's row depends on another's, nor on the generator of a numpy version.
    digest = hashlib.shake_256(f"{seed} ".encode() + _encode(word)).digest(4 * dimension)
    return np.frombuffer(digest, dtype="<u4") * (2 * _OOV_BOUND / 2**32) - _OOV_BOUND
