"""Lines of text files, plain or packed, in bounded memory.

`read_text` is for instances and evidence: UTF-8, or the encoding of an `InputFile`, plain or `.gz`. Lines end at a line feed
and nowhere else, so that characters such as U+2028 stay inside a text. Bytes that are not UTF-8 become lone surrogates, so that
the row that holds them can be reported and the rows after it can still be read; `describe_damage` reports them.
`read_packed` is for word vectors: bytes, plain, gzip or zip, whatever the file's name.
"""

from __future__ import annotations

import codecs
import gzip
import io
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import IO, BinaryIO, TextIO, cast

from pssa.data.files import MAX_BLANK_LINES, BoundedStream
from pssa.data.validation import format_error
from pssa.errors import EmptyFile, InputError, setting

MAX_TEXT = 100_000  # characters of one instance; a longer text is not a sentence
NOT_UTF8 = "is not UTF-8"
LONG_LINE = "\ud800\n"  # stands for a line too long to hold; no bytes are decoded to it

Observer = Callable[[int, int], None]  # bytes of the file read so far, bytes of the file

_MAX_LINE = 1 << 22  # characters, which are at least as many bytes
_BUFFER = 1 << 16
_PEEKED = 1 << 20
_NOT_TEXT = re.compile("[\0\ud800\udc80-\udcff]")
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SPREADSHEETS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
_BINARY = (  # how files of other kinds begin
    b"\x89PNG",
    b"\xff\xd8\xff",  # JPEG
    b"GIF8",
    b"%PDF-",
    *_SPREADSHEETS,  # the first of them begins every zip
    b"\x1f\x8b",  # gzip
    b"\x28\xb5\x2f\xfd",  # zstd
    b"\xfd7zXZ",
    b"7z\xbc\xaf",
    b"PAR1",
    b"ARROW1",
    b"SQLite format 3",
    b"\x7fELF",
)
# Letters, quotes and dashes of Windows-1252 that European texts use, and Latin-1 has most of; other bytes are damage.
_WINDOWS_1252 = re.compile(rb"[\x80\x82-\x8c\x8e\x91-\x9c\x9e-\xfc]")
_NUL_SHARE = 10  # a file with one NUL in so many bytes is not text

_MAX_PACKED_LINE = 1 << 20
_PACKED_BUFFER = 1 << 20
_LINES_PER_REPORT = 4096
_TEXT_SUFFIXES = (".txt", ".vec")
# Other methods unpack a few bytes to gigabytes at once, before they can be counted.
ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# Errors of zipfile and the modules below it about a damaged archive.
_DAMAGED = (EOFError, struct.error, zipfile.BadZipFile, zlib.error, RuntimeError, ValueError, OverflowError)


@dataclass(frozen=True)
class InputFile:
    """A file of rows. Its readers see text in another encoding as if it were UTF-8."""

    path: Path
    encoding: str = ""  # empty: UTF-8

    @classmethod
    def of(cls, path: str | Path | InputFile, encoding: str | None = None) -> InputFile:
        """Return the file of a path, in this encoding."""
        if isinstance(path, InputFile):
            return path
        is_utf8 = not encoding or codecs.lookup(encoding).name == "utf-8"
        return cls(Path(path), "" if is_utf8 else encoding or "")

    def exists(self) -> bool:
        """Whether there is something to open."""
        return self.path.exists()

    def open(self) -> IO[bytes]:
        """Open the bytes."""
        return self.path.open("rb")


def read_text(file: Path | InputFile, max_length: int = _MAX_LINE) -> Iterator[tuple[int, str]]:
    """Yield each line with its number, counted from 1, and its line end; refuse a line of more than `max_length` characters."""
    file = InputFile.of(file)
    for number, content in read_text_leniently(file, max_length):
        if content == LONG_LINE:
            what = f"is longer than {max_length} characters; expected one instance per line"
            raise InputError.at(file.path, number, what)
        yield number, content


def read_text_leniently(file: InputFile, max_length: int = _MAX_LINE) -> Iterator[tuple[int, str]]:
    """Yield the same lines, with `LONG_LINE` for a line that is too long."""
    with open_text(file) as stream:
        blank = 0
        for number in count(1):
            line = stream.readline(max_length + 1)
            if not line:
                return
            blank = blank + 1 if line.isspace() else 0
            if blank > MAX_BLANK_LINES:
                what = f"comes after {MAX_BLANK_LINES} blank lines; expected instances"
                raise InputError.at(file.path, number, what)
            if len(line) > max_length:
                while line and not line.endswith("\n"):  # read on to the end of the line, a part at a time
                    line = stream.readline(_BUFFER)
                line = LONG_LINE
            yield number, line.removeprefix("\ufeff") if number == 1 else line


@contextmanager
def open_text(file: InputFile) -> Iterator[TextIO]:
    """Open a text file, plain or `.gz`, for its characters; refuse one that is missing, empty, binary or damaged."""
    with open_bytes(file) as stream:
        errors = "strict" if file.encoding else "surrogateescape"
        try:
            yield io.TextIOWrapper(stream, file.encoding or "utf-8", errors, newline="\n")
        except UnicodeError as error:
            reason = format_error(error)
            if isinstance(error, UnicodeDecodeError):
                reason = f"byte 0x{error.object[error.start]:02x}: {error.reason}"
            what = f"is not {file.encoding} ({reason}); check {setting('encoding')}"
            raise InputError.at(file.path, None, what) from error


@contextmanager
def open_bytes(file: InputFile) -> Iterator[BinaryIO]:
    """Open the same for its bytes."""
    require_file(file)
    path = file.path
    try:
        with file.open() as stream:
            if path.suffix.lower() == ".gz":
                packed = cast(BinaryIO, gzip.GzipFile(fileobj=stream))
                stream = io.BufferedReader(BoundedStream(path, packed), _BUFFER)
            head = cast(io.BufferedReader, stream).peek(1)
            if not head:
                raise EmptyFile.at(path, None, "is empty; expected at least one instance")
            with suppress(UnicodeError):  # in UTF-16, many bytes of text are NULs
                head = head.decode(file.encoding, "ignore").encode() if file.encoding else head
            _refuse_binary(path, head)
            yield cast(BinaryIO, stream)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError.at(path, None, f"cannot be read: {format_error(error)}") from error


def begins_as_utf8(file: InputFile) -> bool:
    """Return whether the first megabyte of a text file is UTF-8."""
    try:
        with open_bytes(file) as stream:
            codecs.getincrementaldecoder("utf-8")().decode(stream.read(_PEEKED))
    except (InputError, UnicodeDecodeError):
        return False
    return True


def begins_with_bom(file: InputFile) -> bool:
    """Whether a text file has a byte order mark, or another encoding than UTF-8: spreadsheets write both."""
    with open_bytes(file) as stream:
        return bool(file.encoding) or stream.read(3) == codecs.BOM_UTF8


def refuse_windows_1252(file: InputFile) -> None:
    """Refuse a file that is not UTF-8 wherever its first megabyte could tell: its rows would be bad one by one."""
    if not file.path.is_file() or file.encoding:  # a pipe can be read only once
        return
    try:
        with open_text(file) as stream:
            lines = stream.read(_PEEKED).split("\n")
    except InputError:  # which is reported when the file is read
        return
    accented = [(number, line) for number, line in enumerate(lines, 1) if not line.isascii()]
    if len(accented) > 1 and all(_NOT_TEXT.search(text) and _is_windows_1252(text) for _, text in accented):
        raise InputError.at(file.path, accented[0][0], describe_damage(accented[0][1]) or NOT_UTF8)


def require_file(file: InputFile) -> None:
    """Refuse a path without a file."""
    if file.path.is_dir():
        what = "is a directory; expected a file, or a dataset saved by Hugging Face datasets"
        raise InputError.at(file.path, None, what)
    if not file.exists():
        raise InputError.at(file.path, None, "does not exist; check the name")


def describe_damage(text: str) -> str | None:
    """Return what is wrong with a line, or a part of one, that is not text or too long; None if it can be used."""
    found = _NOT_TEXT.search(text)
    if found is None:
        return None
    if found.group() == "\0":
        return f"contains a NUL at character {found.start() + 1}; remove it"
    if found.group() == LONG_LINE[0]:
        return f"is longer than {_MAX_LINE} characters; expected one instance per line"
    byte = ord(found.group()) - 0xDC00
    what = f"{NOT_UTF8} (byte 0x{byte:02x} at character {found.start() + 1})"
    if _is_windows_1252(text):
        return f"{what} but looks like Windows-1252; read it with {setting('encoding', 'windows-1252')}"
    return f"{what}; name its encoding with {setting('encoding')}, or save the file as UTF-8"


def _is_windows_1252(text: str) -> bool:
    """Whether bytes that are not UTF-8 are letters or quotes of Windows-1252, and none of the text needs UTF-8."""
    bad = _NOT_TEXT.findall(text)
    others = text.encode("utf-8", "surrogateescape").decode("latin-1")
    n_high = sum("\x80" <= letter <= "\xff" for letter in others)
    return n_high == len(bad) and all(_WINDOWS_1252.fullmatch(sign.encode("utf-8", "surrogateescape")) for sign in bad)


def _refuse_binary(path: Path, head: bytes) -> None:
    if head.startswith(_UTF16):
        advice = f"read it with {setting('encoding', 'utf-16')}, or save the file as UTF-8"
        raise InputError.at(path, 1, f"is UTF-16; {advice}")
    if head.startswith(_SPREADSHEETS) and path.suffix.lower() in (".xls", ".xlsb", ".ods"):
        raise InputError.at(path, None, "is a spreadsheet of another kind; save it as .xlsx, or as CSV in UTF-8")
    if head.startswith(_BINARY) or head.count(0) * _NUL_SHARE > len(head):
        raise InputError.at(path, None, "is a binary file; expected text in UTF-8 (Parquet files must end in .parquet)")


def read_packed(path: Path, observer: Observer | None = None) -> Iterator[tuple[int, bytes]]:
    """Yield the number, from 1, and the bytes of every line that is not blank, without the white space at its end."""
    with ExitStack() as stack:
        file, stream = _open_packed(path, stack)
        total = path.stat().st_size
        number = last = 0
        while line := _read_packed_line(path, number + 1, stream):
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


def _read_packed_line(path: Path, number: int, stream: io.BufferedReader) -> bytes:
    try:
        line = stream.readline(_MAX_PACKED_LINE + 1)
    except InputError:
        raise
    except (OSError, *_DAMAGED) as error:
        what = f"is damaged or cut short: {format_error(error)}; copy the file again"
        raise InputError.at(path, number, what) from error
    if len(line) > _MAX_PACKED_LINE:
        raise InputError.at(path, number, f"is longer than {_MAX_PACKED_LINE} bytes; expected lines of text")
    if b"\0" in line:
        raise InputError.at(path, number, "is binary or UTF-16; expected UTF-8 text")
    return line


def _open_packed(path: Path, stack: ExitStack) -> tuple[IO[bytes], io.BufferedReader]:
    """Return the file on disk, whose position is the progress, and a stream of the text in it."""
    if path.is_dir():
        raise InputError.at(path, None, "is a directory; give the text file in it")
    try:
        file = stack.enter_context(path.open("rb"))
        start = file.read(4)
        file.seek(0)
        stream = cast(io.RawIOBase, file)
        if start[:2] == b"\x1f\x8b":
            stream = BoundedStream(path, cast(IO[bytes], stack.enter_context(gzip.GzipFile(fileobj=file))))
        elif start in (b"PK\x03\x04", b"PK\x05\x06"):  # the second: an archive without files
            archive = stack.enter_context(zipfile.ZipFile(file))
            stream = BoundedStream(path, stack.enter_context(archive.open(_text_member(path, archive))))
        # Zip members read lines in Python; the buffer around them reads lines in C.
        return file, io.BufferedReader(stream, _PACKED_BUFFER)
    except InputError:
        raise
    except OSError as error:
        raise InputError.at(path, None, f"cannot be read: {error.strerror or format_error(error)}") from error
    except _DAMAGED as error:  # RuntimeError: encrypted, or an unknown method
        what = f"is an archive that cannot be opened: {format_error(error)}; unpack it first"
        raise InputError.at(path, None, what) from error


def _text_member(path: Path, archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    members = [
        member
        for member in archive.infolist()
        if member.filename.lower().endswith(_TEXT_SUFFIXES) and not member.filename.startswith("__MACOSX/")
    ]
    if not members:
        raise InputError.at(path, None, f"is an archive without a file that ends in {' or '.join(_TEXT_SUFFIXES)}")
    if len(members) > 1:
        names = ", ".join(format_error(member.filename) for member in members[:5])
        raise InputError.at(path, None, f"is an archive with {len(members)} text files ({names}); unpack one of them")
    if members[0].compress_type not in ZIP_METHODS:
        raise InputError.at(path, None, "is an archive that is packed in an unusual way, not deflated; unpack it first")
    return members[0]
