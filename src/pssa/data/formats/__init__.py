"""The file formats, one module each; the folder is the registry.

A format turns its file into rows whose fields have the same names in every format; `pssa.data.fields` says what they mean.
To add a format, add its module here, with a `Format` called `FORMAT`; nothing else names it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pssa.data.rows import SAME_NAMES, Columns, Dropped, Event, Problem, Row
from pssa.data.text_file import (
    InputFile,
    describe_damage,
    open_text,
    read_text,
    read_text_leniently,
    refuse_windows_1252,
    require_file,
)
from pssa.data.validation import format_error, shorten
from pssa.errors import InputError, setting
from pssa.registry import Registry

if TYPE_CHECKING:
    from pssa.data.example import Example
    from pssa.data.reviews import Review

FORMATS = Registry(__name__, "format")
Parsed = TypeVar("Parsed")

_SNIFFED_LINES, _SNIFFED_LETTERS = 30, 1 << 16
_ROWS_SEARCHED = 100
_OBJECTS_CHUNK = 1 << 16  # characters
_MAX_OBJECT = 1 << 24  # characters
_BETWEEN = re.compile(r"[\s,\[\]\ufeff]*")
_DECODER = json.JSONDecoder()
_UNKNOWN = f"is in no known format; name it with {setting('format')}, or save it as CSV with a column `text`"


@dataclass(frozen=True, kw_only=True)
class Format:
    """What a format can do. A fault of a row is an event of `scan`, a fault of the whole file an `InputError`."""

    scan: Callable[[InputFile, Columns], Iterator[Event]]  # the events of a file, in file order
    encode: Callable[..., bytes] | None = None  # of a sequence of examples, the bytes of a file
    holds_evidence: bool = False  # whether `encode` takes the examples' `Evidence` as well
    save: Callable[[Sequence[Example], Path], None] | None = None  # instead of `encode`, where a file is a folder
    scan_reviews: Callable[[InputFile], Iterator[Review | Dropped | Problem]] | None = None  # texts with all opinions
    has_columns: bool = False  # whether rows have named columns
    has_encoding: bool = True  # False: the file says itself how its text is encoded, or is not text
    needs_file: bool = False  # whether it cannot be read from a stream
    text_only: bool = False  # texts alone; the format is recognised only where these are enough
    lists_all_aspects: bool = False  # of a sentence, with sentences that have none
    short_names: tuple[str, ...] = ()
    # How a file is recognised.
    extensions: tuple[str, ...] = ()  # for reading and for writing
    write_extensions: tuple[str, ...] = ()  # for writing only: files with them are recognised by their content
    list_mark: re.Pattern[bytes] | None = None  # what the beginning of a list in `.json` has
    likelihood: Callable[[Sequence[str]], float] | None = None  # by the first lines: 0 (no) to 1 (certain)
    prefix: str = ""  # of references to datasets
    is_folder: Callable[[Path], bool] | None = None  # whether a folder is a dataset


def find_format(name: str) -> Format:
    """Return the format of a full name."""
    found: Format = FORMATS.module(name).FORMAT
    return found


def format_named(name: str) -> str:
    """Return the full name of a format, given that or a short one (`xml`, `jsonl`); `-` is as good as `_`."""
    key = name.lower().replace("-", "_")
    full = next((known for known, format in _formats() if key in format.short_names), key)
    if full not in FORMATS.names():
        raise InputError(f"unknown format {name!r}; known: {', '.join(FORMATS.names())}")
    return full


def scan(path: Path | InputFile, format: str, columns: Columns = SAME_NAMES) -> Iterator[Event]:
    """Yield what is in a file of this format, in file order; refuse columns for a format that has none."""
    file, found = InputFile.of(path), find_format(format)
    require_named_columns(file.path, format, columns)
    if file.encoding and not found.has_encoding:
        what = f"the format {format} says itself how its text is encoded"
        raise InputError.at(file.path, None, f"{what}; leave out {setting('encoding', file.encoding)}")
    return found.scan(file, columns)


def scan_lines(file: InputFile, parse: Callable[[int, str], Parsed]) -> Iterator[Parsed | Problem]:
    """Yield what `parse` makes of each line that is not blank, and a problem for a line that is damaged or that it refuses."""
    for line, content in read_text_leniently(file):
        if not content.strip():
            continue
        found: Parsed | Problem
        try:
            if fault := describe_damage(content):
                raise InputError(fault)
            found = parse(line, content)
        except InputError as error:
            found = Problem(line, error.message, given=content)
        yield found


def read_objects(file: InputFile) -> Iterator[dict[str, Any] | Problem]:
    """Yield the objects of a file; a problem in place of one that is not text, and one at the end if the rest is not JSON.

    The line of a problem is the number of the object, counted from 1.
    """
    text, start, number, is_whole = "", 0, 1, False
    with open_text(file) as stream:
        while True:
            if between := _BETWEEN.match(text, start):
                start = between.end()
            if (begin := text[start : start + 1]) not in ("", "{"):
                what = f"begins with {shorten(text[start : start + 20])}; expected a list of objects"
                yield Problem(number, what, given=text[start:], last=True)
                return
            try:
                found, end = _DECODER.raw_decode(text, start)
            except (ValueError, RecursionError) as error:
                is_long = len(text) - start > _MAX_OBJECT
                if begin and (is_whole or is_long):
                    reason = f"it has more than {_MAX_OBJECT} characters" if is_long else format_error(error)
                    what = f"is not valid JSON, or cut short ({reason}); get the file again"
                    yield Problem(number, what, given=text[start:], last=True)
                if is_whole or is_long:
                    return
                # As much again as there is: each part of a long object is then looked at twice and not many times.
                part = stream.read(max(_OBJECTS_CHUNK, len(text) - start))
                text, start, is_whole = text[start:] + part, 0, not part
                continue
            damage = describe_damage(text[start:end])
            yield Problem(number, damage, given=text[start:end]) if damage else found
            start, number = end, number + 1


def require_encoding(file: InputFile, format: str) -> None:
    """Refuse a text file that is in Windows-1252 although no encoding is given: its rows would be bad one by one."""
    if find_format(format).has_encoding:
        refuse_windows_1252(file)


def column_names(path: Path | InputFile, format: str) -> Sequence[str]:
    """Return the names of a table's columns, by its header or else its first rows; none for a file of another kind."""
    found, columns = find_format(format), _AnyColumns()
    if not found.has_columns or found.lists_all_aspects:
        return ()
    first = list(islice(found.scan(InputFile.of(path), columns), _ROWS_SEARCHED))
    return columns.header or list(dict.fromkeys(name for row in first if isinstance(row, Row) for name in row.given))


@dataclass(frozen=True)
class _AnyColumns(Columns):
    """Columns of a table that need not have a text; they keep its header."""

    header: list[str] = field(default_factory=list)

    def check_header(self, path: str | Path, found: Sequence[str], line: int | None = 1) -> None:
        """Accept any header."""
        self.header.extend(found)


def require_named_columns(path: str | Path, format: str, columns: Columns) -> None:
    """Refuse names of columns for a format that has none."""
    if columns and not find_format(format).has_columns:
        others = ", ".join(name for name, found in _formats() if found.has_columns)
        advice = f"leave out {setting('columns', str(columns))}, or use one of {others}"
        raise InputError.at(path, None, f"the format {format} has no named columns; {advice}")


def recognise(file: InputFile, text_only: bool = False) -> str:
    """Return the format of an existing file or dataset: by its extension, else by its content.

    :param text_only: whether texts are enough, so that any text file can be read.
    """
    path, head = file.path, b""
    for name, format in _formats():
        is_dataset = format.is_folder and path.is_dir() and format.is_folder(path)
        if is_dataset or (format.prefix and str(path).startswith(format.prefix)):
            return name
    require_file(file)
    # A pipe can be read only once.
    if path.name.lower().removesuffix(".gz").endswith(".json") and path.is_file() and path.stat().st_size:
        with open_text(file) as stream:
            head = stream.read(_SNIFFED_LETTERS).removeprefix("\ufeff").lstrip().encode("utf-8", "replace")
    for name, format in _formats():
        if format.list_mark and head.startswith(b"[") and format.list_mark.search(head):
            return name
    extension = _extension(path)
    known = next((name for name, format in _formats() if extension in format.extensions), None)
    return known or _by_content(file, text_only)


def format_for_writing(path: Path) -> str:
    """Return the format that the name of a new file implies."""
    extension = _extension(path)
    for name, format in _formats():
        is_dataset = format.prefix and str(path).startswith(format.prefix)
        if is_dataset or extension in (*format.extensions, *format.write_extensions):
            return name
    raise InputError.at(path, None, "has an extension of no format; name a format, such as tagged or json_lines")


def _formats() -> Iterator[tuple[str, Format]]:
    return ((name, find_format(name)) for name in FORMATS.names())


def _extension(path: Path) -> str:
    return Path(path.stem if path.suffix.lower() == ".gz" else path.name).suffix.lower()


def _by_content(file: InputFile, text_only: bool) -> str:
    first = islice(read_text(file), _SNIFFED_LINES)
    lines = [content[:_SNIFFED_LETTERS] for _, content in first if content.strip()]
    if not any(line.strip() for line in lines):
        raise InputError.at(file.path, None, "is blank; expected at least one instance")
    likely = {
        name: format.likelihood(lines)
        for name, format in _formats()
        if format.likelihood and (text_only or not format.text_only)
    }
    best = max(likely, key=likely.__getitem__)
    if not likely[best]:
        raise InputError.at(file.path, 1, _UNKNOWN)
    return best
