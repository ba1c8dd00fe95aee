"""Parquet: a row an instance, with the columns of `_fields`; read in batches, so that memory stays bounded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from pssa.data.example import Example
from pssa.data.formats._fields import fields_of, require_columns
from pssa.data.formats._rows import Event, Row
from pssa.data.formats._text import require_file
from pssa.errors import InputError, MissingExtra

__all__ = ["encode", "scan"]

_BATCH = 4096


def scan(path: Path) -> Iterator[Event]:
    """A row for each row; its line is its number."""
    pyarrow, parquet = _pyarrow()
    require_file(path)
    try:
        with parquet.ParquetFile(path) as table:
            require_columns(path, table.schema_arrow.names)
            records = chain.from_iterable(batch.to_pylist() for batch in table.iter_batches(_BATCH))
            for line, fields in enumerate(records, 1):
                yield Row(line, fields)
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        what = str(error).splitlines()[0]
        raise InputError.at(path, None, f"cannot be read as Parquet ({what}); write the file again") from error


def encode(examples: Sequence[Example]) -> bytes:
    """One table with every field of every example."""
    pyarrow, parquet = _pyarrow()
    text, offset = pyarrow.string(), pyarrow.int32()
    schema = pyarrow.schema(
        [
            ("id", text),
            ("sentence_id", text),
            ("text", text),
            ("aspect", text),
            ("from", offset),
            ("to", offset),
            ("label", text),
            ("words", pyarrow.list_(pyarrow.list_(offset))),
            ("tags", pyarrow.list_(text)),
        ]
    )
    sink = pyarrow.BufferOutputStream()
    parquet.write_table(pyarrow.Table.from_pylist([fields_of(example) for example in examples], schema), sink)
    return bytes(sink.getvalue())


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtra("pyarrow", "data") from error
    return pyarrow, parquet
