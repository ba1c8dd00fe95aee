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

from pssa.experiments.ledger import Record
from pssa.experiments.reading import Plain, Reading
from pssa.studies.exhibit import Table, Value

__all__ = ["cells_as_csv", "table_as_csv", "table_as_json"]

# Of a place, with what is usual of each.
_PLACE = {"data": None, "model": None, "seed": None, "share": 1.0, "held_out": False, "stripped": False}
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


def cells_as_csv(records: Iterable[Record]) -> str:
    """A line for each cell that was carried out, with what a spreadsheet can hold of it; the ledger has the rest.

    `evidence` and `settings` are of the training; of a look they are those of the training that is looked at.
    """
    columns = ("key", "kind", *_PLACE, "what", "method", "evidence", "rounds", "above", "settings", *_MEASURED)
    return _csv(columns, map(_cell_row, records))


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


def _cell_row(record: Record) -> list[Any]:
    cell = record["cell"]
    about = cell.get("training", cell)
    place = about["place"]
    method = about.get("method", None if cell["kind"] == "timing" else "base")
    evidence = " + ".join(f"{mining['method']}{_within(mining)}" for mining in about.get("evidence", ()))
    chosen = " ".join(_told({**place.get("settings", {}), **about.get("settings", {})}))
    return [
        *(record["key"], cell["kind"], *(place.get(name, usual) for name, usual in _PLACE.items())),
        *(cell.get("what"), method, evidence or None, about.get("rounds"), about.get("above"), chosen or None),
        *(record.get(name) for name in _MEASURED),
    ]


def _within(mining: Record) -> str:
    told = _told({**mining["place"].get("settings", {}), **mining.get("settings", {})})
    return f" [{' '.join(told)}]" if told else ""


def _told(chosen: Record) -> list[str]:
    return [f"{name}={value}" for name, value in chosen.items()]


def _csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_finite(field) for field in row] for row in rows)
    return stream.getvalue()


def _finite(value: Plain) -> Plain:
    """JSON has no word for what is not finite."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
