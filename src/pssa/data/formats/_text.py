"""Text files, plain or `.gz`: lines with their numbers, and refusal of what is no text.

Lines end at a line feed and nowhere else, so that characters such as U+2028 stay inside a text. Bytes that are not
UTF-8 are kept as lone surrogates: the row that holds them can be reported, and the rows after it still be read. No line may
be so long that holding it would matter.
"""

from __future__ import annotations

import codecs
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import BinaryIO, cast

from pssa.data.bounded import MOST_BLANK_LINES, Unpacked
from pssa.data.shown import told
from pssa.errors import EmptyFile, InputError

__all__ = ["LONGEST_TEXT", "decoding_fault", "lines", "open_text", "require_file", "starts_with"]

LONGEST_TEXT = 100_000  # characters of one instance; more is no sentence
_LONGEST_LINE = 1 << 22  # bytes
_BUFFER = 1 << 16
_UNDECODED = re.compile("[\udc80-\udcff]")
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def lines(path: Path, longest: int = _LONGEST_LINE) -> Iterator[tuple[int, str]]:
    """Each line with its number, counted from 1, and with its line end.

    :raises InputError: if one has more than `longest` bytes.
    """
    with open_text(path) as stream:
        blank = 0
        for number in count(1):
            line = stream.readline(longest + 1)
            if not line:
                return
            blank = blank + 1 if line.isspace() else 0
            if blank > MOST_BLANK_LINES:
                raise InputError.at(path, number, f"comes after {MOST_BLANK_LINES} blank lines; expected instances")
            if len(line) > longest:
                raise InputError.at(path, number, f"is longer than {longest} bytes; expected one instance a line")
            content = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
            yield number, content.decode("utf-8", "surrogateescape")


@contextmanager
def open_text(path: Path) -> Iterator[BinaryIO]:
    """Open a text file for its bytes.

    :raises InputError: if it is missing, a directory, empty, binary or damaged.
    """
    require_file(path)
    try:
        with path.open("rb") as file:
            stream = _unpacked(path, file) if path.suffix.lower() == ".gz" else file
            _refuse_other_than_text(path, stream.peek(1))
            yield cast(BinaryIO, stream)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError.at(path, None, f"cannot be read: {told(error)}") from error


def _unpacked(path: Path, file: io.BufferedReader) -> io.BufferedReader:
    return io.BufferedReader(Unpacked(path, cast(BinaryIO, gzip.GzipFile(fileobj=file))), _BUFFER)


def require_file(path: Path) -> None:
    """Refuse a path at which there is no file."""
    if path.is_dir():
        raise InputError.at(path, None, "is a directory; expected a file, or a dataset saved by Hugging Face datasets")
    if not path.exists():
        raise InputError.at(path, None, "does not exist; check the name")


def starts_with(path: Path, magic: bytes) -> bool:
    """Whether these are the first bytes of the file."""
    try:
        with path.open("rb") as stream:
            return stream.read(len(magic)) == magic
    except OSError as error:
        raise InputError.at(path, None, f"cannot be read: {told(error)}") from error


def decoding_fault(text: str) -> str | None:
    """What to say about a text that `lines` could not decode; None if it could."""
    found = _UNDECODED.search(text)
    if found is None:
        return None
    byte = ord(found.group()) - 0xDC00
    return f"is not UTF-8 (byte 0x{byte:02x} at character {found.start() + 1}); save the file as UTF-8"


def _refuse_other_than_text(path: Path, head: bytes) -> None:
    if not head:
        raise EmptyFile.at(path, None, "is empty; expected at least one instance")
    if head.startswith(_UTF16):
        raise InputError.at(path, 1, "is UTF-16; save the file as UTF-8")
    if b"\0" in head:
        raise InputError.at(path, None, "is a binary file; expected text in UTF-8 (Parquet files must end in .parquet)")
