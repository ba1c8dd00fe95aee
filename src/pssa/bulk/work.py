"""What every engine does with a window: judge its rows, score them, and make the bytes that are written of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pssa.bulk.output_format import OutputFormat
from pssa.bulk.rows import RejectedRow, ScorableRow, Score, Value, output_fields, parse_row, score_each
from pssa.bulk.window import Position, Window
from pssa.errors import InputError

__all__ = ["Result", "Tally", "process", "rejecting"]


@dataclass(frozen=True)
class Tally:
    """What was scored, counted."""

    rows: int = 0
    labels: Mapping[str, int] = field(default_factory=dict)  # how often each was predicted
    ambiguous: int = 0
    rejected: int = 0

    def __add__(self, other: Tally) -> Tally:
        labels = Counter(self.labels) + Counter(other.labels)
        ambiguous, rejected = self.ambiguous + other.ambiguous, self.rejected + other.rejected
        return Tally(self.rows + other.rows, dict(labels), ambiguous, rejected)

    def without(self, other: Tally) -> Tally:
        """What is left where rows that were counted are rejected after all."""
        labels = Counter(self.labels) - Counter(other.labels)
        return Tally(self.rows - other.rows, dict(labels), self.ambiguous - other.ambiguous, self.rejected)


@dataclass(frozen=True)
class Result:
    """What becomes of a window."""

    end: Position
    read: int  # bytes of its source, so far
    columns: tuple[str, ...]
    content: bytes  # for the output
    rejected: bytes  # for the side file
    tally: Tally
    first_rejected: str  # the first of them, as an error says it
    fault: str  # why the job cannot go on
    source: str = ""  # its title
    lines: tuple[int | None, ...] = ()  # of the rows in `content`, where those may be rejected yet
    ambiguous: frozenset[int] = frozenset()  # which of them have a doubtful aspect
    schema: bytes | None = None  # of Parquet, once it is sure that the output can hold these rows
    warnings: tuple[str, ...] = ()  # of an engine that is not in this process


@dataclass(frozen=True)
class _Done:
    """A row that was scored, as it is written."""

    line: int
    row: Mapping[str, Any]  # as it was given
    fields: dict[str, Any]
    ambiguous: bool


def process(window: Window, score: Score, form: OutputFormat) -> Result:
    """Do all that can be done without knowing of other windows."""
    judged = [parse_row(row) for row in window.rows]
    said = iter(score_each(score, [row.example for row in judged if isinstance(row, ScorableRow)]))
    outcomes = [row if isinstance(row, RejectedRow) else _outcome(row, next(said), form) for row in judged]
    placed = [_placed(outcome, window.columns, form) for outcome in outcomes]
    content, placed = _encoded(placed, window.columns, form)
    done = [outcome for outcome in placed if isinstance(outcome, _Done)]
    labels = Counter(str(row.fields["label"]) for row in done)
    made = Result(
        window.end,
        window.read,
        window.columns,
        content,
        b"",
        Tally(len(done), dict(labels), sum(row.ambiguous for row in done)),
        "",
        window.fault,
        window.source,
        tuple(row.line for row in done),
        frozenset(number for number, row in enumerate(done) if row.ambiguous),
    )
    return rejecting(made, [outcome for outcome in placed if isinstance(outcome, RejectedRow)])


def rejecting(result: Result, rows: Sequence[RejectedRow]) -> Result:
    """The result with these rows for the side file as well."""
    if not rows:
        return result
    return replace(
        result,
        rejected=result.rejected + b"".join(_line(row.as_dict(result.source)) for row in rows),
        tally=result.tally + Tally(rejected=len(rows)),
        first_rejected=result.first_rejected or str(InputError.at(result.source, rows[0].line, rows[0].reason)),
    )


def _outcome(row: ScorableRow, said: Value | str, form: OutputFormat) -> _Done | RejectedRow:
    if isinstance(said, str):
        return RejectedRow(row.line, said, row.fields)
    fields = row.arrow.cells() if row.arrow and form.name == "parquet" else row.fields
    return _Done(row.line, row.fields, output_fields(fields, said), bool(row.warnings))


def _placed(outcome: _Done | RejectedRow, columns: Sequence[str], form: OutputFormat) -> _Done | RejectedRow:
    reason = form.find_misfit(outcome.fields, columns) if isinstance(outcome, _Done) else ""
    return RejectedRow(outcome.line, reason, outcome.row) if reason else outcome


def _encoded(
    outcomes: list[_Done | RejectedRow], columns: Sequence[str], form: OutputFormat
) -> tuple[bytes, list[_Done | RejectedRow]]:
    """What is appended: all at once or, where the form has no place for them together, by halves; and what becomes of each."""
    try:
        return form.encode([row.fields for row in outcomes if isinstance(row, _Done)], columns), outcomes
    except InputError as error:
        half = len(outcomes) // 2
        if not half:
            return b"", [RejectedRow(outcomes[0].line, str(error), outcomes[0].row)]
        (content, first), (more, second) = (
            _encoded(part, columns, form) for part in (outcomes[:half], outcomes[half:])
        )
        return content + more, first + second


def _line(record: Mapping[str, Any]) -> bytes:
    # Escaped: a reason may quote what is no character.
    return (json.dumps(record) + "\n").encode()
