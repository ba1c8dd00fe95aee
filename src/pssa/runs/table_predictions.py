"""Predictions for a table in memory: the same rows with a label and a column for each probability.

Rows with text alone become a row for each aspect that is found in them. `pssa predict` does
the same for files of any size (`pssa.predict`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from pssa.aspects.spans import require_text
from pssa.data.example import Example
from pssa.data.fields import example_from_fields, has_aspect
from pssa.data.rows import ColumnNames, Columns, Problem, Row
from pssa.data.tables import Table, name_of, scan_table, take_rows, with_columns
from pssa.errors import InputError, PssaWarning, setting
from pssa.runs.answers import Answer, Question
from pssa.runs.input_profile import added_column

if TYPE_CHECKING:
    from pssa.runs.classifier import Classifier

Built = TypeVar("Built")

_ROWS = 4096  # that are tensors at the same time


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
    rows = [event for event in scan_table(table, listed) if isinstance(event, (Row, Problem))]
    questions = _each(name_of(table), rows, errors, _question)
    answers: list[list[Answer]] = []
    for start in range(0, len(questions), _ROWS):
        asked = questions[start : start + _ROWS]
        found = iter(classifier.start([each for each in asked if each is not None], batch_size=batch_size)())
        answers += [[] if question is None else next(found) for question in asked]
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
    new = _new_columns(classifier.labels, [answer for _, answer in scored])
    if classifier.profile is not None:
        new[added_column(first.given)] = ["; ".join(answer.notes) if answer else None for _, answer in scored]
    return with_columns(table, new, {"label": "gold"})


def _place(row: Row | Problem, answer: Answer | None) -> tuple[str | None, int | None, int | None]:
    """Return the aspect of a row, as it names it, and its offsets."""
    named = row.fields.get("aspect") if isinstance(row, Row) else None
    if not isinstance(named, str) or not named.strip():  # a frame has NaN for nothing
        named = answer.aspect or None if answer else None  # None: nothing was found, or an opinion about the whole
    return named, *((answer.start, answer.end) if answer and answer.end else (None, None))


def probability_column(label: str) -> str:
    """Return the name of the column that holds the probability of a label."""
    return f"probability_{label}"


def examples_of_table(table: Table, columns: Columns) -> list[Example]:
    """Return the example of each row, without its label.

    :raises InputError: for the first row that is none.
    """
    rows = [event for event in scan_table(table, columns) if isinstance(event, (Row, Problem))]
    return [example for example in _each(name_of(table), rows, "fail", _example) if example is not None]


def _each(
    name: str, rows: Sequence[Row | Problem], errors: str, build: Callable[[Row | Problem, list[str]], Built]
) -> list[Built | None]:
    """Return what is built of each row; None for a row to skip.

    An aspect that occurs several times is taken for its first occurrence, with one warning for all rows.
    """
    found: list[Built | None] = []
    doubts: list[str] = []
    rejected: list[InputError] = []
    for row in rows:
        try:
            found.append(build(row, doubts))
        except InputError as error:
            rejected.append(InputError.at(name, row.line, error.message))
            if errors == "fail":
                raise rejected[0] from None
            found.append(None)
    if doubts:
        _warn(f"in {len(doubts)} of {len(found)} rows the aspect occurs several times: {doubts[0]}")
    if rejected:
        _warn(f"{len(rejected)} of {len(found)} rows cannot be scored and have no label: {rejected[0].message}")
    return found


def _question(event: Row | Problem, doubts: list[str]) -> Question:
    if isinstance(event, Row) and not has_aspect(event.fields):
        return Question(require_text(event))
    example = _example(event, doubts)
    has_words = isinstance(event, Row) and event.fields.get("words") is not None
    return Question(example.text, (example.aspect_chars,), example.spans if has_words else None)


def _example(event: Row | Problem, doubts: list[str]) -> Example:
    if isinstance(event, Problem):
        raise InputError(event.message)
    fields = {key: value for key, value in event.fields.items() if key != "label"}
    warn = doubts.append
    return example_from_fields(
        fields, ordinal_required=False, warn=lambda doubt: warn(f"line {event.line}, {doubt}"), row=event
    )


def _warn(message: str) -> None:
    warnings.warn(PssaWarning(message), stacklevel=6)


def _new_columns(labels: Sequence[str], answers: Sequence[Answer | None]) -> dict[str, list[str | float | None]]:
    columns: dict[str, list[str | float | None]] = {"label": [each.label if each else None for each in answers]}
    for label in labels:
        columns[probability_column(label)] = [each.probabilities[label] if each else None for each in answers]
    return columns
