"""Sources of rows: files in any format that can be read, plain, gzip or zstd; patterns of names; standard input.

A format's reader is handed a file that counts the bytes that are read, unpacks zstd, and may be standard input.
"""

from __future__ import annotations

import codecs
import csv
import glob
import io
import os
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Timer
from typing import IO, Any, cast

from pssa.data.files import BoundedStream
from pssa.data.formats import find_format, hugging_face, require_encoding, require_named_columns, scan
from pssa.data.formats.csv import CsvHeader
from pssa.data.io import format_of
from pssa.data.rows import ColumnNames, Columns, Event, Problem, Row
from pssa.data.text_file import InputFile, begins_with_bom, read_text_leniently
from pssa.errors import EmptyFile, InputError, PssaWarning, import_extra, setting
from pssa.predict.fingerprint import BEGIN_AGAIN

STANDARD = "-"  # standard input, or output
PATIENCE = 2.0  # seconds, until a pipe to which nobody writes is reported
_BUFFER_BYTES = 1 << 16
_WILDCARDS = "*?["
_ZSTD = ".zst"

Watch = Callable[[int], None]  # is called with the number of bytes read so far


@dataclass(frozen=True)
class Source:
    """One input: its name, its format, and its size and time, by which a change is noticed."""

    name: str
    format: str
    size: int = 0  # bytes; 0 if unknown
    modified: int = 0  # nanoseconds
    is_stream: bool = False  # standard input or a pipe: it can be read only once
    columns: Columns = field(default_factory=Columns)
    encoding: str = ""  # empty: UTF-8

    @property
    def title(self) -> str:
        """What errors and rejected rows call it."""
        return "standard input" if self.name == STANDARD else self.name

    def events(self, watch: Watch | None = None) -> Iterator[Event]:
        """Yield what is in it, in its order.

        :raises InputError: if it cannot be read, or not to its end.
        """
        file = _WatchedFile(Path(self.title), self.encoding, watch, self.name == STANDARD)
        n_rows = 0
        try:
            for event in scan(file, self.format, self.columns):
                # A problem after which nothing can be read is not a row that could be skipped.
                if isinstance(event, Problem) and event.last:
                    raise InputError.at(self.title, event.line, event.message)
                if watch and self.format == "parquet" and isinstance(event, Row):  # pyarrow opens the file itself
                    from pyarrow import parquet

                    n_rows = n_rows or parquet.read_metadata(self.name).num_rows
                    watch(self.size * event.line // n_rows)
                yield event
        except EmptyFile:
            return


@dataclass(frozen=True)
class CsvStyle:
    """How CSV is written."""

    delimiter: str = ","
    has_bom: bool = False  # a byte order mark, by which spreadsheets recognise UTF-8

    def encode(self, rows: Iterable[Sequence[Any]]) -> bytes:
        """Return a whole file."""
        target = io.StringIO(newline="")
        csv.writer(target, delimiter=self.delimiter).writerows(rows)
        return codecs.BOM_UTF8 * self.has_bom + target.getvalue().encode("utf-8", "replace")


def require_apart(sources: Sequence[Source], output: Path | None, rejected: Path) -> None:
    """Refuse to write over an input, or one of the two outputs over the other; `output` is None for standard output.

    :raises InputError: naming the file.
    """
    inputs = {Path(source.name).resolve() for source in sources if not source.is_stream}
    for what, name, path in (("the output", "output", output), ("the file of rejected rows", "rejected", rejected)):
        if path is not None and path.resolve() in inputs:
            raise InputError(f"{path} is both an input and {what}; choose another {setting(name)}")
    if output is not None and output.resolve() == rejected.resolve():
        raise InputError(
            f"{rejected} is both the output and the file of rejected rows; choose another {setting('rejected')}"
        )


def require_unchanged(sources: Sequence[Source]) -> None:
    """Refuse what was read of files that somebody was writing at the same time.

    :raises InputError: naming the first that has changed since the job began.
    """
    for source in sources:
        if not source.size:  # a stream, or a folder, whose time changes with what libraries cache there
            continue
        try:
            size, modified = _size_and_time(Path(source.name))
        except OSError as error:
            raise InputError(f"{source.title} has gone while it was read; get it again and {BEGIN_AGAIN}") from error
        if (size, modified) != (source.size, source.modified):
            raise InputError(f"{source.title} has changed while it was read; {BEGIN_AGAIN}")


def find_sources(
    inputs: Sequence[str],
    format: str | None,
    columns: ColumnNames | Columns | None = None,
    encoding: str | None = None,
) -> tuple[Source, ...]:
    """Return the sources, those of a pattern ordered by name; empty files have no rows and are left out.

    :raises InputError: if a file does not exist or is named twice, its format is unknown, or it lacks the columns.
    """
    named = Columns.of(columns)
    names = [name for given in inputs for name in _expand(given)]
    counts = Counter(os.path.abspath(name) for name in names)
    if twice := [name for name in names if counts[os.path.abspath(name)] > 1]:
        raise InputError(f"input {twice[0]} is named twice; name it once")
    if not names:
        raise InputError("there is no input; name at least one file, or - for standard input")
    found = []
    for name in names:
        path = Path(name)
        if name == STANDARD or not path.is_file() or path.stat().st_size:
            source = _open_source(name, format, encoding or "", named)
            require_named_columns(source.title, source.format, named)
            found.append(source)
    return tuple(found)


def peeked_files(inputs: Sequence[str]) -> list[InputFile]:
    """Return the inputs for a look at how they begin; none if one of them can be read only once."""
    names = [name for given in inputs for name in _expand(given)]
    if any(name == STANDARD or Path(name).is_fifo() for name in names):
        return []
    return [_WatchedFile(Path(name)) for name in names]


def find_csv_style(sources: Sequence[Source]) -> CsvStyle:
    """Return the style of the first file that is CSV, so that a program that wrote it opens what is made of it."""
    tables = [source for source in sources if source.format == "csv" and not source.is_stream]
    if not tables:
        return CsvStyle(has_bom=any(source.format == "excel" for source in sources))
    file = _WatchedFile(Path(tables[0].name), tables[0].encoding)
    try:
        delimiter = CsvHeader.read(content for _, content in read_text_leniently(file)).delimiter
        return CsvStyle(delimiter, begins_with_bom(file))
    except InputError:  # the file is refused, with its line, when it is read
        return CsvStyle()


def _expand(given: str) -> list[str]:
    if not any(sign in given for sign in _WILDCARDS) or Path(given).exists():
        return [given]
    found = sorted(name for name in glob.glob(given, recursive=True) if Path(name).is_file())
    if not found:
        raise InputError(f"no file matches the input {given}; check the pattern")
    return found


def _open_source(name: str, format: str | None, encoding: str, columns: Columns) -> Source:
    path = Path(name)
    if name == STANDARD or path.is_fifo():
        # Its format cannot be recognised: the lines that were looked at would be lost.
        found = format_of(name, format or "json_lines")
        source = Source(name, found, is_stream=True, columns=columns, encoding=encoding)
        if find_format(source.format).needs_file:
            raise InputError(f"{source.title} cannot have the format {source.format}, which needs a file; name one")
        return source
    file = _WatchedFile(path, encoding)
    found = format_of(file, format, columns.text_only)
    require_encoding(file, found)
    if name.startswith(hugging_face.PREFIX):
        return Source(name, found, columns=columns, encoding=encoding)
    if not path.exists():
        raise InputError.at(path, None, "does not exist; check the name")
    return Source(name, found, *_size_and_time(path), columns=columns, encoding=encoding)


def _size_and_time(path: Path) -> tuple[int, int]:
    """Return the size and the time of a file, by which a change is noticed; a folder has no size."""
    known = path.stat()
    return known.st_size if path.is_file() else 0, known.st_mtime_ns


@dataclass(frozen=True)
class _WatchedFile(InputFile):
    """A file, or standard input, whose bytes are counted; zstd is unpacked here, gzip by the reader."""

    watch: Watch | None = None
    is_standard: bool = False

    def exists(self) -> bool:
        """Return True for standard input."""
        return self.is_standard or super().exists()

    def open(self) -> IO[bytes]:
        """Open the bytes. A pipe opens once a program writes to it."""
        what = f"{self.path} is a pipe, to which no program writes yet; stop with Ctrl-C if none will"
        waiting = Timer(PATIENCE, warnings.warn, (PssaWarning(what),))
        waiting.daemon = True
        if not self.is_standard and self.path.is_fifo():
            waiting.start()
        file = sys.stdin.buffer if self.is_standard else self.path.open("rb", buffering=0)
        waiting.cancel()
        stream = io.BufferedReader(_CountingStream(cast(IO[bytes], file), self.watch), _BUFFER_BYTES)
        if self.path.suffix.lower() != _ZSTD or self.is_standard:
            return stream
        pyarrow = import_extra("pyarrow", "data")
        unpacked = pyarrow.CompressedInputStream(pyarrow.PythonFile(stream), "zstd")
        return io.BufferedReader(BoundedStream(self.path, unpacked), _BUFFER_BYTES)


class _CountingStream(io.RawIOBase):
    """A stream that counts its bytes as they are read."""

    def __init__(self, file: IO[bytes], watch: Watch | None) -> None:
        super().__init__()
        self._file = file
        self._watch = watch
        self._count = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Read the next bytes into `buffer`."""
        read1 = getattr(self._file, "read1", self._file.read)
        content = read1(len(buffer))
        buffer[: len(content)] = content
        self._count += len(content)
        if self._watch is not None:
            self._watch(self._count)
        return len(content)

    def close(self) -> None:
        """Close the file too, unless it is standard input."""
        if not self.closed and self._file is not sys.stdin.buffer:
            self._file.close()
        super().close()
