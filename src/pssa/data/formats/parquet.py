"""Parquet: a row an instance, with the columns of `_fields`; read in batches, so that memory stays bounded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from pssa.data.example import Example
from pssa.data.formats._arrow import ArrowRow, plain_values
from pssa.data.formats._columns import AS_NAMED, Columns
from pssa.data.formats._fields import fields_of
from pssa.data.formats._rows import Event
from pssa.data.formats._text import require_file
from pssa.data.validation import format_error
from pssa.errors import InputError, MissingExtra

__all__ = ["encode", "scan"]

_BATCH = 128  # rows; each may be as large as what is packed into the few bytes of a dictionary
_MOST_BATCH = 1 << 28  # bytes
_FREE, _MOST_TIMES = 1 << 24, 200  # bytes that any file may unpack to at once, and times its size beyond that


def scan(path: Path, columns: Columns = AS_NAMED) -> Iterator[Event]:
    """A row for each row; its line is its number."""
    _, parquet = _pyarrow()
    require_file(path)
    try:
        with parquet.ParquetFile(path) as table:
            columns.require(path, table.schema_arrow.names)
            _refuse_bomb(path, table.metadata)
            records = chain.from_iterable(_rows(path, batch) for batch in table.iter_batches(_BATCH))
            for line, (fields, arrow) in enumerate(records, 1):
                yield replace(columns.row(line, fields), arrow=arrow)
    except InputError:
        raise
    except Exception as error:  # Arrow's own, and Python's for text that is not UTF-8
        raise InputError.at(
            path, None, f"cannot be read as Parquet ({format_error(error)}); write the file again"
        ) from error


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


def _refuse_bomb(path: Path, metadata: Any) -> None:
    # What a group says of itself as a whole; asking for its columns ends the process where they are damaged.
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    if max((group.total_byte_size for group in groups), default=0) > max(_FREE, _MOST_TIMES * path.stat().st_size):
        raise InputError.at(
            path, None, f"unpacks to more than {_MOST_TIMES} times its size; write it with less packing"
        )


def _rows(path: Path, batch: Any) -> Iterator[tuple[dict[str, Any], ArrowRow]]:
    size = sum(map(_decoded_bytes, batch.columns))
    if size > _MOST_BATCH:
        raise InputError.at(path, None, f"{len(batch)} of its rows have {size} bytes; expected a sentence in each")
    values = zip(*map(plain_values, batch.columns), strict=True)
    return (
        (dict(zip(batch.schema.names, row, strict=True)), ArrowRow(batch, number)) for number, row in enumerate(values)
    )


def _decoded_bytes(column: Any) -> int:
    """Of a column's values, at most; in one with a dictionary each may be the longest."""
    pyarrow, _ = _pyarrow()
    from pyarrow import compute

    values = getattr(column, "dictionary", None)
    if values is None or not (pyarrow.types.is_large_string(values.type) or pyarrow.types.is_string(values.type)):
        return int(column.nbytes)
    return (compute.max(compute.binary_length(values)).as_py() or 0) * len(column)


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtra("pyarrow", "data") from error
    return pyarrow, parquet
