"""Tables for programs: CSV and JSON, with values as they were measured, not as people read them.

What a reading is made of stands in CSV in columns of its own, and in JSON beside what it shows.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

from pssa.experiments.cells import Cell, Mining, Training, name_of
from pssa.experiments.exhibit import Table, Value
from pssa.experiments.ledger import Record
from pssa.experiments.reading import Plain, Reading

__all__ = ["cells_as_csv", "table_as_csv", "table_as_json"]

_PLACE = ("data", "model", "seed", "share", "held_out", "stripped")
_MEASURED = ("accuracy", "macro_f1", "epochs", "gamma", "parameters", "members", "instances", "with_active", "seconds")


def table_as_csv(table: Table) -> str:
    """A line of columns, then one for each row; what is missing is empty."""
    parts = [_parts(row[place] for row in table.rows) for place in range(len(table.columns))]
    columns = [name for column, names in zip(table.columns, parts, strict=True) for name in _headings(column, names)]
    rows = (
        [value for field, names in zip(row, parts, strict=True) for value in _values(field, names)]
        for row in table.rows
    )
    return _csv(columns, rows)


def table_as_json(table: Table) -> str:
    """The table with its title and notes; numbers are numbers, and what is missing is null."""
    value = {
        "name": table.name,
        "title": table.title,
        "columns": list(table.columns),
        "rows": [[_field(field) for field in row] for row in table.rows],
        "notes": list(table.notes),
    }
    return json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def cells_as_csv(found: Iterable[tuple[Cell, Record]]) -> str:
    """A line for each cell that was carried out, with what a spreadsheet can hold of it; the ledger has the rest."""
    columns = ("cell", "key", "kind", *_PLACE, "method", "evidence", "rounds", *_MEASURED)
    return _csv(columns, (_cell_row(cell, record) for cell, record in found))


def _parts(fields: Iterable[Value]) -> list[str]:
    """What the readings of a column are made of; nothing where there are none."""
    return list(dict.fromkeys(name for field in fields if isinstance(field, Reading) for name in field.parts))


def _headings(column: str, names: Sequence[str]) -> list[str]:
    return [f"{column} {name}" for name in names] if len(names) > 1 else [column]


def _values(field: Value, names: Sequence[str]) -> list[Plain]:
    if isinstance(field, Reading):
        return [field.parts.get(name) for name in names]
    return [field, *[None] * (len(names) - 1)]


def _field(field: Value) -> Plain | dict[str, Plain]:
    if not isinstance(field, Reading):
        return _finite(field)
    return {"shown": field.text, **{name: _finite(part) for name, part in field.parts.items()}} if field.text else None


def _cell_row(cell: Cell, record: Record) -> list[Any]:
    place = [getattr(cell.place, name) for name in _PLACE]
    evidence = "+".join(mining.method for mining in cell.evidence) if isinstance(cell, Training) else None
    method = cell.method if isinstance(cell, Training | Mining) else getattr(cell, "what", None)
    rounds = cell.rounds or None if isinstance(cell, Training) else None
    measured = [record.get(name) for name in _MEASURED]
    return [name_of(cell), record["key"], type(cell).__name__.lower(), *place, method, evidence, rounds, *measured]


def _csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_finite(field) for field in row] for row in rows)
    return stream.getvalue()


def _finite(value: Plain) -> Plain:
    """JSON has no word for what is not finite."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
