"""Rows that are asked about: what is asked of a row or why nothing can be, and what is said of each.

Frames, files and the HTTP service read and score their rows with these functions. `predict_table` answers a table in memory;
`pssa.predict` does the same for files of any size.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from pssa.aspects.find import FIND_ADVICE
from pssa.aspects.spans import require_text
from pssa.data.example import Example
from pssa.data.fields import aspect_from_fields, has_aspect
from pssa.data.rows import ArrowRow, ColumnNames, Columns, Problem, Row
from pssa.data.tables import Table, name_of, scan_table, take_rows, with_columns
from pssa.data.tokenize import cut_at, tokenize
from pssa.data.validation import shorten
from pssa.errors import InputError, PssaWarning, for_command_line, setting
from pssa.runs.answers import Answer, Question
from pssa.runs.input_profile import added_column

if TYPE_CHECKING:
    from pssa.runs.classifier import Classifier

Value = Sequence[Answer]  # what is said of a row
Start = Callable[[Sequence[Question]], Callable[[], Sequence[Value]]]  # begins to answer; what it returns waits

_ROWS = 4096  # of a table, that are tensors at the same time
_CONTAINERS = (dict, list, tuple)
_MAX_DEPTH = 64  # containers inside each other
_MAX_REJECTED_LENGTH = 4096  # characters of a rejected row that are kept
_NOT_FINITE = "the model gives no finite number for this text"


@dataclass(frozen=True, slots=True)
class AskedRow:
    """A row, and what is asked about it."""

    line: int
    fields: Mapping[str, Any]  # as the input names them
    question: Question
    warnings: tuple[str, ...] = ()  # such as: its aspect occurs several times in the text and the first is taken
    arrow: ArrowRow | None = None  # the fields in the types of their Arrow table


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A row that cannot be scored or cannot be written."""

    line: int | None
    reason: str
    row: Mapping[str, Any] | str = ""  # its fields, or its text where it cannot be parsed; empty if unknown

    def as_dict(self, source: str) -> dict[str, Any]:
        """Return plain values for the file of rejected rows."""
        known = {"source": source, "line": self.line, "reason": for_command_line(self.reason)}
        if not self.row:
            return known
        try:
            text = self.row if isinstance(self.row, str) else json.dumps(dict(self.row), default=str, allow_nan=False)
        except (ValueError, TypeError, RecursionError):  # NaN, odd keys, or too deep
            return {**known, "row": shorten(self.row), "shortened": True}
        if len(text) > _MAX_REJECTED_LENGTH:
            return {**known, "row": text[:_MAX_REJECTED_LENGTH], "shortened": True}
        return {**known, "row": text.rstrip("\r\n") if isinstance(self.row, str) else json.loads(text)}


def parse_row(
    event: Row | Problem, finds: bool = False, ignores_given: bool = False, advice: str = f"; {FIND_ADVICE}"
) -> AskedRow | RejectedRow:
    """Return what is asked about a row, or why nothing can be; its own label is not looked at.

    :param finds: whether aspects are looked for in a row that has none.
    :param ignores_given: look for them in any row.
    :param advice: about a row without an aspect, where they are not looked for.
    """
    if isinstance(event, Problem):
        return RejectedRow(event.line, event.message, event.given)
    if _is_deep(event.given):
        reason = f"has more than {_MAX_DEPTH} lists or objects inside each other; leave out that field"
        return RejectedRow(event.line, reason, event.given)
    warnings: list[str] = []
    fields = {key: value for key, value in event.fields.items() if key != "label"}
    try:
        if ignores_given or (finds and not has_aspect(fields)):
            question = Question(require_text(event))
        else:
            text, aspect, words = aspect_from_fields(fields, ordinal_required=False, warn=warnings.append, row=event)
            question = Question(text, (aspect,), words)
    except InputError as error:
        reason = error.message
        if not finds and fields.get("text") and not has_aspect(fields):
            reason += advice
        return RejectedRow(event.line, reason, event.given)
    return AskedRow(event.line, event.given, question, tuple(warnings), event.arrow)


def score_each(
    answer: Callable[[Sequence[Question]], Sequence[Value]],
    questions: Sequence[Question],
    catch: type[Exception] = InputError,
    describe: Callable[[Exception], str] = str,
) -> list[Value | str]:
    """Return what is said of each question, or why nothing is said of this one; one bad question spoils no other.

    :param catch: errors that are one question's; any other is raised.
    :param describe: turns such an error into the reason.
    """
    if not questions:
        return []
    try:
        values = answer(questions)
    except catch as error:
        if len(questions) == 1:
            return [describe(error)]
        half = len(questions) // 2
        return [
            *score_each(answer, questions[:half], catch, describe),
            *score_each(answer, questions[half:], catch, describe),
        ]
    return [value if all(map(_is_finite, value)) else _NOT_FINITE for value in values]


def _is_finite(answer: Answer) -> bool:
    return all(map(math.isfinite, (*answer.probabilities.values(), *(word.share for word in answer.words))))


def _is_deep(fields: Mapping[str, Any]) -> bool:
    """Return whether a recursive writer could run out of stack."""
    level: list[Any] = [fields.values()]
    for _ in range(_MAX_DEPTH):
        values = chain.from_iterable(one.values() if isinstance(one, dict) else one for one in level)
        level = [value for value in values if isinstance(value, _CONTAINERS)]
        if not level:
            return False
    return True


def predict_table(
    classifier: Classifier, table: Table, columns: ColumnNames | None, errors: str, batch_size: int | None = None
) -> Table:
    """Return the table with predictions; its own label, if it has one, becomes `gold`.

    A row without an aspect becomes a row for each that is found in its text; one in which none is found stays, without a label.

    :param errors: `fail` at the first row that cannot be scored, or `skip` it: its label is missing then.
    """
    if errors not in ("fail", "skip"):
        raise InputError(f"{setting('errors')} is {errors!r}; expected fail or skip")
    listed = replace(Columns.of(columns), text_only=True)
    rows, asked = _ask(table, listed, errors, finds=True)
    answers: list[list[Answer]] = []
    for start in range(0, len(asked), _ROWS):
        part = asked[start : start + _ROWS]
        found = iter(classifier.start([each for each in part if each is not None], batch_size=batch_size)())
        answers += [[] if question is None else next(found) for question in part]
    scored: list[tuple[int, Answer | None]] = [
        (place, answer) for place, inside in enumerate(answers) for answer in inside or (None,)
    ]
    first = next((row for row in rows if isinstance(row, Row)), Row(0, {}))
    if any(isinstance(row, Row) and not has_aspect(row.fields) for row in rows):
        places = [_place(rows[place], answer) for place, answer in scored]
        added: dict[str, list[Any]] = {
            name: [values[number] for values in places] for number, name in enumerate(listed.aspect_columns)
        }
        if any(answer and answer.score is not None for _, answer in scored):
            added[added_column(first.given, "score")] = [answer and answer.score for _, answer in scored]
        table = with_columns(take_rows(table, [place for place, _ in scored]), added, {})
    new: dict[str, list[Any]] = {"label": [answer and answer.label for _, answer in scored]}
    for label in classifier.labels:
        new[f"probability_{label}"] = [answer and answer.probabilities[label] for _, answer in scored]
    if classifier.profile is not None:
        new[added_column(first.given)] = ["; ".join(answer.notes) if answer else None for _, answer in scored]
    return with_columns(table, new, {"label": "gold"})


def _place(row: Row | Problem, answer: Answer | None) -> tuple[str | None, int | None, int | None]:
    """Return the aspect of a row, as it names it, and its offsets."""
    named = row.fields.get("aspect") if isinstance(row, Row) else None
    if not isinstance(named, str) or not named.strip():  # a frame has NaN for nothing
        named = answer.aspect or None if answer else None  # None: nothing was found, or an opinion about the whole
    return named, *((answer.start, answer.end) if answer and answer.end else (None, None))


def examples_of_table(table: Table, columns: Columns) -> list[Example]:
    """Return the example of each row, without its label.

    :raises InputError: for the first row that is none.
    """
    _, asked = _ask(table, columns, "fail")
    return [_example(question) for question in asked if question is not None]


def _example(question: Question) -> Example:
    """Return the example of a question that names one aspect: the whole text."""
    text, ((start, end),) = question.text, question.aspects or ()
    aspect = start, end
    words = tokenize(text, aspect) if question.words is None else cut_at(question.words, aspect)
    return Example.from_spans(text, words, aspect, label=None, id="0", sentence_id=text)


def _ask(
    table: Table, columns: Columns, errors: str, finds: bool = False
) -> tuple[list[Row | Problem], list[Question | None]]:
    """Return the rows of a table, and what is asked about each; None for a row to skip.

    An aspect that occurs several times is taken for its first occurrence, with one warning for all rows.
    """
    name = name_of(table)
    rows = [event for event in scan_table(table, columns) if isinstance(event, (Row, Problem))]
    parsed = [parse_row(row, finds, advice="") for row in rows]
    rejected = [InputError.at(name, row.line, row.reason) for row in parsed if isinstance(row, RejectedRow)]
    if rejected and errors == "fail":
        raise rejected[0]
    asked = [row for row in parsed if isinstance(row, AskedRow)]
    if doubts := [f"line {row.line}, {doubt}" for row in asked for doubt in row.warnings]:
        what = f"in {len(doubts)} of {len(rows)} rows the aspect occurs several times: {doubts[0]}"
        warnings.warn(PssaWarning(what), stacklevel=5)
    if rejected:
        what = f"{len(rejected)} of {len(rows)} rows cannot be scored and have no label: {rejected[0].message}"
        warnings.warn(PssaWarning(what), stacklevel=5)
    return rows, [row.question if isinstance(row, AskedRow) else None for row in parsed]
