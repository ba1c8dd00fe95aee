"""What has no outcome yet, told in one line instead of shown as rows of empty fields."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pssa.studies.exhibit import Figure, Part, Prose, Table, Value

__all__ = ["without_gaps"]

_TOLD = 12  # rows that are named, at most
_SEEDS = "seeds"  # the column that counts what the others of a row were measured with


def without_gaps(parts: Iterable[Part]) -> list[Part]:
    """The parts without rows that have no outcome; tables and figures that have none at all are named in the end."""
    shown: list[Part] = []
    empty: list[str] = []
    for part in parts:
        left = _shown(part)
        if left is not None:
            shown.append(left)
        elif not isinstance(part, Prose):
            empty.append(part.title)
    return [*shown, *([Prose(f"No outcome yet: {'; '.join(empty)}.")] if empty else [])]


def _shown(part: Part) -> Part | None:
    match part:
        case Table(outcomes=(_, *_)):
            return _filled(part)
        case Figure() if not any(panel.lines for panel in part.panels):
            return None
        case _:
            return part


def _filled(table: Table) -> Table | None:
    """The table without its empty rows; none where nothing is left."""
    places = {name: table.columns.index(name) for name in table.outcomes}
    kept = tuple(row for row in table.rows if any(_is_outcome(name, row[place]) for name, place in places.items()))
    if not kept:
        return None
    missing = [row[: min(places.values())] for row in table.rows if row not in kept]
    if not missing:
        return table
    named = [" ".join(str(field) for field in row if field is not None) for row in missing[:_TOLD]]
    more = f" and {len(missing) - _TOLD} more" if len(missing) > _TOLD else ""
    return replace(table, rows=kept, notes=(*table.notes, f"No outcome yet: {'; '.join(named)}{more}."))


def _is_outcome(column: str, field: Value) -> bool:
    # What was measured may be zero; zero seeds have measured nothing.
    return field is not None and str(field) != "" and not (column == _SEEDS and field == 0)
