"""Windows: consecutive rows of one source that are scored together, and the unit that engines hand around.

Where one ends follows from the rows alone, so that a job that is resumed, or spread over machines, has the same windows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from pssa.bulk.advice import AGAIN
from pssa.bulk.rows import ScorableRow, output_columns, parse_row
from pssa.bulk.source import Event, Source
from pssa.bulk.spelling import respelled
from pssa.data.read import Problem, Row
from pssa.errors import InputError

__all__ = ["START", "Position", "Reading", "Window", "windows", "windows_of"]

_TEXTS, _LISTS = (str, bytes), (list, tuple)
_MOST_LETTERS = 1 << 22  # of a window, but for its last row: no row is longer than a line may be


@dataclass(frozen=True)
class Position:
    """A place between two windows: so many events of the source of this number lie before it."""

    source: int
    events: int


START = Position(0, 0)


@dataclass(frozen=True)
class Reading:
    """How sources are cut into windows."""

    sources: tuple[Source, ...]
    rows: int  # of a window, at most
    explained: bool = False  # whether words are scored


@dataclass(frozen=True)
class Window:
    """Rows as the source gives them."""

    source: str  # its title
    end: Position
    read: int  # bytes of its source, so far
    rows: tuple[Row | Problem, ...]
    columns: tuple[str, ...]  # of the output, by the first row of the job that can be used
    fault: str = ""  # why nothing after these rows can be read


def windows(reading: Reading, start: Position = START, columns: tuple[str, ...] = ()) -> Iterator[Window]:
    """All rows after `start`; the last window has a fault where a source cannot be read to its end."""
    for number in range(start.source, len(reading.sources)):
        place = start if number == start.source else Position(number, 0)
        for window in windows_of(reading, place, columns):
            columns = window.columns
            yield window
            if window.fault:
                return


def windows_of(reading: Reading, start: Position, columns: tuple[str, ...]) -> Iterator[Window]:
    """The rows of one source, from `start` on."""
    source = reading.sources[start.source]
    gauge = _Gauge()
    passed = start.events
    events = _after(source.events(gauge.set), start.events, source.title)
    fault = ""
    while True:
        try:
            part = _take(events, reading.rows)
        except InputError as error:
            part, fault = [], str(error)
        if not part and not fault:
            return
        passed += len(part)
        rows = tuple(event for event in part if isinstance(event, Row | Problem))
        if source.format == "csv":
            rows = respelled(rows, columns)
        columns = columns or _columns(rows, reading.explained)
        yield Window(source.title, Position(start.source, passed), gauge.read, rows, columns, fault)
        if fault:
            return


def _after(events: Iterator[Event], count: int, title: str) -> Iterator[Event]:
    """What comes after so many; a journal that speaks of more than there are is not believed."""
    if sum(1 for _ in islice(events, count)) < count:
        raise InputError.at(title, None, f"ends before the place that the journal speaks of; {AGAIN}")
    yield from events


def _take(events: Iterator[Event], most: int) -> list[Event]:
    part: list[Event] = []
    letters = 0
    for event in events:
        part.append(event)
        if isinstance(event, Row):
            letters += _weight(event.given)
        if len(part) >= most or letters >= _MOST_LETTERS:
            break
    return part


def _weight(fields: Mapping[str, Any]) -> int:
    """About how many letters a row has; nothing in it is free, however deep it lies."""
    weight, left = 0, [fields]
    while left:
        value: Any = left.pop()
        if isinstance(value, _TEXTS):
            weight += len(value)
            continue
        weight += 1
        if isinstance(value, dict):
            weight += sum(map(len, value))
            left.extend(value.values())
        elif isinstance(value, _LISTS):
            left.extend(value)
    return weight


def _columns(rows: Sequence[Row | Problem], explained: bool) -> tuple[str, ...]:
    first = next((row for row in map(parse_row, rows) if isinstance(row, ScorableRow)), None)
    return () if first is None else output_columns(first.fields, explained)


class _Gauge:
    """How far a source has been read."""

    def __init__(self) -> None:
        self.read = 0

    def set(self, read: int) -> None:
        """Note it."""
        self.read = read
