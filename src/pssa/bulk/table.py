"""Parquet in the making: an Arrow stream for each window, one after the other in a file, and in the end one Parquet file.

A later window may have columns, or kinds of values, that those before it had not; the file's schema is what all have in common.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
        table = pyarrow.Table.from_pylist([_whole(row) for row in rows])
        sink = pyarrow.BufferOutputStream()
        options = pyarrow.ipc.IpcWriteOptions(compression="zstd")
        with pyarrow.ipc.new_stream(sink, table.schema, options=options) as writer:
            writer.write_table(table)
    except (pyarrow.ArrowException, OverflowError) as error:
        raise InputError(f"cannot be written as Parquet ({told(error)}); {_ADVICE}") from error
    stream: bytes = sink.getvalue().to_pybytes()
    return len(stream).to_bytes(_LENGTH, "big") + stream


def widened(schema: bytes, content: bytes) -> bytes:
    """The schema, serialised, that holds what it held before and the windows of `content` as well.

    :raises InputError: if one column would have to hold two kinds of values.
    """
    import pyarrow
    from pyarrow import parquet

    known = [pyarrow.ipc.read_schema(pyarrow.py_buffer(schema))] if schema else []
    start = 0
    while start < len(content):
        end = start + _LENGTH + int.from_bytes(content[start : start + _LENGTH], "big")
        known.append(pyarrow.ipc.open_stream(content[start + _LENGTH : end]).schema)
        start = end
    try:
        whole = pyarrow.unify_schemas(known, promote_options="permissive")
        found: bytes = whole.serialize().to_pybytes()
        if found != schema:  # now is the time to learn that Parquet has no place for it
            parquet.write_table(whole.empty_table(), pyarrow.BufferOutputStream())
        return found
    except pyarrow.ArrowException as error:
        raise InputError(f"cannot be written as Parquet ({told(error)}); {_ADVICE}") from error


def join(part: Path, target: Path, schema: bytes) -> None:
    """Make one Parquet file of all windows in `part`."""
    import pyarrow
    from pyarrow import parquet

    whole = pyarrow.ipc.read_schema(pyarrow.py_buffer(schema)) if schema else pyarrow.schema([])
    with part.open("rb") as file, parquet.ParquetWriter(target, whole) as writer:
        group: list[Any] = [whole.empty_table()]
        for table in _tables(file):
            group.append(table)
            if sum(map(len, group)) >= _GROUP or sum(one.nbytes for one in group) >= _GROUP_BYTES:
                writer.write_table(_together(group))
                del group[1:]
        if len(group) > 1:
            writer.write_table(_together(group))


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


def _told(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
