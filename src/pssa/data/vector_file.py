"""Rows of a GloVe or word2vec text file: a word and its values, separated by single spaces.

word2vec puts a line "rows dimension" before them. Some words of GloVe 840B contain spaces (". . ."), so the values are
the last fields of a row and the word is whatever stands before them.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pssa.data.packed_text import Observer, read_lines
from pssa.errors import InputError

__all__ = ["VectorRow", "read_rows"]

_HEADER = re.compile(rb"\d{1,12} \d{1,6}")
# No two parts can match the same digits: trying all ways to share a million of them would never end.
_NUMBER = re.compile(rb"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")
_MOST_VALUES = 4096


class VectorRow(NamedTuple):
    """A row whose number of values is right, its values still text: most rows are never parsed."""

    path: Path
    number: int  # of its line, from 1
    line: bytes
    word: bytes
    dimension: int

    def values(self) -> npt.NDArray[np.float32]:
        """(dimension,) the vector.

        :raises InputError: if a value is not a finite number.
        """
        fields = self.line.rsplit(b" ", self.dimension)[1:]
        try:
            with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite and is refused below
                values = np.array(fields, dtype=np.float32)
        except ValueError:
            wrong = next((field for field in fields if not _NUMBER.fullmatch(field)), fields[0])
            raise self._refuse(wrong, "a number") from None
        if not np.isfinite(values).all():
            raise self._refuse(fields[int(np.isfinite(values).argmin())], "a finite number of 32 bits")
        return values

    def _refuse(self, field: bytes, expected: str) -> InputError:
        found = field[:40].decode(errors="replace")
        return InputError.at(self.path, self.number, f"the vector has {found!r} where {expected} is expected")


def read_rows(path: Path, observer: Observer | None = None) -> Iterator[VectorRow]:
    """Yield every row of the file, each checked for its number of values.

    :raises InputError: if the file cannot be read, holds no vectors, or a row has more or fewer values than the first.
    """
    dimension = 0
    for number, line in read_lines(path, observer):
        if number == 1:
            line = line.removeprefix(codecs.BOM_UTF8)
            if _HEADER.fullmatch(line):
                continue
        if dimension:
            yield VectorRow(path, number, line, _word(path, number, line, dimension), dimension)
            continue
        first = _first_row(path, number, line)
        dimension = first.dimension
        yield first
    if not dimension:
        raise InputError.at(path, None, "holds no vectors; expected a word and its values on every line")


def _first_row(path: Path, number: int, line: bytes) -> VectorRow:
    word, _, _ = line.partition(b" ")
    row = VectorRow(path, number, line, word, line.count(b" "))
    if not row.dimension:
        raise InputError.at(path, number, "not a vector; expected a word and its values, separated by spaces")
    if row.dimension > _MOST_VALUES:
        raise InputError.at(path, number, f"a vector of {row.dimension} values; expected at most {_MOST_VALUES}")
    row.values()  # tells prose from vectors even where no row is kept
    return row


def _word(path: Path, number: int, line: bytes, dimension: int) -> bytes:
    spaces = line.count(b" ")
    if spaces == dimension:
        return line[: line.index(b" ")]
    if spaces > dimension:
        word = line.rsplit(b" ", dimension)[0]
        # A number at the end of a word with spaces is a value too many.
        if not _NUMBER.fullmatch(word.rpartition(b" ")[2]):
            return word
    raise InputError.at(path, number, f"the vector has {spaces} values, expected {dimension} as in the first row")
