"""Lines of a large text file, plain or packed (`.gz`, `.zip`), read as a stream; word vectors come this way.

The format is told by the file's first bytes, not by its name. No more than a line is held, and no line may be so long
that holding it would matter: a packed file of a few kilobytes can hide gigabytes.
"""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, cast

from pssa.data.files import MAX_BLANK_LINES, BoundedStream
from pssa.data.validation import format_error
from pssa.errors import InputError

__all__ = ["Observer", "read_lines"]

Observer = Callable[[int, int], None]  # bytes of the packed file read so far, bytes of the packed file

_LONGEST_LINE = 1 << 20
_BUFFER = 1 << 20
_LINES_PER_REPORT = 4096
_TEXT_SUFFIXES = (".txt", ".vec")
# Others unpack a few bytes into gigabytes at once, before anybody can count them.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# What zipfile and the modules below it raise about an archive that is none, or not a sound one.
_DAMAGED = (EOFError, struct.error, zipfile.BadZipFile, zlib.error, RuntimeError, ValueError, OverflowError)


def read_lines(path: Path, observer: Observer | None = None) -> Iterator[tuple[int, bytes]]:
    """Yield the number, from 1, and the bytes of every line that is not blank, without the white space at its end.

    :raises InputError: if the file is missing, a directory, empty, damaged, binary, or has a line too long to hold.
    """
    with ExitStack() as stack:
        file, stream = _open(path, stack)
        total = path.stat().st_size
        number = last = 0
        while line := _read_line(path, number + 1, stream):
            number += 1
            if line := line.rstrip():
                yield number, line
                last = number
            elif number - last > MAX_BLANK_LINES:
                raise InputError.at(path, number, f"comes after {MAX_BLANK_LINES} blank lines; expected text")
            if observer is not None and number % _LINES_PER_REPORT == 0:
                observer(min(file.tell(), total), total)
    if number == 0:
        raise InputError.at(path, None, "is empty; expected lines of text")
    if observer is not None:
        observer(total, total)


def _read_line(path: Path, number: int, stream: io.BufferedReader) -> bytes:
    try:
        line = stream.readline(_LONGEST_LINE + 1)
    except InputError:
        raise
    except (OSError, *_DAMAGED) as error:
        raise InputError.at(
            path, number, f"damaged or cut short: {format_error(error)}; copy the file again"
        ) from error
    if len(line) > _LONGEST_LINE:
        raise InputError.at(path, number, f"longer than {_LONGEST_LINE} bytes; expected lines of text")
    if b"\0" in line:
        raise InputError.at(path, number, "a binary or UTF-16 file; expected UTF-8 text")
    return line


def _open(path: Path, stack: ExitStack) -> tuple[IO[bytes], io.BufferedReader]:
    """The file as it lies on the disk, whose place tells the progress, and the text in it."""
    if path.is_dir():
        raise InputError.at(path, None, "is a directory; give the text file in it")
    try:
        file = stack.enter_context(path.open("rb"))
        # Zip members read lines in Python; the buffer around them reads lines in C.
        return file, io.BufferedReader(_unpack(path, file, stack), _BUFFER)
    except InputError:
        raise
    except OSError as error:
        raise InputError.at(path, None, f"cannot be read: {error.strerror or format_error(error)}") from error
    except _DAMAGED as error:  # RuntimeError: encrypted, or a method of packing unknown here
        raise InputError.at(
            path, None, f"the archive cannot be opened: {format_error(error)}; unpack it first"
        ) from error


def _unpack(path: Path, file: IO[bytes], stack: ExitStack) -> io.RawIOBase:
    start = file.read(4)
    file.seek(0)
    if start[:2] == b"\x1f\x8b":
        return BoundedStream(path, cast(IO[bytes], stack.enter_context(gzip.GzipFile(fileobj=file))))
    if start in (b"PK\x03\x04", b"PK\x05\x06"):  # the second: an archive without files
        archive = stack.enter_context(zipfile.ZipFile(file))
        return BoundedStream(path, stack.enter_context(archive.open(_text_member(path, archive))))
    return cast(io.RawIOBase, file)


def _text_member(path: Path, archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    members = [
        member
        for member in archive.infolist()
        if member.filename.lower().endswith(_TEXT_SUFFIXES) and not member.filename.startswith("__MACOSX/")
    ]
    if not members:
        raise InputError.at(path, None, f"the archive has no file that ends in {' or '.join(_TEXT_SUFFIXES)}")
    if len(members) > 1:
        names = ", ".join(format_error(member.filename) for member in members[:5])
        raise InputError.at(path, None, f"the archive has {len(members)} text files ({names}); unpack the one to use")
    if members[0].compress_type not in _METHODS:
        raise InputError.at(path, None, "the archive is packed in an unusual way, not deflated; unpack it first")
    return members[0]
