"""Predictions for a table in memory: the same rows with a label and a column for each probability.

`pssa predict` does the same for files of any size (`pssa.bulk`).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pssa.data.example import Example
from pssa.data.fields import example_from_fields
from pssa.data.rows import ColumnNames, Columns, Problem, Row
from pssa.data.tables import Table, name_of, scan_table, with_columns
from pssa.errors import InputError, PssaWarning, setting
from pssa.runs.input_profile import notes_column

if TYPE_CHECKING:
    from pssa.runs.classifier import Answer, Classifier

_ROWS = 4096  # that are tensors at the same time


def predict_table(classifier: Classifier, table: Table, columns: ColumnNames | None, errors: str) -> Table:
    """Return the table with predictions; its own label, if it has one, becomes `gold`.

    :param errors: `fail` at the first row that cannot be scored, or `skip` it: its label is missing then.
    """
    if errors not in ("fail", "skip"):
        raise InputError(f"{setting('errors')} is {errors!r}; expected fail or skip")
    listed = Columns.of(columns)
    examples = examples_of_table(table, listed, errors)
    answers: list[Answer | None] = []
    for start in range(0, len(examples), _ROWS):
        rows = examples[start : start + _ROWS]
        found = iter(classifier.answer([example for example in rows if example is not None]))
        answers += [None if example is None else next(found) for example in rows]
    new = _new_columns(classifier.labels, answers)
    if classifier.profile is not None:
        first = next((event for event in scan_table(table, listed) if isinstance(event, Row)), Row(0, {}))
        new[notes_column(first.given)] = ["; ".join(each.notes) if each else None for each in answers]
    return with_columns(table, new, {"label": "gold"})


def probability_column(label: str) -> str:
    """Return the name of the column that holds the probability of a label."""
    return f"probability_{label}"


def examples_of_table(table: Table, columns: Columns, errors: str = "fail") -> list[Example | None]:
    """Return the example of each row, without its label; None for a row to skip.

    An aspect that occurs several times is taken for its first occurrence, with one warning for all rows.
    """
    found: list[Example | None] = []
    doubts: list[str] = []
    rejected: list[InputError] = []
    for event in scan_table(table, columns):
        assert isinstance(event, (Row, Problem))
        try:
            found.append(_example(event, doubts))
        except InputError as error:
            rejected.append(InputError.at(name_of(table), event.line, error.message))
            if errors == "fail":
                raise rejected[0] from None
            found.append(None)
    if doubts:
        _warn(f"in {len(doubts)} of {len(found)} rows the aspect occurs several times: {doubts[0]}")
    if rejected:
        _warn(f"{len(rejected)} of {len(found)} rows cannot be scored and have no label: {rejected[0].message}")
    return found


def _example(event: Row | Problem, doubts: list[str]) -> Example:
    if isinstance(event, Problem):
        raise InputError(event.message)
    fields = {key: value for key, value in event.fields.items() if key != "label"}
    warn = doubts.append
    return example_from_fields(
        fields, ordinal_required=False, warn=lambda doubt: warn(f"line {event.line}, {doubt}"), row=event
    )


def _warn(message: str) -> None:
    warnings.warn(PssaWarning(message), stacklevel=5)


def _new_columns(labels: Sequence[str], answers: Sequence[Answer | None]) -> dict[str, list[str | float | None]]:
    columns: dict[str, list[str | float | None]] = {"label": [each.label if each else None for each in answers]}
    for label in labels:
        columns[probability_column(label)] = [each.probabilities[label] if each else None for each in answers]
    return columns
