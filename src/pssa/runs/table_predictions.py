"""Predictions for a table in memory: the same rows with a label and a column for each probability.

Where the classifier has a tagger, rows with text alone become a row for each aspect that is found in them. `pssa predict` does
the same for files of any size (`pssa.bulk`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from pssa.data.example import Example
from pssa.data.fields import example_from_fields, has_aspect
from pssa.data.rows import ColumnNames, Columns, Problem, Row
from pssa.data.tables import Table, name_of, scan_table, take_rows, with_columns
from pssa.errors import InputError, PssaWarning, setting
from pssa.runs.input_profile import notes_column

if TYPE_CHECKING:
    from pssa.runs.classifier import Answer, Classifier

_ROWS = 4096  # that are tensors at the same time
_FIND_ADVICE = (
    "to find aspects, use pssa.pipeline(run, aspects_from='starter'), or a run of `pssa train --find-aspects`"
)


class FoundInText(Protocol):
    """An aspect that was found in a text."""

    @property
    def aspect(self) -> str:
        """The aspect as it stands in the text."""
        ...

    @property
    def start(self) -> int:
        """Where it begins in the text."""
        ...

    @property
    def end(self) -> int:
        """Where it ends."""
        ...

    def as_example(self) -> Example:
        """Return the instance to classify: the aspect in its sentence."""
        ...


FindInTexts = Callable[[Sequence[str]], Sequence[Sequence[FoundInText]]]


def predict_table(classifier: Classifier, table: Table, columns: ColumnNames | None, errors: str) -> Table:
    """Return the table with predictions; its own label, if it has one, becomes `gold`.

    :param errors: `fail` at the first row that cannot be scored, or `skip` it: its label is missing then.
    """
    if errors not in ("fail", "skip"):
        raise InputError(f"{setting('errors')} is {errors!r}; expected fail or skip")
    listed = Columns.of(columns)
    if classifier.finder is None:
        listed = replace(listed, advice=_FIND_ADVICE)
        examples = examples_of_table(table, listed, errors)
    else:
        listed = replace(listed, text_only=True)
        table, examples = _with_found_aspects(classifier.finder, table, listed, errors)
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


def _with_found_aspects(
    find: FindInTexts, table: Table, columns: Columns, errors: str
) -> tuple[Table, list[Example | None]]:
    """Return the table with a row for each aspect of rows that have none, and the example of each row.

    A text in which nothing is found keeps its row; its example is None.
    """
    rows = _rows_of(table, columns)
    is_raw = [isinstance(row, Row) and not has_aspect(row.fields) for row in rows]
    given = iter(_examples(name_of(table), [row for row, raw in zip(rows, is_raw, strict=True) if not raw], errors))
    if not any(is_raw):
        return table, list(given)
    texts = [str(row.fields.get("text") or "") for row in rows if isinstance(row, Row) and not has_aspect(row.fields)]
    found = iter(find(texts))
    places: list[int] = []
    examples: list[Example | None] = []
    new: list[tuple[str | None, int | None, int | None]] = []  # aspect and offsets
    for place, (row, raw) in enumerate(zip(rows, is_raw, strict=True)):
        inside = next(found) if raw else ()
        examples += [each.as_example() for each in inside] or [None if raw else next(given)]
        new += [(each.aspect, each.start, each.end) for each in inside] or [_given_place(row, examples[-1])]
        places += [place] * max(1, len(inside))
    added = {name: [values[number] for values in new] for number, name in enumerate(columns.aspect_columns)}
    return with_columns(take_rows(table, places), added, {}), examples


def _given_place(row: Row | Problem, example: Example | None) -> tuple[str | None, int | None, int | None]:
    """Return the aspect that a row has, as it names it, and its offsets."""
    named = row.fields.get("aspect") if isinstance(row, Row) else None
    if not isinstance(named, str) or not named.strip():  # a frame has NaN for nothing
        named = example.aspect_text if example else None
    return named, *((None, None) if example is None else example.aspect_chars)


def probability_column(label: str) -> str:
    """Return the name of the column that holds the probability of a label."""
    return f"probability_{label}"


def examples_of_table(table: Table, columns: Columns, errors: str = "fail") -> list[Example | None]:
    """Return the example of each row, without its label; None for a row to skip.

    An aspect that occurs several times is taken for its first occurrence, with one warning for all rows.
    """
    return _examples(name_of(table), _rows_of(table, columns), errors)


def _rows_of(table: Table, columns: Columns) -> list[Row | Problem]:
    return [event for event in scan_table(table, columns) if isinstance(event, (Row, Problem))]


def _examples(name: str, rows: Sequence[Row | Problem], errors: str) -> list[Example | None]:
    found: list[Example | None] = []
    doubts: list[str] = []
    rejected: list[InputError] = []
    for row in rows:
        try:
            found.append(_example(row, doubts))
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
