"""Parquet in the making: an Arrow stream for each window, one after the other in a file, and in the end one Parquet file.

A later window may have columns, or kinds of values, that those before it had not; the file's schema is what all have in common.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Any

from pssa.data.shown import told
from pssa.errors import InputError

__all__ = ["encode", "join", "widened"]

_LENGTH = 8  # bytes before each stream, that say how long it is
_GROUP, _GROUP_BYTES = 1 << 16, 1 << 25  # rows of a row group and their size; it is written when it has either
_ADVICE = "write JSON Lines, which can hold any"


def encode(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """A window's rows, with their length before them.

    :raises InputError: if values of a column are of kinds that one column cannot hold.
    """
    import pyarrow

    try:
        whole = [_whole(row) for row in rows]
        names = dict.fromkeys(chain.from_iterable(whole))  # of all rows: `from_pylist` takes those of the first
        table = pyarrow.Table.from_pydict({name: [row.get(name) for row in whole] for name in names})
        sink = pyarrow.BufferOutputStream()
        options = pyarrow.ipc.IpcWriteOptions(compression="zstd")
        with pyarrow.ipc.new_stream(sink, table.schema, options=options) as writer:
            writer.write_table(table)
    except (pyarrow.ArrowException, OverflowError) as error:
        raise InputError(f"cannot be written as Parquet ({told(error)}); {_ADVICE}") from error
    stream: bytes = sink.getvalue().to_pybytes()
    return len(stream).to_bytes(_LENGTH, "big") + stream


def widened(schema: bytes, content: bytes, part: Path) -> bytes:
    """The schema, serialised, that holds what it held before and the window `content` as well.

    :param part: the windows before.
    :raises InputError: if one column would have to hold two kinds of values.
    """
    import pyarrow
    from pyarrow import parquet

    [window] = _tables(io.BytesIO(content))
    before = _read_schema(schema)
    try:
        whole = pyarrow.unify_schemas([before, window.schema], promote_options="permissive")
        found: bytes = whole.serialize().to_pybytes()
        if found != schema:  # now is the time to learn that Parquet has no place for it
            parquet.write_table(whole.empty_table(), pyarrow.BufferOutputStream())
        if window.schema != whole:
            _together([whole.empty_table(), window])
        if any(_rounds(field.type, whole.field(field.name).type) for field in before):
            with part.open("rb") as file:
                for table in _tables(file):
                    _together([whole.empty_table(), table])
        return found
    except pyarrow.ArrowException as error:
        raise InputError(f"cannot be written as Parquet ({told(error)}); {_ADVICE}") from error


def join(part: Path, target: Path, schema: bytes) -> None:
    """Make one Parquet file of all windows in `part`.

    :raises InputError: if Parquet cannot hold them after all.
    """
    import pyarrow

    try:
        _join(part, target, _read_schema(schema))
    except pyarrow.ArrowException as error:
        raise InputError(f"cannot be written as Parquet ({told(error)}); {_ADVICE}") from error


def _join(part: Path, target: Path, whole: Any) -> None:
    from pyarrow import parquet

    with part.open("rb") as file, parquet.ParquetWriter(target, whole) as writer:
        group: list[Any] = [whole.empty_table()]
        for table in _tables(file):
            group.append(table)
            if sum(map(len, group)) >= _GROUP or sum(one.nbytes for one in group) >= _GROUP_BYTES:
                writer.write_table(_together(group))
                del group[1:]
        if len(group) > 1:
            writer.write_table(_together(group))


def _read_schema(schema: bytes) -> Any:
    import pyarrow

    return pyarrow.ipc.read_schema(pyarrow.py_buffer(schema)) if schema else pyarrow.schema([])


def _rounds(old: Any, new: Any) -> bool:
    """Whether integers of one kind are floating in the other, which cannot hold the largest of them."""
    from pyarrow import types

    if types.is_struct(old) and types.is_struct(new):
        return any(_rounds(field.type, new.field(field.name).type) for field in old)
    if types.is_list(old) and types.is_list(new):
        return _rounds(old.value_type, new.value_type)
    return bool(types.is_integer(old) and types.is_floating(new))


def _together(tables: Sequence[Any]) -> Any:
    import pyarrow

    return pyarrow.concat_tables(tables, promote_options="permissive").combine_chunks()


def _tables(file: IO[bytes]) -> Iterator[Any]:
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
