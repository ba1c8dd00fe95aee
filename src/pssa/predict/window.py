"""Windows: consecutive rows of one source that are scored together, and the unit that engines hand around.

The rows alone decide where a window ends, so a job that is resumed, or spread over machines, has the same windows.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from pssa.data.rows import Problem, Row
from pssa.errors import InputError
from pssa.predict.fingerprint import BEGIN_AGAIN
from pssa.predict.output_format import OutputFormat
from pssa.predict.parquet_schema import arrow_cells
from pssa.predict.rows import (
    OUTPUT_FIELDS,
    AskedRow,
    RejectedRow,
    Summary,
    Value,
    output_columns,
    output_fields,
    parse_row,
    start_each,
)
from pssa.predict.scorer import Scorer
from pssa.predict.source import Event, Source
from pssa.runs.answers import Answer
from pssa.runs.input_profile import note_kind, notes_column

Position = tuple[int, int]  # a place between two windows: the number of a source, and how many of its events lie before

START: Position = (0, 0)
_MAX_CHARACTERS = 1 << 22  # of a window, except for its last row: no row is longer than a line may be
_MAX_RAW_CHARACTERS = 1 << 18  # the same where each row may become many
_TEXTS = (str, bytes)


@dataclass(frozen=True)
class Window:
    """Rows as the source gives them and, once they are scored, what is written of them."""

    source: str  # its title
    end: Position
    read: int  # bytes of its source so far
    rows: tuple[Row | Problem, ...]  # empty once they are scored
    columns: tuple[str, ...]  # of the output, from the first row of the job that can be scored
    fault: str = ""  # why nothing after these rows can be read
    content: bytes = b""  # for the output
    rejected: bytes = b""  # for the file of rejected rows
    summary: Summary = field(default_factory=Summary)
    first_rejected: str = ""  # the first rejected row, as an error names it
    lines: tuple[int, ...] = ()  # of the rows in `content`, which the output may still reject
    ambiguous: frozenset[int] = frozenset()  # which of them have an ambiguous aspect
    schema: bytes | None = None  # of Parquet, once the output is known to hold these rows
    warnings: tuple[str, ...] = ()  # of an engine in another process

    def reject(self, rows: Sequence[RejectedRow]) -> Window:
        """Return the window with these rows in the file of rejected rows as well."""
        if not rows:
            return self
        # ASCII only: a reason may quote half of a surrogate pair.
        lines = [(json.dumps(row.as_dict(self.source)) + "\n").encode() for row in rows]
        return replace(
            self,
            rejected=self.rejected + b"".join(lines),
            summary=self.summary + Summary(rejected=len(rows)),
            first_rejected=self.first_rejected or InputError.at(self.source, rows[0].line, rows[0].reason).message,
        )


RowOutcome = tuple[AskedRow, dict[str, Any]] | RejectedRow  # a row and the fields to write


@dataclass(frozen=True)
class AddedFields:
    """Which fields an output has besides those of its input."""

    scored: bool = True  # label and probabilities
    explained: bool = False
    noted: bool = False  # notes about rows that are unlike the training data
    aspect: tuple[str, ...] = ()  # names for the aspect and its offsets, where it is looked for

    def columns(self, rows: Sequence[Row | Problem]) -> tuple[str, ...]:
        """Return the columns of the output by the first rows; empty if none of them can be used."""
        if not self.aspect:
            usable = next((row for row in map(parse_row, rows) if isinstance(row, AskedRow)), None)
            return () if usable is None else output_columns(usable.fields, self.explained, self.noted)
        first = next((row for row in rows if isinstance(row, Row)), None)
        if first is None:
            return ()
        names = tuple(dict.fromkeys((*first.given, *self.aspect)))
        return output_columns(names, self.explained, self.noted) if self.scored else names


def read_windows(
    sources: Sequence[Source],
    n_rows: int,
    start: Position = START,
    columns: tuple[str, ...] = (),
    added: AddedFields | None = None,
) -> Iterator[Window]:
    """Yield all rows after `start`; the last window has a fault if a source cannot be read to its end.

    :param columns: of the output, if rows were written before.
    """
    added = added or AddedFields()
    if start[0] >= len(sources):
        raise InputError(f"the unfinished job names input {start[0] + 1} of {len(sources)}; {BEGIN_AGAIN}")
    for number in range(start[0], len(sources)):
        place = start if number == start[0] else (number, 0)
        for window in _windows_of(
            sources[number], place, n_rows, _MAX_RAW_CHARACTERS if added.aspect else _MAX_CHARACTERS
        ):
            is_csv = sources[number].format == "csv"
            rows = _unify_column_names(window.rows, (*added.aspect, *columns)) if is_csv else window.rows
            columns = columns or added.columns(rows)
            yield replace(window, rows=rows, columns=columns)
            if window.fault:
                return


def score_window(window: Window, scorer: Scorer, output_format: OutputFormat) -> Window:
    """Do all that can be done without knowing other windows: parse, score and encode the rows."""
    return start_window(window, scorer, output_format)()


def start_window(window: Window, scorer: Scorer, output_format: OutputFormat) -> Callable[[], Window]:
    """Parse the rows and begin to score them; what is returned waits, and encodes them."""
    parsed = [scorer.parse(event) for event in window.rows]
    wait = start_each(scorer.start, [row.question for row in parsed if isinstance(row, AskedRow)])
    return lambda: _finish_window(window, parsed, wait(), scorer, output_format)


def _finish_window(
    window: Window,
    parsed: Sequence[AskedRow | RejectedRow],
    scored: Sequence[Value | str],
    scorer: Scorer,
    output_format: OutputFormat,
) -> Window:
    """Encode what is said of each row, and count."""
    values = iter(scored)
    outcomes: list[RowOutcome] = []
    n_texts = n_empty = 0
    unwritten: Counter[str] = Counter()  # notes about texts without a row
    keeps_empty = scorer.finding is not None and scorer.finding.keep_empty
    for row in parsed:
        if isinstance(row, RejectedRow):
            outcomes.append(row)
            continue
        value = next(values)
        is_raw = row.question.aspects is None
        n_texts, n_empty = n_texts + is_raw, n_empty + (not value)
        if isinstance(value, str):
            outcomes.append(RejectedRow(row.line, value, row.fields))
            continue
        notes: tuple[str, ...] = ()
        if scorer.profile and not value:
            text = row.question.text
            notes = scorer.profile.language_notes(text) + scorer.profile.text_notes(text)
        if not value and not keeps_empty:
            unwritten.update(map(note_kind, notes))
            continue
        for answer in value or (None,):
            outcome = _outcome(row, answer, scorer, window.columns, output_format, "; ".join(notes))
            before = outcomes[-1] if outcomes else None
            # Of several aspects of one row that cannot be written, the first is reported.
            if not (isinstance(outcome, RejectedRow) and isinstance(before, RejectedRow) and outcome.row is before.row):
                outcomes.append(outcome)
    content, outcomes = encode_rows(outcomes, window.columns, output_format)
    written = [outcome for outcome in outcomes if isinstance(outcome, tuple)]
    labels = Counter(str(fields["label"]) for _, fields in written if fields.get("label") is not None)
    ambiguous = frozenset(number for number, (row, _) in enumerate(written) if row.warnings)
    noted = Counter(_count_notes([fields for _, fields in written], window.columns)) + unwritten
    summary = Summary(len(written), dict(labels), len(ambiguous), texts=n_texts, empty=n_empty, notes=dict(noted))
    lines = tuple(row.line for row, _ in written)
    done = replace(window, rows=(), content=content, summary=summary, lines=lines, ambiguous=ambiguous)
    return done.reject([outcome for outcome in outcomes if isinstance(outcome, RejectedRow)])


def _count_notes(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> dict[str, int]:
    """Count the notes of scored rows by kind; the column of a model's notes is the last of an output that has one."""
    if not columns or not columns[-1].endswith("notes"):
        return {}
    notes = (note for fields in rows if (text := fields.get(columns[-1])) for note in str(text).split("; "))
    return dict(Counter(map(note_kind, notes)))


def _windows_of(source: Source, start: Position, n_rows: int, n_characters: int) -> Iterator[Window]:
    """Yield the windows of one source from `start` on, without the output's columns."""
    read, n_events, fault = 0, start[1], ""

    def watch(n_bytes: int) -> None:
        nonlocal read
        read = n_bytes

    events = _skip(source.events(watch), start[1], source.title)
    while not fault:
        try:
            taken = _take(events, n_rows, n_characters)
        except InputError as error:
            taken, fault = [], error.message
        if not taken and not fault:
            return
        n_events += len(taken)
        rows = tuple(event for event in taken if isinstance(event, Row | Problem))
        yield Window(source.title, (start[0], n_events), read, rows, (), fault)


def _skip(events: Iterator[Event], count: int, title: str) -> Iterator[Event]:
    """Yield the events after the first `count`, of which all must exist."""
    if sum(1 for _ in islice(events, count)) < count:
        raise InputError.at(title, None, f"ends before the place at which the job was stopped; {BEGIN_AGAIN}")
    yield from events


def _take(events: Iterator[Event], max_events: int, max_characters: int) -> list[Event]:
    taken: list[Event] = []
    n_characters = 0
    for event in events:
        taken.append(event)
        if isinstance(event, Row):
            n_characters += _weight(event.given)
        if len(taken) >= max_events or n_characters >= max_characters:
            break
    return taken


def _weight(fields: Mapping[str, Any]) -> int:
    """Return about how many characters a row has; nothing in it is free, however deep it lies."""
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


def _outcome(
    row: AskedRow,
    answer: Answer | None,
    scorer: Scorer,
    columns: Sequence[str],
    output_format: OutputFormat,
    notes: str,
) -> RowOutcome:
    """Return a row of the output, or why the format cannot hold it."""
    fields = dict(arrow_cells(row.arrow) if row.arrow and output_format.name == "parquet" else row.fields)
    if scorer.finding is not None:
        fields |= scorer.finding.place(row.fields, answer, row.question.aspects is not None)
    if not scorer.finds_only:
        noted = notes_column(fields) in columns
        fields = output_fields(fields, answer, row.question.text, scorer.saliency, noted=noted, notes=notes)
    misfit = output_format.find_misfit(fields, columns)
    return RejectedRow(row.line, misfit, row.fields) if misfit else (row, fields)


def encode_rows(
    outcomes: list[RowOutcome], columns: Sequence[str], output_format: OutputFormat
) -> tuple[bytes, list[RowOutcome]]:
    """Return the bytes of all rows, in halves if the format cannot hold them together, and what became of each row."""
    scored = [outcome for outcome in outcomes if isinstance(outcome, tuple)]
    try:
        return output_format.encode([fields for _, fields in scored], columns), outcomes
    except InputError as error:
        half = len(outcomes) // 2
        if not half:
            row, _ = scored[0]
            return b"", [RejectedRow(row.line, str(error), row.fields)]
        (content, first), (more, second) = (
            encode_rows(part, columns, output_format) for part in (outcomes[:half], outcomes[half:])
        )
        return content + more, first + second
