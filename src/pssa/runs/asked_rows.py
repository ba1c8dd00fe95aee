"""Rows that are asked about: what is asked of a row or why nothing can be, and what is said of each.

Frames, files and the HTTP service read and score their rows with these functions.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from pssa.aspects.find import FIND_ADVICE
from pssa.aspects.spans import require_text
from pssa.data.fields import aspect_from_fields, has_aspect
from pssa.data.rows import ArrowRow, Problem, Row
from pssa.data.validation import shorten
from pssa.errors import InputError, for_command_line
from pssa.runs.answers import Answer, Question

Value = Sequence[Answer]  # what is said of a row
Start = Callable[[Sequence[Question]], Callable[[], Sequence[Value]]]  # begins to answer; what it returns waits

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
