"""Rows: the example that a row describes or why it is rejected, what the model says of it, and the fields that are written.

The HTTP service reads and scores its rows with these functions too.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from pssa.data.example import Example
from pssa.data.fields import example_from_fields
from pssa.data.rows import ArrowRow, Problem, Row
from pssa.data.validation import shorten
from pssa.errors import InputError, for_command_line
from pssa.runs.answers import Answer, Explanation, in_sentence
from pssa.runs.input_profile import notes_column

Value = Answer | Explanation  # what a model says of an example
Score = Callable[[Sequence[Example]], Sequence[Value]]  # in the order of the examples
# The same in three steps, between which other work can be done: begin to cut the texts, compute, fetch the values.
Fetch = Callable[[], Sequence[Value]]
Start = Callable[[Sequence[Example]], Callable[[], Fetch]]

_CONTAINERS = (dict, list, tuple)
_MAX_DEPTH = 64  # containers inside each other
_MAX_REJECTED_LENGTH = 4096  # characters of a rejected row that are kept
_NOT_FINITE = "the model gives no finite number for this text"
PROBABILITIES = "probabilities"
_GOLD, _LABEL, _EXPLANATION = "gold", "label", "explanation"
OUTPUT_FIELDS = (_GOLD, _LABEL, PROBABILITIES, _EXPLANATION)  # fields with a meaning in every output


@dataclass(frozen=True, slots=True)
class ScorableRow:
    """A row that describes an example."""

    line: int
    fields: Mapping[str, Any]  # as the input names them
    example: Example
    warnings: tuple[str, ...] = ()  # such as: its aspect occurs several times in the text and the first is taken
    arrow: ArrowRow | None = None  # the fields in the types of their Arrow table
    found: Mapping[str, Any] = field(
        default_factory=dict
    )  # fields of an aspect that was looked for; they replace others
    offset: int = 0  # of the example's text in the row's


@dataclass(frozen=True, slots=True)
class EmptyRow:
    """A row in which no aspect was found, and which is written nevertheless."""

    line: int
    fields: Mapping[str, Any]
    arrow: ArrowRow | None
    found: Mapping[str, Any]
    notes: str = ""  # what about its text is unlike the training data


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A row that cannot be scored or cannot be written."""

    line: int | None
    reason: str
    row: Mapping[str, Any] | str = ""  # its fields, or its text where it cannot be parsed; empty if unknown

    def as_dict(self, source: str) -> dict[str, Any]:
        """Return plain values for the file of rejected rows."""
        return {"source": source, "line": self.line, "reason": for_command_line(self.reason), **_shortened(self.row)}


ParsedRow = ScorableRow | EmptyRow | RejectedRow


@dataclass(frozen=True)
class ParsedRows:
    """What the rows of a window are, in order; one row may have become several."""

    rows: Sequence[ParsedRow]
    texts: int = 0  # in which aspects were looked for
    empty: int = 0  # texts without an aspect
    notes: Mapping[str, int] = field(default_factory=dict)  # those unlike the training data that have no row, by kind


Parse = Callable[[Sequence[Row | Problem]], ParsedRows]


@dataclass(frozen=True)
class Summary:
    """Counts of what was scored."""

    rows: int = 0
    labels: Mapping[str, int] = field(default_factory=dict)  # how often each was predicted
    ambiguous: int = 0  # rows whose aspect occurs several times in the text; the first was taken
    rejected: int = 0  # rows that were skipped
    texts: int = 0  # in which aspects were looked for
    empty: int = 0  # texts without an aspect
    notes: Mapping[str, int] = field(default_factory=dict)  # rows that are unlike the training data, by kind
    existed: bool = False  # the output of a job to be resumed existed, and nothing was done

    def __add__(self, other: Summary) -> Summary:
        labels = Counter(self.labels) + Counter(other.labels)
        ambiguous, rejected = self.ambiguous + other.ambiguous, self.rejected + other.rejected
        texts, empty = self.texts + other.texts, self.empty + other.empty
        notes = dict(Counter(self.notes) + Counter(other.notes))
        return Summary(self.rows + other.rows, dict(labels), ambiguous, rejected, texts, empty, notes)

    def as_dict(self) -> dict[str, Any]:
        """Return the counts as plain values, for JSON."""
        values = asdict(self)
        del values["existed"]
        if not self.texts:  # nothing was looked for
            del values["texts"], values["empty"]
        if not self.notes:
            del values["notes"]
        return values


def first_rejection(path: Path) -> str:
    """Return the first line of a file of rejected rows, as an error names it."""
    with path.open("rb") as file:
        first = json.loads(file.readline())
    return str(InputError.at(first["source"], first["line"], first["reason"]))


def parse_row(event: Row | Problem) -> ScorableRow | RejectedRow:
    """Return the example of a row, or why there is none; the row's own label is not looked at."""
    if isinstance(event, Problem):
        return RejectedRow(event.line, event.message, event.given)
    if (deep := reject_deep(event)) is not None:
        return deep
    warnings: list[str] = []
    fields = {key: value for key, value in event.fields.items() if key != _LABEL}
    try:
        # A text is as good an id of itself as its digest, which takes longer than finding its words.
        example = example_from_fields(
            fields, ordinal_required=False, default_sentence_id=str, warn=warnings.append, row=event
        )
    except InputError as error:
        return RejectedRow(event.line, str(error), event.given)
    example, offset = in_sentence(example)
    return ScorableRow(event.line, event.given, example, tuple(warnings), event.arrow, offset=offset)


def reject_deep(row: Row) -> RejectedRow | None:
    """Return why a row that is nested too deeply is rejected; None for any other."""
    if not _is_deep(row.given):
        return None
    reason = f"has more than {_MAX_DEPTH} lists or objects inside each other; leave out that field"
    return RejectedRow(row.line, reason, row.given)


def score_each(
    score: Score,
    examples: Sequence[Example],
    catch: type[Exception] = InputError,
    describe: Callable[[Exception], str] = str,
) -> list[Value | str]:
    """Return what the model says of each example, or why it says nothing of this one; one bad example spoils no other.

    :param catch: errors that are one example's; any other is raised.
    :param describe: turns such an error into the reason.
    """
    if not examples:
        return []
    try:
        values = score(examples)
    except catch as error:
        if len(examples) == 1:
            return [describe(error)]
        half = len(examples) // 2
        return [
            *score_each(score, examples[:half], catch, describe),
            *score_each(score, examples[half:], catch, describe),
        ]
    return [value if _is_finite(value) else _NOT_FINITE for value in values]


def start_each(start: Start, examples: Sequence[Example]) -> Callable[[], Callable[[], list[Value | str]]]:
    """Take the first of three steps; the last returns what `score_each` returns."""
    if not examples:
        return lambda: list
    compute = start(examples)

    def launch() -> Callable[[], list[Value | str]]:
        try:
            fetch = compute()
        except InputError as error:
            fetch = partial(_raise, error)
        return partial(score_each, lambda part: fetch() if part is examples else start(part)()(), examples)

    return launch


def _raise(error: InputError) -> Sequence[Value]:
    raise error


def output_fields(
    fields: Mapping[str, Any], value: Value | None, offset: int = 0, *, noted: bool = False, notes: str = ""
) -> dict[str, Any]:
    """Return the fields of an output row: the input's, its label as `gold`, and what the model says.

    :param value: None if there is no aspect of which it could say something.
    :param noted: whether the row has notes, if only empty ones.
    :param notes: about a row without a value.
    :param offset: of the text that the model read in the text of the row.
    """
    if value is None:
        empty = {_LABEL: None, PROBABILITIES: None}
        return dict(_kept(fields)) | empty | ({notes_column(fields): notes or None} if noted else {})
    answer = value.answer if isinstance(value, Explanation) else value
    row = dict(_kept(fields)) | {_LABEL: answer.label, PROBABILITIES: answer.probabilities}
    if isinstance(value, Explanation):
        words = value.as_dict()["words"]
        for word in words if offset else ():
            word["from"], word["to"] = word["from"] + offset, word["to"] + offset
        row[_EXPLANATION] = {"saliency": value.saliency, "words": words}
    if noted:
        row.pop(column := notes_column(fields), None)  # of an earlier scoring
        row[column] = "; ".join(answer.notes)
    return row


def output_columns(fields: Iterable[str], explained: bool, noted: bool = False) -> tuple[str, ...]:
    """Return the names of `output_fields` before anything is scored."""
    given = dict.fromkeys(fields)
    names = dict(_kept(given)) | {_LABEL: None, PROBABILITIES: None} | ({_EXPLANATION: None} if explained else {})
    if noted:
        names.pop(column := notes_column(given), None)
        names[column] = None
    return tuple(names)


def _is_finite(value: Value) -> bool:
    answer = value.answer if isinstance(value, Explanation) else value
    shares: Sequence[float] = value.shares if isinstance(value, Explanation) else ()
    return all(map(math.isfinite, (*answer.probabilities.values(), *shares)))


def _shortened(row: Mapping[str, Any] | str) -> dict[str, Any]:
    """Return the whole row, or the start of its JSON if it is long or cannot be written as JSON."""
    if not row:
        return {}
    try:
        text = row if isinstance(row, str) else json.dumps(dict(row), default=str, allow_nan=False)
    except (ValueError, TypeError, RecursionError):  # NaN, odd keys, or too deep
        return {"row": shorten(row), "shortened": True}
    if len(text) > _MAX_REJECTED_LENGTH:
        return {"row": text[:_MAX_REJECTED_LENGTH], "shortened": True}
    return {"row": text.rstrip("\r\n") if isinstance(row, str) else json.loads(text)}


def _is_deep(fields: Mapping[str, Any]) -> bool:
    """Return whether a recursive writer could run out of stack."""
    level, depth = _containers(fields.values()), 1
    while level and depth < _MAX_DEPTH:
        level = _containers(chain.from_iterable(one.values() if isinstance(one, dict) else one for one in level))
        depth += 1
    return bool(level)


def _containers(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if isinstance(value, _CONTAINERS)]


def _kept(fields: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in fields.items():
        if key != _LABEL:
            yield key, value
        elif _GOLD not in fields:  # otherwise the label is another model's
            yield _GOLD, value
