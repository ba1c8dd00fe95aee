"""Parquet in the making: an Arrow stream for each window, one after the other in a file, and in the end one Parquet file.

A later window may have columns, or kinds of values, that those before it had not; the file's schema is what all have in common.
What comes from a table keeps the kinds that it has there; those of other values are guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import IO, Any

from pssa.bulk.advice import AGAIN, OUTPUT
from pssa.data.formats import Cell
from pssa.data.validation import format_error
from pssa.errors import InputError

__all__ = ["as_before", "encode", "join", "read_schema", "stream", "tables", "together", "widened"]

_LENGTH = 8  # bytes before each stream, that say how long it is
_GROUP, _GROUP_BYTES = 1 << 16, 1 << 25  # rows of a row group and their size; it is written when it has either


def encode(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """A window's rows, with their length before them.

    :raises InputError: if values of a column are of kinds that one column cannot hold.
    """
    import pyarrow

    try:
        whole = [_whole(row) for row in rows]
        names = dict.fromkeys(chain.from_iterable(whole))  # of all rows: `from_pylist` takes those of the first
        return stream(pyarrow.table({name: _array([row.get(name) for row in whole]) for name in names}))
    except (pyarrow.ArrowException, OverflowError) as error:
        raise _unwritable(error) from error


def stream(table: Any) -> bytes:
    """An Arrow stream of the table, with its length before it."""
    import pyarrow

    sink = pyarrow.BufferOutputStream()
    options = pyarrow.ipc.IpcWriteOptions(compression="zstd")
    with pyarrow.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return len(content).to_bytes(_LENGTH, "big") + content


def widened(schema: bytes, window: Any, before: Callable[[], Iterator[Any]]) -> bytes:
    """The schema, serialised, that holds what it held before and the window as well.

    :param before: gives the tables that it held before.
    :raises InputError: if one column would have to hold two kinds of values.
    """
    import pyarrow
    from pyarrow import parquet

    held = read_schema(schema)
    try:
        whole = pyarrow.unify_schemas([held, window.schema], promote_options="permissive")
        found: bytes = whole.serialize().to_pybytes()
        if found != schema:  # now is the time to learn that Parquet has no place for it
            parquet.write_table(whole.empty_table(), pyarrow.BufferOutputStream())
        if window.schema != whole:
            together([whole.empty_table(), window])
        if any(_may_fail(field.type, whole.field(field.name).type) for field in held):
            for table in before():
                together([whole.empty_table(), table])
        return found
    except pyarrow.ArrowException as error:
        raise _unwritable(error) from error


def as_before(schema: bytes, window: Any) -> Any:
    """The window with its numbers in the kinds that their columns had before.

    :raises InputError: if that would change one.
    """
    import pyarrow
    from pyarrow import types

    held = read_schema(schema)
    numbers = types.is_integer, types.is_floating
    try:
        for column, found in enumerate(window.schema):
            wanted = held.field(found.name).type if found.name in held.names else found.type
            if found.type != wanted and all(any(is_kind(one) for is_kind in numbers) for one in (found.type, wanted)):
                window = window.set_column(column, found.name, window[column].cast(wanted))
    except pyarrow.ArrowException as error:
        raise _unwritable(error) from error
    return window


def join(part: Path, target: Path, schema: bytes) -> None:
    """Make one Parquet file of all windows in `part`.

    :raises InputError: if Parquet cannot hold them after all.
    """
    import pyarrow

    try:
        _join(part, target, read_schema(schema))
    except pyarrow.ArrowException as error:
        raise _unwritable(error) from error


def _join(part: Path, target: Path, whole: Any) -> None:
    from pyarrow import parquet

    with part.open("rb") as file, parquet.ParquetWriter(target, whole) as writer:
        group: list[Any] = [whole.empty_table()]
        for table in tables(file):
            group.append(table)
            if sum(map(len, group)) >= _GROUP or sum(one.nbytes for one in group) >= _GROUP_BYTES:
                writer.write_table(together(group))
                del group[1:]
        if len(group) > 1:
            writer.write_table(together(group))


def read_schema(schema: bytes) -> Any:
    """A schema as `widened` gives it; empty bytes are one without columns.

    :raises InputError: if it is damaged.
    """
    import pyarrow

    try:
        return pyarrow.ipc.read_schema(pyarrow.py_buffer(schema)) if schema else pyarrow.schema([])
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(f"the journal has a damaged schema ({format_error(error)}); {AGAIN}") from error


def _unwritable(error: Exception) -> InputError:
    advice = f"JSON Lines can hold any: for those begin again with an {OUTPUT} that ends in .jsonl"
    return InputError(f"cannot be written as Parquet ({format_error(error)}); {advice}")


def _may_fail(old: Any, new: Any) -> bool:
    """Whether a value of one kind may have no place in the other: the largest integers among floating numbers, or far times."""
    from pyarrow import types

    if types.is_struct(old) and types.is_struct(new):
        return any(_may_fail(field.type, new.field(field.name).type) for field in old)
    if types.is_list(old) and types.is_list(new):
        return _may_fail(old.value_type, new.value_type)
    return not types.is_null(old) and old != new


def _array(values: Sequence[Any]) -> Any:
    import pyarrow

    if not isinstance(values[0], Cell):
        return pyarrow.array(values)
    # Neighbours of a batch are one slice of it.
    runs = groupby(enumerate(values), key=lambda item: (id(item[1].batch), item[1].row - item[0]))
    cells = ([cell for _, cell in run] for _, run in runs)
    return pyarrow.concat_arrays([_slice(run[0], len(run)) for run in cells])


def _slice(first: Cell, count: int) -> Any:
    from pyarrow import types

    found = first.batch.column(first.column).slice(first.row, count)
    # Batches have dictionaries of their own, and other inputs may have none.
    return found.dictionary_decode() if types.is_dictionary(found.type) else found


def together(windows: Sequence[Any]) -> Any:
    """The rows of all, in columns that hold them all."""
    import pyarrow

    return pyarrow.concat_tables(windows, promote_options="permissive").combine_chunks()


def tables(file: IO[bytes]) -> Iterator[Any]:
    """What `stream` wrote, once or more often."""
    import pyarrow

    while head := file.read(_LENGTH):
        yield pyarrow.ipc.open_stream(file.read(int.from_bytes(head, "big"))).read_all()


def _whole(value: Any) -> Any:
    """The value without halves of surrogate pairs, which are no characters."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {_whole(key): _whole(item) for key, item in value.items()}
    return [_whole(item) for item in value] if isinstance(value, list | tuple) else value
