"""Tables for programs: CSV and JSON, with values as they were measured, not as people read them."""

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

__all__ = ["cells_as_csv", "table_as_csv", "table_as_json"]

_PLACE = ("data", "model", "seed", "share", "held_out", "stripped")
_MEASURED = ("accuracy", "macro_f1", "epochs", "gamma", "parameters", "members", "instances", "with_active", "seconds")


def table_as_csv(table: Table) -> str:
    """A line of columns, then one for each row; what is missing is empty."""
    return _csv(table.columns, table.rows)


def table_as_json(table: Table) -> str:
    """The table with its title and notes; numbers are numbers, and what is missing is null."""
    value = {
        "name": table.name,
        "title": table.title,
        "columns": list(table.columns),
        "rows": [[_finite(field) for field in row] for row in table.rows],
        "notes": list(table.notes),
    }
    return json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def cells_as_csv(found: Iterable[tuple[Cell, Record]]) -> str:
    """A line for each cell that was carried out, with what a spreadsheet can hold of it; the ledger has the rest."""
    columns = ("cell", "key", "kind", *_PLACE, "method", "evidence", "rounds", *_MEASURED)
    return _csv(columns, (_cell_row(cell, record) for cell, record in found))


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


def _finite(value: Value) -> Value:
    """JSON has no word for what is not finite."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
