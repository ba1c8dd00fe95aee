"""Where rows come from: files in any format that can be read, plain, gzip or zstd; patterns of names; standard input.

A format's reader is handed a path whose file counts the bytes that are read of it, unpacks zstd, and may be standard input.
"""

from __future__ import annotations

import glob
import io
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PosixPath
from typing import IO, Any, cast

from pssa.bulk.advice import AGAIN, OUTPUT, REJECTED
from pssa.data.files import BoundedStream
from pssa.data.formats import hugging_face, require_named_columns, scan
from pssa.data.read import ColumnNames, Columns, Dropped, Problem, Row, format_of
from pssa.errors import EmptyFile, InputError, MissingExtra

__all__ = ["STANDARD", "Event", "Source", "find_sources", "require_apart", "require_unchanged"]

STANDARD = "-"  # standard input, or output
_BUFFER = 1 << 16
_MAGIC = "*?["
_ZSTD = ".zst"
_NO_STREAMS = ("hugging_face", "parquet")

Event = Row | Dropped | Problem
Watch = Callable[[int], None]  # is told how many bytes of a source have been read


@dataclass(frozen=True)
class Source:
    """One input: what it is called, its format, and what tells whether it has changed."""

    name: str
    format: str
    size: int = 0  # bytes; 0 where nobody knows
    modified: int = 0  # nanoseconds
    once: bool = False  # standard input or a pipe: it cannot be read again
    columns: Columns = field(default_factory=Columns)

    @property
    def standard(self) -> bool:
        """Whether it is standard input."""
        return self.name == STANDARD

    @property
    def title(self) -> str:
        """What errors and rejected rows call it."""
        return "standard input" if self.standard else self.name

    def events(self, watch: Watch) -> Iterator[Event]:
        """What is in it, in its order.

        :raises InputError: if it cannot be read, or not to its end.
        """
        path = _Watched(self.title)
        path.watch, path.standard = watch, self.standard
        events = _to_the_end(scan(path, self.format, self.columns), self)
        return _counted(events, self, watch) if self.format == "parquet" else events


def require_apart(sources: Sequence[Source], output: Path | None, side: Path) -> None:
    """Refuse to write over an input, or one of the two files over the other.

    :param output: None for standard output.
    :raises InputError: naming the file.
    """
    read = {Path(source.name).resolve() for source in sources if not source.once}
    for what, option, path in (("the output", OUTPUT, output), ("the file of rejected rows", REJECTED, side)):
        if path is not None and path.resolve() in read:
            raise InputError(f"{path} is both an input and {what}; choose another {option}")
    if output is not None and output.resolve() == side.resolve():
        raise InputError(f"{side} is both the output and the file of rejected rows; choose another {REJECTED}")


def require_unchanged(sources: Sequence[Source]) -> None:
    """Refuse what was read of files that somebody was writing meanwhile.

    :raises InputError: naming the first that is not what it was when the job was asked for.
    """
    for source in sources:
        if not source.size:  # a folder, whose time changes with what libraries keep there, or what is read once
            continue
        try:
            size, modified = _size_and_time(Path(source.name))
        except OSError:
            change = "it is gone"
        else:
            changes = (("size", size, source.size), ("time", modified, source.modified))
            change = next(
                (f"its {what} is {now}, and was {then} at the start" for what, now, then in changes if now != then), ""
            )
        if change:
            raise InputError(f"{source.title} has changed while it was read: {change}; {AGAIN} once nobody writes it")


def find_sources(inputs: Sequence[str], format: str | None, columns: ColumnNames | None = None) -> tuple[Source, ...]:
    """The sources that are meant, those of a pattern by name; empty files hold no row and are left out.

    :raises InputError: if there is no such file, one is named twice, its format is unknown, or it has no columns to be named.
    """
    named = Columns.of(columns)
    names = [name for given in inputs for name in _expanded(given)]
    places = Counter(os.path.abspath(name) for name in names)
    if twice := [name for name in names if places[os.path.abspath(name)] > 1]:
        raise InputError(f"input {twice[0]} is named twice; name it once")
    if not names:
        raise InputError("there is no input; name at least one file, or - for standard input")
    found = tuple(replace(_source(name, format), columns=named) for name in names if not _is_empty(name))
    for source in found:
        require_named_columns(source.title, source.format, named)
    return found


def _expanded(given: str) -> list[str]:
    if not any(sign in given for sign in _MAGIC) or Path(given).exists():
        return [given]
    found = sorted(name for name in glob.glob(given, recursive=True) if Path(name).is_file())
    if not found:
        raise InputError(f"no file matches the input {given}; check the pattern")
    return found


def _is_empty(name: str) -> bool:
    path = Path(name)
    return name != STANDARD and path.is_file() and path.stat().st_size == 0


def _source(name: str, format: str | None) -> Source:
    path = Path(name)
    if name == STANDARD or path.is_fifo():
        # To look at its first lines would be to lose them.
        source = Source(name, format_of(name, format or "json_lines"), once=True)
        if source.format in _NO_STREAMS:
            raise InputError(f"{source.title} cannot be of the format {source.format}, which is no stream; name a file")
        return source
    found = format_of(_Watched(name), format)
    if name.startswith(hugging_face.PREFIX):
        return Source(name, found)
    if not path.exists():
        raise InputError.at(path, None, "does not exist; check the name")
    return Source(name, found, *_size_and_time(path))


def _size_and_time(path: Path) -> tuple[int, int]:
    """What tells whether it has changed; of a folder, which has no size, the time."""
    known = path.stat()
    return known.st_size if path.is_file() else 0, known.st_mtime_ns


def _to_the_end(events: Iterator[Event], source: Source) -> Iterator[Event]:
    """The events, none of what is empty; a problem after which nothing can be read is no row that could be skipped."""
    try:
        for event in events:
            if isinstance(event, Problem) and event.last:
                raise InputError.at(source.title, event.line, event.what)
            yield event
    except EmptyFile:
        return


def _counted(events: Iterator[Event], source: Source, watch: Watch) -> Iterator[Event]:
    """Parquet opens its file by itself: what was read of it goes by the number of the row."""
    from pyarrow import parquet

    rows = 0
    for event in events:
        if not rows:  # the reader has found that it is sound
            rows = parquet.read_metadata(source.name).num_rows
        if isinstance(event, Row):
            watch(source.size * event.line // rows)
        yield event


class _Watched(PosixPath):
    """A path for a format's reader."""

    watch: Watch = staticmethod(lambda read: None)
    standard: bool = False

    def exists(self, **more: Any) -> bool:
        """Standard input always does."""
        return self.standard or super().exists(**more)

    def open(self, *how: Any, **more: Any) -> IO[Any]:  # type: ignore[override]
        """The bytes, unpacked where zstd has packed them; gzip is the reader's business."""
        file = sys.stdin.buffer if self.standard else super().open("rb", buffering=0)
        stream = io.BufferedReader(_Counting(cast(IO[bytes], file), self.watch), _BUFFER)
        if self.suffix.lower() != _ZSTD or self.standard:
            return stream
        return io.BufferedReader(BoundedStream(Path(self), _unzstd(stream)), _BUFFER)


class _Counting(io.RawIOBase):
    """Bytes that are counted as they pass."""

    def __init__(self, file: IO[bytes], watch: Watch) -> None:
        super().__init__()
        self._file = file
        self._watch = watch
        self._count = 0

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """The next bytes."""
        read1 = getattr(self._file, "read1", self._file.read)
        content = read1(len(buffer))
        buffer[: len(content)] = content
        self._count += len(content)
        self._watch(self._count)
        return len(content)

    def close(self) -> None:
        """Close the file with it, but for standard input."""
        if not self.closed and self._file is not sys.stdin.buffer:
            self._file.close()
        super().close()


def _unzstd(stream: IO[bytes]) -> IO[bytes]:
    try:
        import pyarrow
    except ImportError as error:
        raise MissingExtra("pyarrow", "data") from error
    return cast(IO[bytes], pyarrow.CompressedInputStream(pyarrow.PythonFile(stream), "zstd"))
