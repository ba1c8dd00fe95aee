"""What every engine does with a window: judge its rows, score them, and make the bytes that are written of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pssa.bulk.form import Form
from pssa.bulk.rows import Accepted, Rejected, Value, fault_of, judge, written
from pssa.bulk.window import Position, Window
from pssa.data.example import Example
from pssa.errors import InputError

__all__ = ["Result", "Score", "Tally", "process", "rejecting"]

Score = Callable[[Sequence[Example]], Sequence[Value]]  # in the order of the examples


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


def process(window: Window, score: Score, form: Form) -> Result:
    """Do all that can be done without knowing of other windows."""
    judged = [judge(row) for row in window.rows]
    said = iter(_scored([row.example for row in judged if isinstance(row, Accepted)], score))
    outcomes = [row if isinstance(row, Rejected) else _outcome(row, next(said), form) for row in judged]
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
    return rejecting(made, [outcome for outcome in placed if isinstance(outcome, Rejected)])


def rejecting(result: Result, rows: Sequence[Rejected]) -> Result:
    """The result with these rows for the side file as well."""
    if not rows:
        return result
    return replace(
        result,
        rejected=result.rejected + b"".join(_line(row.as_dict(result.source)) for row in rows),
        tally=result.tally + Tally(rejected=len(rows)),
        first_rejected=result.first_rejected or str(InputError.at(result.source, rows[0].line, rows[0].reason)),
    )


def _scored(examples: Sequence[Example], score: Score) -> Sequence[Value | str]:
    """What is said of each example, or why nothing can be."""
    if not examples:
        return []
    try:
        return score(examples)
    except InputError as error:
        if len(examples) == 1:
            return [str(error)]
        half = len(examples) // 2
        return [*_scored(examples[:half], score), *_scored(examples[half:], score)]


def _outcome(row: Accepted, said: Value | str, form: Form) -> _Done | Rejected:
    reason = said if isinstance(said, str) else fault_of(said)
    if reason or isinstance(said, str):
        return Rejected(row.line, reason, row.fields)
    fields = row.arrow.cells() if row.arrow and form.name == "parquet" else row.fields
    return _Done(row.line, row.fields, written(fields, said), row.ambiguous)


def _placed(outcome: _Done | Rejected, columns: Sequence[str], form: Form) -> _Done | Rejected:
    reason = form.unfit(outcome.fields, columns) if isinstance(outcome, _Done) else ""
    return Rejected(outcome.line, reason, outcome.row) if reason else outcome


def _encoded(
    outcomes: list[_Done | Rejected], columns: Sequence[str], form: Form
) -> tuple[bytes, list[_Done | Rejected]]:
    """What is appended: all at once or, where the form has no place for them together, by halves; and what becomes of each."""
    try:
        return form.encode([row.fields for row in outcomes if isinstance(row, _Done)], columns), outcomes
    except InputError as error:
        half = len(outcomes) // 2
        if not half:
            return b"", [Rejected(outcomes[0].line, str(error), outcomes[0].row)]
        (content, first), (more, second) = (
            _encoded(part, columns, form) for part in (outcomes[:half], outcomes[half:])
        )
        return content + more, first + second


def _line(record: Mapping[str, Any]) -> bytes:
    # Escaped: a reason may quote what is no character.
    return (json.dumps(record) + "\n").encode()
