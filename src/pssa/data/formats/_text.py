"""Text files, plain or `.gz`: lines with their numbers, and refusal of what is no text.

Lines end at a line feed and nowhere else, so that characters such as U+2028 stay inside a text. Bytes that are not
UTF-8 are kept as lone surrogates: the row that holds them can be reported, and the rows after it still be read. In place of a
line so long that holding it would matter there is a mark, which `decoding_fault` knows.
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

from pssa.data.files import MAX_BLANK_LINES, BoundedStream
from pssa.data.validation import format_error
from pssa.errors import EmptyFile, InputError

__all__ = [
    "LONGEST_TEXT",
    "LONG_LINE",
    "all_lines",
    "decoding_fault",
    "lines",
    "open_text",
    "require_file",
    "starts_with",
]

LONGEST_TEXT = 100_000  # characters of one instance; more is no sentence
_LONGEST_LINE = 1 << 22  # bytes
_BUFFER = 1 << 16
LONG_LINE = "\ud800\n"  # in place of one; no bytes are decoded to it
_NO_TEXT = re.compile("[\0\ud800\udc80-\udcff]")
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_OFFICE = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # what offices write, and what they wrote before
_BINARY = (  # how files of other kinds begin
    b"\x89PNG",
    b"\xff\xd8\xff",  # JPEG
    b"GIF8",
    b"%PDF-",
    *_OFFICE,  # the first of them begins every zip
    b"\x1f\x8b",  # gzip
    b"\x28\xb5\x2f\xfd",  # zstd
    b"\xfd7zXZ",
    b"7z\xbc\xaf",
    b"PAR1",
    b"ARROW1",
    b"SQLite format 3",
    b"\x7fELF",
)
_MANY = 10  # one byte in so many being NUL, it is no text with a slip in it


def lines(path: Path, longest: int = _LONGEST_LINE) -> Iterator[tuple[int, str]]:
    """Each line with its number, counted from 1, and with its line end.

    :raises InputError: if one has more than `longest` bytes.
    """
    for number, content in all_lines(path, longest):
        if content == LONG_LINE:
            raise InputError.at(path, number, f"is longer than {longest} bytes; expected one instance a line")
        yield number, content


def all_lines(path: Path, longest: int = _LONGEST_LINE) -> Iterator[tuple[int, str]]:
    """The same, with a mark in place of a line that is too long, for those who can report it and go on."""
    with open_text(path) as stream:
        blank = 0
        for number in count(1):
            line = stream.readline(longest + 1)
            if not line:
                return
            blank = blank + 1 if line.isspace() else 0
            if blank > MAX_BLANK_LINES:
                raise InputError.at(path, number, f"comes after {MAX_BLANK_LINES} blank lines; expected instances")
            if len(line) > longest:
                _pass_over(line, stream)
                yield number, LONG_LINE
                continue
            content = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
            yield number, content.decode("utf-8", "surrogateescape")


def _pass_over(line: bytes, stream: BinaryIO) -> None:
    """Read on to the end of the line, a piece at a time."""
    while line and not line.endswith(b"\n"):
        line = stream.readline(_BUFFER)


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
        raise InputError.at(path, None, f"cannot be read: {format_error(error)}") from error


def _unpacked(path: Path, file: io.BufferedReader) -> io.BufferedReader:
    return io.BufferedReader(BoundedStream(path, cast(BinaryIO, gzip.GzipFile(fileobj=file))), _BUFFER)


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
        raise InputError.at(path, None, f"cannot be read: {format_error(error)}") from error


def decoding_fault(text: str) -> str | None:
    """What to say about a line, or a part of one, that is no text or too long; None if it can be used."""
    found = _NO_TEXT.search(text)
    if found is None:
        return None
    if found.group() == "\0":
        return f"holds a NUL at character {found.start() + 1}, which no text has; remove it"
    if found.group() == LONG_LINE[0]:
        return f"is longer than {_LONGEST_LINE} bytes; expected one instance a line"
    byte = ord(found.group()) - 0xDC00
    return f"is not UTF-8 (byte 0x{byte:02x} at character {found.start() + 1}); save the file as UTF-8"


def _refuse_other_than_text(path: Path, head: bytes) -> None:
    if not head:
        raise EmptyFile.at(path, None, "is empty; expected at least one instance")
    if head.startswith(_UTF16):
        raise InputError.at(path, 1, "is UTF-16; save the file as UTF-8")
    if head.startswith(_OFFICE) and path.suffix.lower() in (".xlsx", ".xls", ".ods"):
        raise InputError.at(path, None, "is a spreadsheet; save it as CSV in UTF-8")
    if head.startswith(_BINARY) or head.count(0) * _MANY > len(head):
        raise InputError.at(path, None, "is a binary file; expected text in UTF-8 (Parquet files must end in .parquet)")
