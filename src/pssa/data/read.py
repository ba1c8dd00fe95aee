"""Reading instances from any format: `read` for training, `stream` for prediction.

Both go through the same rows. For training a row becomes an `Accepted` example, is `Dropped` for a reason, or is a
`Problem`; `read` stops at the first problem, `check` lists them all.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pssa.data.example import DEFAULT_LABELS, Corpus, Example
from pssa.data.formats import format_named, hugging_face, scan
from pssa.data.formats._columns import ColumnNames, Columns
from pssa.data.formats._fields import doubt_of_place, example_from_fields
from pssa.data.formats._labels import LabelRule, UnknownLabel
from pssa.data.formats._recognise import recognise
from pssa.data.formats._rows import Dropped, Event, Problem, Row
from pssa.data.validation import shorten
from pssa.errors import InputError

__all__ = [
    "Accepted",
    "ColumnNames",
    "Columns",
    "Dropped",
    "Outcome",
    "Problem",
    "Row",
    "corpus_of",
    "doubt_of_place",
    "events_of",
    "example_from_fields",
    "format_of",
    "from_dataset",
    "from_records",
    "outcomes",
    "read",
    "read_for",
    "stream",
]


@dataclass(frozen=True, slots=True)
class Accepted:
    """An instance that can be trained on, and what is odd about it."""

    line: int
    example: Example
    warnings: tuple[str, ...]


Outcome = Accepted | Dropped | Problem


def read(
    path: str | Path,
    *,
    format: str | None = None,
    columns: ColumnNames | None = None,
    labels: tuple[str, ...] = DEFAULT_LABELS,
    conflict: str = "drop",
) -> Corpus:
    """Read labelled instances, all of them sound.

    :param format: the format's name; recognised by extension and content if not given.
    :param columns: names that columns have, where they are not those of the fields, such as `{"text": "review"}`.
    :param conflict: what to do with the label `conflict` where `labels` does not have it: `drop` and count it, `keep`
        it as one more label, or take it as an `error`.
    :raises InputError: naming the file and the line of the first instance that cannot be used.
    """
    return _read(path, format, columns, LabelRule.of(labels, conflict))


def read_for(
    run: str | Path,
    path: str | Path,
    *,
    format: str | None = None,
    columns: ColumnNames | None = None,
    labels: tuple[str, ...],
    conflict: str = "drop",
) -> Corpus:
    """Read labelled instances for a run, whose labels nobody can change any more; see `read`."""
    return _read(path, format, columns, LabelRule.of(labels, conflict, str(run)))


def _read(path: str | Path, format: str | None, columns: ColumnNames | None, rule: LabelRule) -> Corpus:
    if not isinstance(path, str | os.PathLike):
        expected = "expected the name of a file, or a Corpus, which from_records makes of dicts"
        raise InputError(f"the data is a {type(path).__name__}; {expected}")

    def refuse(problem: Problem) -> None:
        raise InputError.at(path, problem.line, f"{problem.what}; `pssa data check` lists all such lines")

    return corpus_of(path, events_of(path, format, columns), rule, refuse)


def from_dataset(
    dataset: Any,
    *,
    columns: ColumnNames | None = None,
    labels: tuple[str, ...] = DEFAULT_LABELS,
    conflict: str = "drop",
) -> Corpus:
    """Take the instances of a `datasets.Dataset` with the columns text, span, label and, where needed, ordinal."""
    name = Path("dataset")
    events = hugging_face.rows_of(dataset, name, Columns.of(columns))
    return corpus_of(name, events, LabelRule.of(labels, conflict))


def from_records(
    rows: Iterable[Mapping[str, Any]],
    *,
    columns: ColumnNames | None = None,
    labels: tuple[str, ...] = DEFAULT_LABELS,
    conflict: str = "drop",
) -> Corpus:
    """Take instances from dicts with the fields of a file: text, aspect, label and, where needed, from and to, or ordinal.

    :raises InputError: naming the first that cannot be used by its number, counted from 1.
    """
    named = Columns.of(columns)
    events = named.required_of("records", _records(rows, named))
    return corpus_of("records", events, LabelRule.of(labels, conflict))


def stream(path: str | Path, *, format: str | None = None, columns: ColumnNames | None = None) -> Iterator[Row]:
    """The rows as the file gives them, one at a time, labelled or not; see `example_from_fields`.

    :raises InputError: naming the file and the line, on coming to a row that cannot be read.
    """
    for event in events_of(path, format, columns):
        if isinstance(event, Problem):
            raise InputError.at(path, event.line, event.what)
        if isinstance(event, Row):
            yield event


def events_of(path: str | Path, format: str | None, columns: ColumnNames | None) -> Iterator[Event]:
    """What is in a file, in file order; the parameters are those of `read`."""
    named = Columns.of(columns)
    return scan(Path(path), format_of(path, format), named)


def format_of(path: str | Path, format: str | None) -> str:
    """The full name of the format that was asked for or, if none was, of the one that the file has."""
    # A path is taken as it is: it may be of a kind that unpacks its file.
    return format_named(format) if format else recognise(path if isinstance(path, Path) else Path(path))


def outcomes(events: Iterable[Event], rule: LabelRule) -> Iterator[Outcome]:
    """What becomes of each row in training. Ids are unique: a repeated one gets a number."""
    uses: Counter[str] = Counter()
    for event in events:
        outcome = _judge(event, rule) if isinstance(event, Row) else event
        if isinstance(outcome, Accepted):
            name = outcome.example.id
            uses[name] += 1
            if uses[name] > 1:
                outcome = _renamed(outcome, f"{name}#{uses[name]}")
        elif isinstance(outcome, Problem) and outcome.given:
            outcome = replace(outcome, given="")  # which those who list problems do not show, and they may list many
        yield outcome


def corpus_of(
    path: str | Path, events: Iterable[Event], rule: LabelRule, skip: Callable[[Problem], None] | None = None
) -> Corpus:
    """The instances among the events.

    :param skip: is told of each row that cannot be used; without it the first is an error.
    """
    examples = []
    dropped: Counter[str] = Counter()
    for outcome in outcomes(events, rule):
        match outcome:
            case Accepted():
                examples.append(outcome.example)
            case Dropped():
                dropped[outcome.reason] += 1
            case Problem(last=False) if skip is not None:
                skip(outcome)
            case Problem():
                raise InputError.at(path, outcome.line, outcome.what)
    if not examples:
        raise InputError.at(path, None, "holds no labelled instance; expected at least one")
    return Corpus(tuple(examples), rule.labels, dict(dropped))


def _records(rows: Iterable[Mapping[str, Any]], columns: Columns) -> Iterator[Row]:
    for line, fields in enumerate(rows, 1):
        if not isinstance(fields, Mapping):
            raise InputError(f"record {line} is {shorten(fields)}; expected a dict with text, aspect and label")
        yield columns.row(line, fields)


def _judge(row: Row, rule: LabelRule) -> Outcome:
    try:
        example = example_from_fields(row.fields, ordinal_required=True, default_id=str(row.line), row=row)
        label = rule.normalise(example.label) if "label" in row.fields else rule.refuse_unlabelled(row)
    except UnknownLabel as error:
        return Problem(row.line, str(error), unknown_label=error.label)
    except InputError as error:
        return Problem(row.line, str(error))
    if label not in rule.labels:
        return Dropped(row.line, label)
    alone = () if example.candidates else ("the sentence is nothing but its aspect",)
    doubt = doubt_of_place(row.fields, example)
    return Accepted(row.line, replace(example, label=label), (*row.warnings, *alone, *([doubt] if doubt else ())))


def _renamed(accepted: Accepted, name: str) -> Accepted:
    warning = f"id {shorten(accepted.example.id)} was used before; this instance is named {shorten(name)}"
    return Accepted(accepted.line, replace(accepted.example, id=name), (*accepted.warnings, warning))
