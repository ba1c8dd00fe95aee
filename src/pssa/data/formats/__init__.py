"""The file formats: one module each, `scan` reads it row by row, `encode` gives the bytes of a file.

A module turns its file into `Row`s whose fields have the same names whatever the format; what a field means is decided
once, in `_fields`. Modules that start with `_` are shared parts. To add a format, write its module and name it here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from pssa.data.example import Example
from pssa.data.formats import csv_file, hugging_face, json_lines, parquet, semeval_xml, tagged, three_line
from pssa.data.formats._arrow import ArrowRow, Cell
from pssa.data.formats._columns import AS_NAMED, Columns
from pssa.data.formats._rows import Event
from pssa.data.formats._values import spans_as_text, tags_as_text
from pssa.errors import InputError

__all__ = [
    "ENCODERS",
    "FORMATS",
    "ArrowRow",
    "Cell",
    "Encoder",
    "Scanner",
    "TableScanner",
    "format_named",
    "require_named_columns",
    "scan",
    "spans_as_text",
    "tags_as_text",
]


class Scanner(Protocol):
    """A format that can be read; a fault of a row is an event, a fault of the whole file an `InputError`."""

    def scan(self, path: Path) -> Iterator[Event]:
        """What is in the file, in file order."""
        ...


class TableScanner(Protocol):
    """A format whose columns have names, which need not be ours."""

    def scan(self, path: Path, columns: Columns = ...) -> Iterator[Event]:
        """What is in the file, in file order, its fields by our names."""
        ...


class Encoder(Protocol):
    """A format that is one file."""

    def encode(self, examples: Sequence[Example]) -> bytes:
        """The content of the file; an `InputError` says which example the format cannot express."""
        ...


FORMATS: Mapping[str, Scanner] = {
    "csv": csv_file,
    "hugging_face": hugging_face,
    "json_lines": json_lines,
    "parquet": parquet,
    "semeval_xml": semeval_xml,
    "tagged": tagged,
    "three_line": three_line,
}

_TABLES: Mapping[str, TableScanner] = {
    "csv": csv_file,
    "hugging_face": hugging_face,
    "json_lines": json_lines,
    "parquet": parquet,
}

# A Hugging Face dataset is a directory and has its own `save`.
ENCODERS: Mapping[str, Encoder] = {
    "csv": csv_file,
    "json_lines": json_lines,
    "parquet": parquet,
    "semeval_xml": semeval_xml,
    "tagged": tagged,
    "three_line": three_line,
}

_SHORT = {"hf": "hugging_face", "jsonl": "json_lines", "tsv": "csv", "xml": "semeval_xml"}


def format_named(name: str) -> str:
    """The format's full name, given that or a short one (`xml`, `jsonl`, `tsv`, `hf`; `-` is as good as `_`)."""
    key = name.lower().replace("-", "_")
    key = _SHORT.get(key, key)
    if key not in FORMATS:
        raise InputError(f"unknown format {name!r}; known: {', '.join(FORMATS)}")
    return key


def scan(path: Path, format: str, columns: Columns = AS_NAMED) -> Iterator[Event]:
    """What is in a file of this format, in file order.

    :raises InputError: if columns are named, and the format has none.
    """
    if not columns:
        return FORMATS[format].scan(path)
    require_named_columns(path, format, columns)
    return _TABLES[format].scan(path, columns)


def require_named_columns(path: str | Path, format: str, columns: Columns) -> None:
    """Refuse names of columns for a format that has none."""
    if columns and format not in _TABLES:
        has = f"the format {format} has no columns with names, as {', '.join(_TABLES)} have"
        raise InputError.at(path, None, f"{has}; leave out `columns` (--columns {columns}), or name another format")
