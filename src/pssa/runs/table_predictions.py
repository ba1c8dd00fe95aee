"""Predictions for a table in memory: the same rows with a label and a column for each probability.

Rows with text alone become a row for each aspect that is found in them. `pssa predict` does
the same for files of any size (`pssa.predict`).
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pssa.data.example import Example
from pssa.data.fields import has_aspect
from pssa.data.rows import ColumnNames, Columns, Problem, Row
from pssa.data.tables import Table, name_of, scan_table, take_rows, with_columns
from pssa.data.tokenize import cut_at, tokenize
from pssa.errors import InputError, PssaWarning, setting
from pssa.runs.answers import Answer, Question
from pssa.runs.asked_rows import AskedRow, RejectedRow, parse_row
from pssa.runs.input_profile import added_column

if TYPE_CHECKING:
    from pssa.runs.classifier import Classifier

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
