"""One row: the example that it describes or why it is rejected, and what is written of it once it is scored."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from pssa.data.example import Example
from pssa.data.formats import ArrowRow
from pssa.data.read import Problem, Row, example_from_fields
from pssa.data.validation import shorten
from pssa.errors import InputError
from pssa.runs.classifier import Answer
from pssa.runs.explain import Explanation

__all__ = ["OURS", "PROBABILITIES", "Accepted", "Rejected", "Value", "columns_of", "fault_of", "judge", "written"]

Value = Answer | Explanation  # what is said of an example

_CONTAINERS = (dict, list, tuple)
_DEEPEST = 64  # of them inside each other
_LONGEST_ROW = 4096  # characters of a rejected row that are kept
PROBABILITIES = "probabilities"
_GOLD, _LABEL, _EXPLANATION = "gold", "label", "explanation"
OURS = (_GOLD, _LABEL, PROBABILITIES, _EXPLANATION)  # fields that have a meaning in an output


@dataclass(frozen=True, slots=True)
class Accepted:
    """A row that can be scored."""

    line: int
    fields: Mapping[str, Any]  # as the input gives and names them
    example: Example
    ambiguous: bool  # its aspect occurs several times in the text; the first was taken
    arrow: ArrowRow | None = None  # the fields in the kinds that their file has for them


@dataclass(frozen=True, slots=True)
class Rejected:
    """A row that cannot be scored, or not be written."""

    line: int | None
    reason: str
    row: Mapping[str, Any] | str = ""  # its fields, or what stands there; empty where nobody knows

    def as_dict(self, source: str) -> dict[str, Any]:
        """Plain values, for the side file."""
        return {"source": source, "line": self.line, "reason": self.reason, **_shortened(self.row)}


def judge(event: Row | Problem) -> Accepted | Rejected:
    """What becomes of a row; its label, if it has one, is not looked at."""
    if isinstance(event, Problem):
        return Rejected(event.line, event.what, event.given)
    if _is_deep(event.given):
        reason = f"has more than {_DEEPEST} lists or objects inside each other; leave out that field"
        return Rejected(event.line, reason, event.given)
    doubts: list[str] = []
    fields = {key: value for key, value in event.fields.items() if key != _LABEL}
    try:
        example = example_from_fields(fields, ordinal_required=False, warn=doubts.append, row=event)
    except InputError as error:
        return Rejected(event.line, str(error), event.given)
    return Accepted(event.line, event.given, example, bool(doubts), event.arrow)


def fault_of(value: Value) -> str:
    """Why what the model says cannot be used; empty if it can."""
    answer = value.answer if isinstance(value, Explanation) else value
    shares: Sequence[float] = value.shares if isinstance(value, Explanation) else ()
    if all(map(math.isfinite, (*answer.probabilities.values(), *shares))):
        return ""
    return "the model gives no finite number for this text"


def written(fields: Mapping[str, Any], value: Value) -> dict[str, Any]:
    """The fields of a row of the output: the input's, its label as `gold`, and what the model says."""
    answer = value.answer if isinstance(value, Explanation) else value
    row = dict(_kept(fields)) | {_LABEL: answer.label, PROBABILITIES: answer.probabilities}
    if isinstance(value, Explanation):
        said = value.as_dict()
        row[_EXPLANATION] = {"saliency": said["saliency"], "words": said["words"]}
    return row


def columns_of(fields: Mapping[str, Any], explained: bool) -> tuple[str, ...]:
    """The names of `written`, before anything is scored."""
    names = dict(_kept(fields)) | {_LABEL: None, PROBABILITIES: None} | ({_EXPLANATION: None} if explained else {})
    return tuple(names)


def _shortened(row: Mapping[str, Any] | str) -> dict[str, Any]:
    """The row as the side file has it: whole, or the beginning of its JSON where it is long or JSON has no words for it."""
    if not row:
        return {}
    try:
        text = row if isinstance(row, str) else json.dumps(dict(row), default=str, allow_nan=False)
    except (ValueError, TypeError, RecursionError):  # NaN, odd keys, or too deep
        return {"row": shorten(row), "shortened": True}
    if len(text) > _LONGEST_ROW:
        return {"row": text[:_LONGEST_ROW], "shortened": True}
    return {"row": text.rstrip("\r\n") if isinstance(row, str) else json.loads(text)}


def _is_deep(fields: Mapping[str, Any]) -> bool:
    """Whether those who write the row, level within level, would run out of stack."""
    level, depth = _containers(fields.values()), 1
    while level and depth < _DEEPEST:
        level = _containers(chain.from_iterable(one.values() if isinstance(one, dict) else one for one in level))
        depth += 1
    return bool(level)


def _containers(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if isinstance(value, _CONTAINERS)]


def _kept(fields: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in fields.items():
        if key != _LABEL:
            yield key, value
        elif _GOLD not in fields:  # else the label is what another model said
            yield _GOLD, value
