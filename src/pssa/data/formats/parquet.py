"""Parquet: one row per instance, with the columns of `pssa.data.fields`; read in batches, so that memory stays bounded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from pssa.data.example import Example
from pssa.data.fields import fields_of
from pssa.data.formats import Format
from pssa.data.rows import SAME_NAMES, Columns, Event
from pssa.data.text_file import InputFile, require_file
from pssa.data.validation import format_error
from pssa.errors import InputError, import_extra

_BATCH = 128  # rows; a dictionary can pack a large value into a few bytes of each
_MAX_BATCH = 1 << 28  # bytes
_MAX_UNPACKED = 1 << 24  # bytes that any file may unpack to at once
_MAX_GROWTH = 200  # times its own size, beyond that


def scan(file: InputFile, columns: Columns = SAME_NAMES) -> Iterator[Event]:
    """Yield a row for each row of the table; its line is its number."""
    path = file.path
    with _opened(file) as table:
        names, line = table.schema_arrow.names, 0
        columns.check_header(path, names)
        # Only totals of row groups: reading damaged metadata of columns ends the process.
        groups = map(table.metadata.row_group, range(table.metadata.num_row_groups))
        largest = max((group.total_byte_size for group in groups), default=0)
        if largest > max(_MAX_UNPACKED, _MAX_GROWTH * path.stat().st_size):
            raise InputError.at(path, None, f"unpacks to more than {_MAX_GROWTH} times its size; compress it less")
        for batch in table.iter_batches(_BATCH):
            size = sum(map(_decoded_bytes, batch.columns))
            if size > _MAX_BATCH:
                raise InputError.at(path, None, f"has {size} bytes in {len(batch)} rows; expected a sentence in each")
            for place, row in enumerate(zip(*map(_python_values, batch.columns), strict=True)):
                line += 1
                yield replace(columns.row(line, dict(zip(names, row, strict=True))), arrow=(batch, place))


@contextmanager
def _opened(file: InputFile) -> Iterator[Any]:
    """Open a Parquet file; what is wrong with it, now or while it is read, is an `InputError`."""
    parquet = import_extra("pyarrow.parquet", "data")
    require_file(file)
    try:
        with parquet.ParquetFile(file.path) as table:
            yield table
    except InputError:
        raise
    except Exception as error:  # Arrow's own, and Python's for text that is not UTF-8
        what = f"cannot be read as Parquet ({format_error(error)}); write it again"
        raise InputError.at(file.path, None, what) from error


def encode(examples: Sequence[Example]) -> bytes:
    """Return one table with every field of every example."""
    pyarrow, parquet = import_extra("pyarrow", "data"), import_extra("pyarrow.parquet", "data")
    text, offset = pyarrow.string(), pyarrow.int32()
    lists = {"words": pyarrow.list_(pyarrow.list_(offset)), "tags": pyarrow.list_(text)}
    aspect = {"aspect": text, "from": offset, "to": offset, "label": text}
    schema = pyarrow.schema({"id": text, "sentence_id": text, "text": text, **aspect, **lists})
    sink = pyarrow.BufferOutputStream()
    parquet.write_table(pyarrow.Table.from_pylist([fields_of(example) for example in examples], schema), sink)
    return bytes(sink.getvalue())


def _decoded_bytes(column: Any) -> int:
    """Return an upper bound of the size of a column's values; with a dictionary each may be the longest."""
    import pyarrow
    from pyarrow import compute

    values = getattr(column, "dictionary", None)
    if values is None or not (pyarrow.types.is_large_string(values.type) or pyarrow.types.is_string(values.type)):
        return int(column.nbytes)
    return (compute.max(compute.binary_length(values)).as_py() or 0) * len(column)


def _python_values(column: Any) -> list[Any]:
    """Return a column's values in Python, or as text if Python has no type for them; refuse text that is not UTF-8."""
    import pyarrow

    if column.type == pyarrow.time64("ns"):  # Python would cut the nanoseconds off
        column = column.cast(pyarrow.string())
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:
        raise
    except (OverflowError, ValueError):
        return [_python_value(value) for value in column]


def _python_value(value: Any) -> Any:
    from pyarrow import MapScalar, string

    try:
        return value.as_py()
    except (OverflowError, ValueError):
        if isinstance(value, MapScalar):
            return [list(_python_value(pair).values()) for pair in value.values]
        if hasattr(value, "values") and not hasattr(value, "keys"):
            return [_python_value(item) for item in value.values]
        if hasattr(value, "keys"):
            return {name: _python_value(item) for name, item in value.items()}
        return value.cast(string()).as_py()


FORMAT = Format(
    scan=scan,
    encode=encode,
    has_columns=True,
    has_encoding=False,
    needs_file=True,
    extensions=(".parquet",),
)
