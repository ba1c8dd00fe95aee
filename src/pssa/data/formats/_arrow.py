"""Rows of an Arrow table as they are there, for those who write them on.

Python has no place for some of their values, such as the year 90000, and one kind of whole number where Arrow has eight.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["ArrowRow", "Cell", "plain_values"]


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """One value, where it is; neighbours share their batch."""

    batch: Any  # a pyarrow.RecordBatch
    column: int
    row: int


@dataclass(frozen=True, slots=True, eq=False)
class ArrowRow:
    """A row of a batch."""

    batch: Any  # a pyarrow.RecordBatch
    row: int

    def cells(self) -> dict[str, Cell]:
        """Its values by their names."""
        return {name: Cell(self.batch, column, self.row) for column, name in enumerate(self.batch.schema.names)}


def plain_values(column: Any) -> list[Any]:
    """A column's values in Python, or as text where that has no place for them.

    :raises UnicodeDecodeError: for text that is not UTF-8.
    """
    import pyarrow

    if column.type == pyarrow.time64("ns"):  # of which Python would cut the end off
        column = column.cast(pyarrow.string())
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:
        raise
    except (OverflowError, ValueError):
        return [_plain(value) for value in column]


def _plain(value: Any) -> Any:
    from pyarrow import MapScalar, string

    try:
        return value.as_py()
    except (OverflowError, ValueError):
        if isinstance(value, MapScalar):
            return [list(_plain(pair).values()) for pair in value.values]
        if hasattr(value, "values") and not hasattr(value, "keys"):
            return [_plain(item) for item in value.values]
        if hasattr(value, "keys"):
            return {name: _plain(item) for name, item in value.items()}
        return value.cast(string()).as_py()
