"""What people read in a table, whatever its format: numbers with the decimals of their column, nothing where a value is missing.

Texts may hold `code` between backticks, which every format sets in its own way; everything else in them is plain.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from pssa.studies.exhibit import Figure, Line, Table, Value

__all__ = ["Shown", "Span", "as_grid", "as_table", "one_line", "show_table", "spans"]

_NUMBER = re.compile(r"[+\-−]?\d")
_CODE = re.compile(r"`([^`\n]+)`")
_LONG = 10_000  # from here on whole numbers are written with commas


@dataclass(frozen=True)
class Shown:
    """A table as text."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    is_number: tuple[bool, ...]  # by column; such a column is set to the right


@dataclass(frozen=True)
class Span:
    """A stretch of a text."""

    text: str
    is_code: bool = False


def show_table(table: Table) -> Shown:
    """The table's fields as text.

    :raises ValueError: if a row has more or fewer fields than there are columns.
    """
    for number, row in enumerate(table.rows, start=1):
        if len(row) != len(table.columns):
            raise ValueError(
                f"row {number} of table {table.name} has {len(row)} fields for {len(table.columns)} columns"
            )
    columns = [[row[place] for row in table.rows] for place in range(len(table.columns))]
    shown = [_show_column(values) for values in columns]
    is_number = tuple(place > 0 and _is_number(texts) for place, texts in enumerate(shown))
    return Shown(tuple(map(one_line, table.columns)), tuple(zip(*shown, strict=True)), is_number)


def spans(text: str) -> list[Span]:
    """The text cut at its code."""
    # What a pattern with a group splits off stands at the odd places.
    found = [Span(part, place % 2 == 1) for place, part in enumerate(_CODE.split(one_line(text)))]
    return [span for span in found if span.text]


def one_line(text: str) -> str:
    """The text without line breaks and doubled spaces."""
    return " ".join(text.split())


def as_table(figure: Figure) -> Table:
    """A row for every point of a figure."""
    rows = [
        (panel.title, line.name, figure.name_of(x) if figure.places else x, y, spread)
        for panel in figure.panels
        for line in panel.lines
        for x, y, spread in _points(line)
    ]
    columns = ("plot", "line", figure.x_label, figure.y_label, "spread")
    return Table(figure.name, figure.title, columns, tuple(rows), figure.notes)


def as_grid(figure: Figure) -> Table:
    """A row for every line of a figure and a column for every x, which is easier to read; all have as many decimals."""
    lines = [line for panel in figure.panels for line in panel.lines]
    places = sorted({x for line in lines for x in line.x})
    decimals = _decimals([y for line in lines for y in line.y if math.isfinite(y)])
    rows = []
    for panel in figure.panels:
        for line in panel.lines:
            found = {x: _with_spread(y, spread, decimals) for x, y, spread in _points(line)}
            rows.append((panel.title, line.name, *(found.get(x) for x in places)))
    columns = ("plot", f"{figure.y_label} by {figure.x_label}", *map(figure.name_of, places))
    return Table(figure.name, figure.title, columns, tuple(rows), figure.notes)


def _points(line: Line) -> list[tuple[float, float, float | None]]:
    spread: Sequence[float | None] = line.spread or [None] * len(line.x)
    return list(zip(line.x, line.y, spread, strict=True))


def _with_spread(y: float, spread: float | None, decimals: int) -> str | None:
    if not math.isfinite(y):
        return None
    return f"{y:.{decimals}f}" if spread is None else f"{y:.{decimals}f} ± {spread:.{decimals}f}"


def _show_column(values: Sequence[Value]) -> list[str]:
    places = _decimals([value for value in values if isinstance(value, float) and math.isfinite(value)])
    return [_show(value, places) for value in values]


def _show(value: Value, places: int) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}" if abs(value) >= _LONG else str(value)
    if isinstance(value, float):
        return f"{value:.{places}f}" if math.isfinite(value) else ""
    return "" if value is None else one_line(str(value))


def _decimals(values: Sequence[float]) -> int:
    """As many for every number of a column: two for percentages, three for shares, and enough for what is smaller."""
    largest = max(map(abs, values), default=0.0)
    if largest > 1:  # A share may be all of it.
        return 0 if largest >= _LONG else 1 if largest >= 1000 else 2
    # Three digits of the largest, so that seconds of a step can be told apart.
    return 3 if largest >= 0.1 or largest == 0 else min(9, 2 - math.floor(math.log10(largest)))


def _is_number(texts: Sequence[str]) -> bool:
    """Whether a column holds numbers, perhaps with a spread or stars; one that is empty counts as such."""
    return all(_NUMBER.match(text) for text in texts if text)
