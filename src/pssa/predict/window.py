"""Windows: consecutive rows of one source that are scored together, and the unit that engines hand around.

The rows alone decide where a window ends, so a job that is resumed, or spread over machines, has the same windows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from pssa.data.rows import Event, Problem, Row
from pssa.errors import InputError
from pssa.predict.fingerprint import BEGIN_AGAIN
from pssa.predict.rows import OUTPUT_FIELDS, OutputFields, Summary, WrittenRow
from pssa.predict.source import Source
from pssa.runs.asked_rows import RejectedRow

Position = tuple[int, int]  # a place between two windows: the number of a source, and how many of its events lie before

START: Position = (0, 0)
_MAX_CHARACTERS = 1 << 22  # of a window, except for its last row: no row is longer than a line may be
_MAX_RAW_CHARACTERS = 1 << 18  # the same where each row may become many


@dataclass(frozen=True)
class Window:
    """Rows as the source gives them and, once they are scored, what is written of them."""

    source: str  # its title
    end: Position
    read: int = 0  # bytes of its source so far
    rows: tuple[Row | Problem, ...] = ()  # none once they are scored
    columns: tuple[str, ...] = ()  # of the output, from the first row of the job that can be scored
    fault: str = ""  # why nothing after these rows can be read
    content: bytes = b""  # for the output
    written: tuple[WrittenRow, ...] = ()  # the rows in `content`, which the output may still reject
    rejected: bytes = b""  # for the file of rejected rows
    first_rejected: str = ""  # the first rejected row, as an error names it
    others: Summary = field(default_factory=Summary)  # counts of rows that are not in `content`
    schema: bytes | None = None  # of Parquet, once the output is known to hold these rows
    warnings: tuple[str, ...] = ()  # of an engine in another process

    @property
    def summary(self) -> Summary:
        """Counts of all rows."""
        return Summary.of(self.written) + self.others

    def reject(self, rows: Sequence[RejectedRow]) -> Window:
        """Return the window with these rows in the file of rejected rows as well."""
        if not rows:
            return self
        # ASCII only: a reason may quote half of a surrogate pair.
        lines = [(json.dumps(row.as_dict(self.source)) + "\n").encode() for row in rows]
        return replace(
            self,
            rejected=self.rejected + b"".join(lines),
            others=self.others + Summary(rejected=len(rows)),
            first_rejected=self.first_rejected or InputError.at(self.source, rows[0].line, rows[0].reason).message,
        )


def read_windows(
    sources: Sequence[Source],
    n_rows: int,
    fields: OutputFields,
    start: Position = START,
    columns: tuple[str, ...] = (),
) -> Iterator[Window]:
    """Yield all rows after `start`; the last window has a fault if a source cannot be read to its end.

    :param columns: of the output, if rows were written before.
    """
    most, aspect = (
        (_MAX_RAW_CHARACTERS, fields.finding.columns.aspect_columns) if fields.finding else (_MAX_CHARACTERS, ())
    )
    if start[0] >= len(sources):
        raise InputError(f"the unfinished job names input {start[0] + 1} of {len(sources)}; {BEGIN_AGAIN}")
    for number, source in enumerate(sources[start[0] :], start[0]):
        n_before = start[1] if number == start[0] else 0
        for window in _windows_of(source, (number, n_before), n_rows, most):
            rows = window.rows
            if source.format == "csv":
                rows = _unify_column_names(rows, (*aspect, *columns))
            columns = columns or fields.columns(rows)
            yield replace(window, rows=rows, columns=columns)
            if window.fault:
                return


def _windows_of(source: Source, start: Position, max_events: int, max_characters: int) -> Iterator[Window]:
    """Yield the windows of one source from `start` on, without the output's columns."""
    number, n_events = start
    read, fault = 0, ""

    def watch(n_bytes: int) -> None:
        nonlocal read
        read = n_bytes

    events = _skip(source.events(watch), n_events, source.title)
    while not fault:
        taken: list[Event] = []
        n_characters = 0
        try:
            for event in events:
                taken.append(event)
                if isinstance(event, Row):
                    n_characters += _weight(event.given)
                if len(taken) >= max_events or n_characters >= max_characters:
                    break
        except InputError as error:
            taken, fault = [], error.message
        if not taken and not fault:
            return
        n_events += len(taken)
        rows = tuple(event for event in taken if isinstance(event, Row | Problem))
        yield Window(source.title, (number, n_events), read, rows, fault=fault)


def _skip(events: Iterator[Event], count: int, title: str) -> Iterator[Event]:
    """Yield the events after the first `count`, of which all must exist."""
    if sum(1 for _ in islice(events, count)) < count:
        raise InputError.at(title, None, f"ends before the place at which the job was stopped; {BEGIN_AGAIN}")
    yield from events


def _weight(fields: Mapping[str, Any]) -> int:
    """Return about how many characters a row has; nothing in it is free, however deep it lies."""
    weight, left = 0, [fields]
    while left:
        value: Any = left.pop()
        if isinstance(value, str | bytes):
            weight += len(value)
            continue
        weight += 1
        if isinstance(value, dict):
            weight += sum(map(len, value))
            left.extend(value.values())
        elif isinstance(value, list | tuple):
            left.extend(value)
    return weight


def _unify_column_names(rows: Sequence[Row | Problem], columns: Sequence[str]) -> tuple[Row | Problem, ...]:
    """Spell the names of CSV columns, in which case does not matter, alike in the whole output.

    A name stays as its header has it, unless another spelling came first in the job or it is a field of every output.
    """
    header = next((list(row.given) for row in rows if isinstance(row, Row)), [])
    spellings = {name.lower(): name for name in reversed((*OUTPUT_FIELDS, *columns))}
    renamed: dict[str, str] = {}
    for name in header:
        spelling = spellings.get(name.lower(), name)
        if spelling not in header and spelling not in renamed.values():  # two columns stay two
            renamed[name] = spelling
    if not renamed:
        return tuple(rows)
    return tuple(
        replace(row, renamed_from={renamed.get(name, name): value for name, value in row.given.items()})
        if isinstance(row, Row)
        else row
        for row in rows
    )
