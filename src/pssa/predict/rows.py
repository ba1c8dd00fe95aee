"""Rows: the example that a row describes or why it is rejected, what the model says of it, and the fields that are written.

The HTTP service reads and scores its rows with these functions too.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from typing import Any

from pssa.aspects.find import FIND_ADVICE
from pssa.aspects.spans import require_text
from pssa.data.fields import aspect_from_fields, has_aspect
from pssa.data.rows import ArrowRow, Problem, Row
from pssa.data.validation import shorten
from pssa.errors import InputError, for_command_line
from pssa.runs.answers import Answer, Question
from pssa.runs.input_profile import added_column

Value = Sequence[Answer]  # what is said of a row
Start = Callable[[Sequence[Question]], Callable[[], Sequence[Value]]]  # begins to answer; what it returns waits

_CONTAINERS = (dict, list, tuple)
_MAX_DEPTH = 64  # containers inside each other
_MAX_REJECTED_LENGTH = 4096  # characters of a rejected row that are kept
_NOT_FINITE = "the model gives no finite number for this text"
PROBABILITIES = "probabilities"
_GOLD, _LABEL, _EXPLANATION = "gold", "label", "explanation"
OUTPUT_FIELDS = (_GOLD, _LABEL, PROBABILITIES, _EXPLANATION)  # fields with a meaning in every output


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


def describe_rejection(line: bytes) -> str:
    """Return a line of a file of rejected rows as an error names it."""
    rejected = json.loads(line)
    return str(InputError.at(rejected["source"], rejected["line"], rejected["reason"]))


def parse_row(event: Row | Problem, finds: bool = False, ignores_given: bool = False) -> AskedRow | RejectedRow:
    """Return what is asked about a row, or why nothing can be; its own label is not looked at.

    :param finds: whether aspects are looked for in a row that has none.
    :param ignores_given: look for them in any row.
    """
    if isinstance(event, Problem):
        return RejectedRow(event.line, event.message, event.given)
    if _is_deep(event.given):
        reason = f"has more than {_MAX_DEPTH} lists or objects inside each other; leave out that field"
        return RejectedRow(event.line, reason, event.given)
    warnings: list[str] = []
    fields = {key: value for key, value in event.fields.items() if key != _LABEL}
    try:
        if ignores_given or (finds and not has_aspect(fields)):
            question = Question(require_text(event))
        else:
            text, aspect, words = aspect_from_fields(fields, ordinal_required=False, warn=warnings.append, row=event)
            question = Question(text, (aspect,), words)
    except InputError as error:
        reason = error.message
        if not finds and fields.get("text") and not has_aspect(fields):
            reason = f"{reason}; {FIND_ADVICE}"
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


def output_fields(
    fields: Mapping[str, Any],
    answer: Answer | None,
    text: str = "",
    saliency: str | None = None,
    *,
    noted: bool = False,
    notes: str = "",
) -> dict[str, Any]:
    """Return the fields of an output row: the input's, its label as `gold`, and what is said of an aspect.

    :param answer: None if there is no aspect of which anything could be said.
    :param text: that the row is about.
    :param saliency: of the word scores; None: they are not written.
    :param noted: whether the row has notes, if only empty ones.
    :param notes: about a row without an answer.
    """
    row = dict(_kept(fields))
    row |= {_LABEL: answer and answer.label, PROBABILITIES: answer and answer.probabilities}
    if answer is not None and saliency is not None:
        words = [
            {"word": text[word.start : word.end], "from": word.start, "to": word.end, "share": word.share}
            for word in answer.words
        ]
        row[_EXPLANATION] = {"saliency": saliency, "words": words}
    if noted:
        row.pop(column := added_column(fields), None)  # of an earlier scoring
        row[column] = (notes or None) if answer is None else "; ".join(answer.notes)
    return row


def output_columns(fields: Iterable[str], explained: bool, noted: bool = False) -> tuple[str, ...]:
    """Return the names of `output_fields` before anything is scored."""
    given = dict.fromkeys(fields)
    names = dict(_kept(given)) | {_LABEL: None, PROBABILITIES: None} | ({_EXPLANATION: None} if explained else {})
    if noted:
        names.pop(column := added_column(given), None)
        names[column] = None
    return tuple(names)


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


def _kept(fields: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in fields.items():
        if key != _LABEL:
            yield key, value
        elif _GOLD not in fields:  # otherwise the label is another model's
            yield _GOLD, value
