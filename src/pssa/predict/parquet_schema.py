"""Parquet: windows as Arrow streams, one schema that holds them all, and the file that they are joined to.

A later window may have columns, or types of values, that earlier ones did not have; the file's schema is what all have in common.
A row that no schema can hold beside the rows before it is rejected. Values of a table keep their types; other types are guessed.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from pssa.data.rows import ArrowRow
from pssa.data.validation import format_error
from pssa.errors import InputError
from pssa.predict.fingerprint import BEGIN_AGAIN
from pssa.runs.asked_rows import RejectedRow

if TYPE_CHECKING:
    from pssa.predict.window import Window

_LENGTH_BYTES = 8  # before each stream
_GROUP_ROWS, _GROUP_BYTES = 1 << 16, 1 << 25  # a row group is written when it has either


@dataclass(frozen=True, slots=True, eq=False)
class ArrowCell:
    """One value of an Arrow batch, by its place."""

    batch: Any  # a pyarrow.RecordBatch
    column: int
    row: int


def arrow_cells(given: ArrowRow) -> dict[str, ArrowCell]:
    """Return the values of a row by the names of their columns."""
    batch, row = given
    return {name: ArrowCell(batch, column, row) for column, name in enumerate(batch.schema.names)}


def encode(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Return the rows of a window as an Arrow stream, after its length.

    :raises InputError: if one column would have to hold two types of values.
    """
    import pyarrow

    try:
        whole = [_replace_surrogates(row) for row in rows]
        names = dict.fromkeys(chain.from_iterable(whole))  # of all rows: `from_pylist` takes those of the first
        return _encode_table(pyarrow.table({name: _array([row.get(name) for row in whole]) for name in names}))
    except (pyarrow.ArrowException, OverflowError) as error:
        raise _unwritable(error) from error


def read_tables(file: IO[bytes]) -> Iterator[Any]:
    """Yield the tables of windows: usually one of each."""
    import pyarrow

    while head := file.read(_LENGTH_BYTES):
        yield pyarrow.ipc.open_stream(file.read(int.from_bytes(head, "big"))).read_all()


def fit(window: Window, schema: bytes, before: Callable[[], Iterator[Any]]) -> Window:
    """Return the window with a schema that holds it as well; rows for which there is none are rejected.

    :param schema: of earlier windows, serialised; empty if there are none.
    :param before: gives the tables of earlier windows.
    :raises InputError: if the schema is damaged.
    """
    _read_schema(schema)  # damage is not the fault of a row
    held: list[Any] = []
    unfit: dict[int, InputError] = {}

    def hold(table: Any) -> None:
        nonlocal schema
        schema = widen(schema, table, chain(before(), held))
        held.append(table)

    def add(table: Any, first: int) -> None:
        """Hold what can be held of a table, whose first row has this number: all, else of each half what can be."""
        try:
            hold(table)
        except InputError as error:
            if half := len(table) // 2:
                add(table[:half], first)
                add(table[half:], first + half)
                return
            try:
                hold(_cast_numbers(table, schema))
            except InputError:
                unfit[first] = error

    n_rows = 0
    tables = list(read_tables(io.BytesIO(window.content)))
    for table in tables:
        add(table, n_rows)
        n_rows += len(table)
    if len(tables) == 1 and not unfit:
        return replace(window, schema=schema)
    content = _encode_table(_concatenate(held)) if held else b""
    written = tuple(row for number, row in enumerate(window.written) if number not in unfit)
    rows = [RejectedRow(window.written[number].line, str(reason)) for number, reason in unfit.items()]
    return replace(window, content=content, written=written, schema=schema).reject(rows)


def widen(schema: bytes, table: Any, before: Iterable[Any]) -> bytes:
    """Return the schema that holds what it held before and the table as well.

    :param before: the tables that it holds, which are read only where a type of theirs changes.
    :raises InputError: if one column would have to hold two types of values.
    """
    import pyarrow
    from pyarrow import parquet

    held = _read_schema(schema)
    try:
        whole = pyarrow.unify_schemas([held, table.schema], promote_options="permissive")
        found: bytes = whole.serialize().to_pybytes()
        if found != schema:  # a type that Parquet does not have fails here
            parquet.write_table(whole.empty_table(), pyarrow.BufferOutputStream())
        if table.schema != whole:
            _concatenate([whole.empty_table(), table])
        # A value may have no place in a wider type: a large integer as a float, or a far time.
        if any(_may_fail(column.type, whole.field(column.name).type) for column in held):
            for earlier in before:
                _concatenate([whole.empty_table(), earlier])
        return found
    except pyarrow.ArrowException as error:
        raise _unwritable(error) from error


def _may_fail(old: Any, new: Any) -> bool:
    """Return whether a value of one type may have no place in the other; another field of a struct takes none away."""
    from pyarrow import types

    if types.is_struct(old) and types.is_struct(new):
        return any(_may_fail(field.type, new.field(field.name).type) for field in old)
    if types.is_list(old) and types.is_list(new):
        return _may_fail(old.value_type, new.value_type)
    return not types.is_null(old) and bool(old != new)


def _cast_numbers(row: Any, schema: bytes) -> Any:
    """Return a table of one row with its numbers in the types of the schema: the rows beside it made 3 a floating number.

    :raises InputError: if that would change one.
    """
    import pyarrow
    from pyarrow import types

    known = _read_schema(schema)
    for place, column in enumerate(row.schema):
        wanted = known.field(column.name).type if column.name in known.names else column.type
        if all(types.is_integer(each) or types.is_floating(each) for each in (column.type, wanted)):
            try:
                row = row.set_column(place, column.name, row[place].cast(wanted))
            except pyarrow.ArrowException as error:
                raise _unwritable(error) from error
    return row


def join(tables: Iterable[Any], target: Path, schema: bytes) -> None:
    """Write one Parquet file of the tables of all windows.

    :raises InputError: if Parquet cannot hold them after all.
    """
    import pyarrow
    from pyarrow import parquet

    whole = _read_schema(schema)
    try:
        with parquet.ParquetWriter(target, whole) as writer:
            group: list[Any] = [whole.empty_table()]
            for table in tables:
                group.append(table)
                if sum(map(len, group)) >= _GROUP_ROWS or sum(one.nbytes for one in group) >= _GROUP_BYTES:
                    writer.write_table(_concatenate(group))
                    del group[1:]
            if len(group) > 1:
                writer.write_table(_concatenate(group))
    except pyarrow.ArrowException as error:
        raise _unwritable(error) from error


def _read_schema(schema: bytes) -> Any:
    """Parse a serialised schema; empty bytes are one without columns."""
    import pyarrow

    try:
        return pyarrow.ipc.read_schema(pyarrow.py_buffer(schema)) if schema else pyarrow.schema([])
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(f"the unfinished job has a damaged schema ({format_error(error)}); {BEGIN_AGAIN}") from error


def _unwritable(error: Exception) -> InputError:
    advice = "write JSON Lines, which can hold any value, instead of Parquet"
    return InputError(f"cannot be written as Parquet ({format_error(error)}); {advice}")


def _encode_table(table: Any) -> bytes:
    import pyarrow

    sink = pyarrow.BufferOutputStream()
    options = pyarrow.ipc.IpcWriteOptions(compression="zstd")
    with pyarrow.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return len(content).to_bytes(_LENGTH_BYTES, "big") + content


def _concatenate(tables: Sequence[Any]) -> Any:
    """Return the rows of all tables, in columns that hold them all."""
    import pyarrow

    return pyarrow.concat_tables(tables, promote_options="permissive").combine_chunks()


def _array(values: Sequence[Any]) -> Any:
    import pyarrow

    if not isinstance(values[0], ArrowCell):
        return pyarrow.array(values)
    slices = []
    # Neighbours of a batch are one slice of it.
    for _, run in groupby(enumerate(values), key=lambda item: (id(item[1].batch), item[1].row - item[0])):
        cells = [cell for _, cell in run]
        found = cells[0].batch.column(cells[0].column).slice(cells[0].row, len(cells))
        # Batches have dictionaries of their own, and other inputs may have none.
        slices.append(found.dictionary_decode() if pyarrow.types.is_dictionary(found.type) else found)
    return pyarrow.concat_arrays(slices)


def _replace_surrogates(value: Any) -> Any:
    """Return the value without halves of surrogate pairs, which are no characters."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {_replace_surrogates(key): _replace_surrogates(item) for key, item in value.items()}
    return [_replace_surrogates(item) for item in value] if isinstance(value, list | tuple) else value
