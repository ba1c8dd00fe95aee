"""Text files, plain or `.gz`: lines with their numbers, and refusal of what is no text.

Lines end at a line feed and nowhere else, so that characters such as U+2028 stay inside a text. Bytes that are not
UTF-8 are kept as lone surrogates: the row that holds them can be reported, and the rows after it still be read.
"""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from pssa.errors import InputError

__all__ = ["decoding_fault", "lines", "open_text", "require_file", "starts_with"]

_UNDECODED = re.compile("[\udc80-\udcff]")
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Each line with its number, counted from 1, and with its line end."""
    with open_text(path) as stream:
        for number, line in enumerate(stream, 1):
            content = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
            yield number, content.decode("utf-8", "surrogateescape")


@contextmanager
def open_text(path: Path) -> Iterator[BinaryIO]:
    """Open a text file for its bytes.

    :raises InputError: if it is missing, a directory, empty, binary or damaged.
    """
    require_file(path)
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            _refuse_other_than_text(path, stream.peek(1))
            yield cast(BinaryIO, stream)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError.at(path, None, f"cannot be read: {error}") from error


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
        raise InputError.at(path, None, f"cannot be read: {error}") from error


def decoding_fault(text: str) -> str | None:
    """What to say about a text that `lines` could not decode; None if it could."""
    found = _UNDECODED.search(text)
    if found is None:
        return None
    byte = ord(found.group()) - 0xDC00
    return f"is not UTF-8 (byte 0x{byte:02x} at character {found.start() + 1}); save the file as UTF-8"


def _refuse_other_than_text(path: Path, head: bytes) -> None:
    if not head:
        raise InputError.at(path, None, "is empty; expected at least one instance")
    if head.startswith(_UTF16):
        raise InputError.at(path, 1, "is UTF-16; save the file as UTF-8")
    if b"\0" in head:
        raise InputError.at(path, None, "is a binary file; expected text in UTF-8 (Parquet files must end in .parquet)")
