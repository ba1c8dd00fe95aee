"""Names of CSV columns, in which upper and lower case are the same: one spelling in all of an output.

A name stays as its header has it, unless another spelling came first in the job, or it is that of a field of every output.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from pssa.bulk.rows import OUTPUT_FIELDS
from pssa.data.read import Problem, Row

__all__ = ["respelled"]


def respelled(rows: Sequence[Row | Problem], columns: Sequence[str]) -> tuple[Row | Problem, ...]:
    """Rows of one table, their names spelled as in the output's columns; none of these are known before its first row."""
    first = next((row for row in rows if isinstance(row, Row)), None)
    other = {} if first is None else _other_spellings(first.given, (*OUTPUT_FIELDS, *columns))
    return tuple(_with(row, other) if other and isinstance(row, Row) else row for row in rows)


def _other_spellings(header: Iterable[str], wanted: Sequence[str]) -> dict[str, str]:
    """What to call those of a header that are to be called otherwise."""
    spellings = {name.lower(): name for name in reversed(wanted)}
    names = list(header)
    other: dict[str, str] = {}
    for name in names:
        spelling = spellings.get(name.lower(), name)
        if spelling not in names and spelling not in other.values():  # two columns stay two
            other[name] = spelling
    return other


def _with(row: Row, other: Mapping[str, str]) -> Row:
    return replace(row, renamed_from={other.get(name, name): value for name, value in row.given.items()})
