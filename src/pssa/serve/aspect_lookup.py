"""Aspects as clients give them, placed in their texts; or why one cannot be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pssa.data.example import Example
from pssa.data.read import doubt_of_place, example_from_fields
from pssa.errors import InputError
from pssa.serve.cost import most_words
from pssa.serve.limits import Limits
from pssa.serve.schemas import Item, Place

__all__ = ["Placed", "explainable", "place_fields", "place_items"]


@dataclass(frozen=True)
class Placed:
    """An aspect in its text, or an error."""

    example: Example | None
    warning: str = ""
    error: str = ""


def place_items(items: Iterable[Item]) -> list[list[Placed]]:
    """For each item, its aspects in order."""
    return [[_place(item.text, aspect) for aspect in item.aspects] for item in items]


def place_fields(fields: Mapping[str, Any]) -> Placed:
    """The aspect that the fields of a row describe, as in any file; one that occurs twice is taken where it comes first."""
    doubts: list[str] = []
    try:
        example = example_from_fields(fields, ordinal_required=False, warn=doubts.append)
    except InputError as error:
        return Placed(None, error=str(error))
    return Placed(example, "; ".join(filter(None, (*doubts, doubt_of_place(fields, example)))))


def explainable(placed: Placed, saliency: str, limits: Limits) -> Placed:
    """The same, or an error if the text has more words than the saliency can be asked about."""
    most = most_words(saliency, limits)
    if placed.example is None or len(placed.example.spans) <= most:
        return placed
    found = len(placed.example.spans)
    return Placed(None, error=f"the text has {found} words, {saliency} explains at most {most}; give a shorter text")


def _place(text: str, aspect: str | Place) -> Placed:
    if not text.strip():
        return Placed(None, error="the text is blank; expected a sentence")
    if isinstance(aspect, Place):
        return place_fields({"text": text, "from": aspect.start, "to": aspect.end})
    if not aspect.strip():
        return Placed(None, error="the aspect is blank; expected words of the text, or `from` and `to`")
    return place_fields({"text": text, "aspect": aspect})
