"""Aspect lookup: find an aspect in its text, or say why it cannot be found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pssa.data.example import Example
from pssa.data.read import doubt_of_place, example_from_fields
from pssa.errors import InputError
from pssa.serve.schemas import Item, Offsets


@dataclass(frozen=True)
class LocatedAspect:
    """An aspect in its text, or an error."""

    example: Example | None
    warning: str = ""
    error: str = ""


def locate_aspects(items: Iterable[Item]) -> list[list[LocatedAspect]]:
    """Return the aspects of each item, in order."""
    return [[_locate(item.text, aspect) for aspect in item.aspects] for item in items]


def locate_fields(fields: Mapping[str, Any]) -> LocatedAspect:
    """Return the aspect that the fields of a row describe; of an aspect that occurs twice, the first occurrence."""
    warnings: list[str] = []
    try:
        example = example_from_fields(fields, ordinal_required=False, warn=warnings.append)
    except InputError as error:
        return LocatedAspect(None, error=str(error))
    return LocatedAspect(example, "; ".join(filter(None, (*warnings, doubt_of_place(fields, example)))))


def _locate(text: str, aspect: str | Offsets) -> LocatedAspect:
    if not text.strip():
        return LocatedAspect(None, error="the text is blank; expected a sentence")
    if isinstance(aspect, Offsets):
        return locate_fields({"text": text, "from": aspect.start, "to": aspect.end})
    if not aspect.strip():
        return LocatedAspect(None, error="the aspect is blank; expected words of the text, or `from` and `to`")
    return locate_fields({"text": text, "aspect": aspect})
