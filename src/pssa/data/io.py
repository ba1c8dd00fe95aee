"""Reading and writing instances in any format: `read` for training, `stream` for prediction, `write` for a new file.

Reading for training turns a row into an `Accepted` example, drops it for a reason, or finds a `Problem`; `read` stops at the
first problem, `check` lists them all. Writing keeps words, aspects and labels in every format. The tagged and the three-line
format separate words with one space, and so lose the white space of the text and the ids; XML gives aspects new ids and has no
tags.
"""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pssa.data.example import DEFAULT_LABELS, Corpus, Example
from pssa.data.fields import LabelRule, UnknownLabel, example_from_fields, find_aspect_doubt
from pssa.data.files import write_atomically
from pssa.data.formats import FORMATS, format_for_writing, format_named, recognise, scan
from pssa.data.rows import ColumnNames, Columns, Dropped, Event, Problem, Row
from pssa.data.tables import Table, is_table, name_of, rows_of_records, scan_table
from pssa.data.validation import shorten
from pssa.errors import InputError, setting

_ON_ERRORS = ("fail", "skip")
_CHECK = setting("pssa.check", option="`pssa data check`")


@dataclass(frozen=True, slots=True)
class Accepted:
    """An instance that can be trained on, and what is odd about it."""

    line: int
    example: Example
    warnings: tuple[str, ...]


Outcome = Accepted | Dropped | Problem


def read(
    path: str | Path | Table,
    *,
    format: str | None = None,
    columns: ColumnNames | None = None,
    labels: tuple[str, ...] = DEFAULT_LABELS,
    conflict: str = "drop",
) -> Corpus:
    """Read labelled instances, all of them valid.

    :param path: a file, or a table in memory: a pandas or polars frame, a Hugging Face dataset, or a list of dicts.
    :param format: name of the format; recognised by extension and content if not given.
    :param columns: columns by field, where their names differ, such as `{"text": "review"}`.
    :param conflict: what to do with the label `conflict` if `labels` does not have it: `drop` and count it, `keep` it as
        one more label, or treat it as an `error`.
    :raises InputError: naming the file and the line of the first instance that cannot be used.
    """
    return read_for("", path, format=format, columns=columns, labels=labels, conflict=conflict)


def read_for(
    run: str | Path,
    path: str | Path | Table,
    *,
    format: str | None = None,
    columns: ColumnNames | None = None,
    labels: tuple[str, ...],
    conflict: str = "drop",
) -> Corpus:
    """Read labelled instances for a run, whose labels are fixed; see `read`."""
    rule = LabelRule.of(labels, conflict, str(run))
    if not isinstance(path, str | Path):
        if not is_table(path):
            expected = "expected the name of a file, a frame, a Hugging Face dataset, or a list of dicts"
            raise InputError(f"the data is a {type(path).__name__}; {expected}")
        return corpus_of(name_of(path), scan_table(path, Columns.of(columns)), rule)

    def refuse(problem: Problem) -> None:
        raise InputError.at(path, problem.line, f"{problem.message}; {_CHECK} lists all such lines")

    events = scan(Path(path), format_of(path, format), Columns.of(columns))
    return corpus_of(path, events, rule, refuse)


def read_or_skip(
    path: str | Path,
    *,
    format: str | None = None,
    columns: ColumnNames | None = None,
    labels: tuple[str, ...] = DEFAULT_LABELS,
    conflict: str = "drop",
    errors: str = "fail",
) -> tuple[Corpus, tuple[Problem, ...], tuple[str, ...]]:
    """Read labelled instances as `read` does; also return the lines skipped and the user's own fields, which are lost.

    :param errors: what to do with a line that cannot be used: `fail`, or `skip` it.
    """
    if errors not in _ON_ERRORS:
        raise InputError(f"{setting('errors')} is {errors!r}; expected {' or '.join(_ON_ERRORS)}")
    skipped: list[Problem] = []
    extra: dict[str, None] = {}

    def skip(problem: Problem) -> None:
        if errors == "fail":
            more = f"{_CHECK} lists all such lines, {setting('errors', 'skip')} skips them"
            raise InputError.at(path, problem.line, f"{problem.message}; {more}")
        skipped.append(problem)

    listed, name = Columns.of(columns), format_of(path, format)

    def note_extra(events: Iterable[Event]) -> Iterator[Event]:
        for event in events:
            if isinstance(event, Row):
                own = listed.spelled_by(path, event.given) if name == "csv" else listed
                extra.update(dict.fromkeys(map(str, own.find_extra(event.given))))
            yield event

    corpus = corpus_of(path, note_extra(scan(Path(path), name, listed)), LabelRule.of(labels, conflict), skip)
    return corpus, tuple(skipped), tuple(extra)


def from_dataset(
    dataset: Any,
    *,
    columns: ColumnNames | None = None,
    labels: tuple[str, ...] = DEFAULT_LABELS,
    conflict: str = "drop",
) -> Corpus:
    """Take the instances of a `datasets.Dataset` with the columns text, span, label and, where needed, ordinal."""
    name = Path("dataset")
    events = FORMATS.module("hugging_face").rows_of(dataset, name, Columns.of(columns))
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
    listed = Columns.of(columns)
    events = listed.check_rows("records", rows_of_records(rows, listed))
    return corpus_of("records", events, LabelRule.of(labels, conflict))


def stream(path: str | Path, *, format: str | None = None, columns: ColumnNames | None = None) -> Iterator[Row]:
    """Yield the rows of a file one at a time, labelled or not; see `example_from_fields`.

    :raises InputError: naming the file and the line, at the first row that cannot be read.
    """
    for event in scan(Path(path), format_of(path, format), Columns.of(columns)):
        if isinstance(event, Problem):
            raise InputError.at(path, event.line, event.message)
        if isinstance(event, Row):
            yield event


def write(examples: Sequence[Example], path: str | Path, *, format: str | None = None) -> None:
    """Write a corpus, or any examples, to `path` and replace what is there; a name in `.gz` compresses a text format.

    The file appears complete or not at all.

    :param format: name of the format; taken from the extension if not given.
    :raises InputError: if the format cannot express one of the examples; nothing is written then.
    """
    for example in examples:
        if not isinstance(example, Example):
            expected = "expected an Example; from_records makes them from dicts"
            raise InputError(f"one of the examples is {shorten(example)}; {expected}")
    target = Path(path)
    module = FORMATS.module(format_named(format) if format else format_for_writing(target))
    if hasattr(module, "save"):
        target = Path(str(path).removeprefix(module.PREFIX))
    if not target.parent.is_dir():
        raise InputError.at(target, None, f"the folder {target.parent} does not exist; create it first")
    if hasattr(module, "save"):
        module.save(examples, target)
        return
    if target.is_dir():
        raise InputError.at(target, None, "is a directory; expected the name of a file")
    try:
        content = module.encode(examples)
    except UnicodeEncodeError as error:
        raise InputError.at(target, None, f"a text contains what is not a character ({error.reason})") from error
    # Without the time, so that equal corpora give equal files.
    write_atomically(target, gzip.compress(content, mtime=0) if target.suffix == ".gz" else content)


def format_of(path: str | Path, format: str | None) -> str:
    """Return the full name of the given format or, if there is none, of the format that the file has."""
    # A `Path` is passed on as it is: its class may unpack the file.
    return format_named(format) if format else recognise(path if isinstance(path, Path) else Path(path))


def outcomes(events: Iterable[Event], rule: LabelRule) -> Iterator[Outcome]:
    """Yield what becomes of each row in training. A repeated id gets a number, so that ids are unique."""
    uses: Counter[str] = Counter()
    for event in events:
        outcome = _outcome(event, rule) if isinstance(event, Row) else event
        if isinstance(outcome, Accepted):
            name = outcome.example.id
            uses[name] += 1
            if uses[name] > 1:
                outcome = _rename(outcome, f"{name}#{uses[name]}")
        elif isinstance(outcome, Problem) and outcome.given:
            outcome = replace(outcome, given="")  # many problems may be listed, and none shows it
        yield outcome


def corpus_of(
    path: str | Path, events: Iterable[Event], rule: LabelRule, skip: Callable[[Problem], None] | None = None
) -> Corpus:
    """Return the instances among the events; `skip` gets each row that cannot be used, else the first is an error."""
    examples = []
    dropped: Counter[str] = Counter()
    try:
        for outcome in outcomes(events, rule):
            match outcome:
                case Accepted():
                    examples.append(outcome.example)
                case Dropped():
                    dropped[outcome.reason] += 1
                case Problem(last=False) if skip is not None:
                    skip(outcome)
                case Problem():
                    raise InputError.at(path, outcome.line, outcome.message)
    finally:
        if isinstance(events, Generator):
            events.close()  # and its file, which the traceback of an error would keep open
    if not examples:
        raise InputError.at(path, None, "has no labelled instance; expected at least one")
    return Corpus(tuple(examples), rule.labels, dict(dropped))


def _outcome(row: Row, rule: LabelRule) -> Outcome:
    try:
        example = example_from_fields(row.fields, ordinal_required=True, default_id=str(row.line), row=row)
        label = rule.normalise(example.label) if "label" in row.fields else rule.refuse_unlabelled(row)
    except UnknownLabel as error:
        return Problem(row.line, error.message, unknown_label=error.label)
    except InputError as error:
        return Problem(row.line, error.message)
    if label not in rule.labels:
        return Dropped(row.line, label)
    alone = () if example.candidates else ("the sentence is nothing but its aspect",)
    doubt = find_aspect_doubt(row.fields, example)
    return Accepted(row.line, replace(example, label=label), (*row.warnings, *alone, *([doubt] if doubt else ())))


def _rename(accepted: Accepted, name: str) -> Accepted:
    warning = f"id {shorten(accepted.example.id)} was used before; this instance is named {shorten(name)}"
    return Accepted(accepted.line, replace(accepted.example, id=name), (*accepted.warnings, warning))
