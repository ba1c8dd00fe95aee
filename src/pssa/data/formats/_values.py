"""Single values out of fields: tables give numbers as text, data frames as floats with NaN for nothing, and lists as arrays."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from pssa.data.tokenize import Span
from pssa.data.validation import shorten
from pssa.errors import InputError

__all__ = ["integer", "names", "spans", "spans_as_text", "string", "tags", "tags_as_text"]

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_INTEGER = re.compile(r"\s*(-?\d+)(?:\.0*)?\s*", re.ASCII)
_SPANS = re.compile(r"(?:\d{1,9}-\d{1,9}(?: |$))+", re.ASCII)
_MAX_DIGITS = 18
_MOST_NAMES, _LONGEST_NAME = 20, 40  # in a message


def string(fields: Mapping[str, Any], name: str) -> str | None:
    """The text of a field; None if it is absent or blank. Whole numbers are welcome, as ids and as labels."""
    value = fields.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if _is_absent(value):
        return None
    if not isinstance(value, str):
        raise InputError(f"`{name}` is {shorten(value)}; expected text")
    if _LONE_SURROGATE.search(value):
        raise InputError(f"`{name}` holds half of a surrogate pair, which is no character; write the whole pair")
    return value if value.strip() else None


def integer(fields: Mapping[str, Any], name: str) -> int | None:
    """The whole number of a field; None if it is absent or blank."""
    value = fields.get(name)
    if _is_absent(value):
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    found = _INTEGER.fullmatch(value) if isinstance(value, str) and len(value) <= _MAX_DIGITS else None
    if found is None:
        raise InputError(f"`{name}` is {shorten(value)}; expected a whole number")
    return int(found.group(1))


def spans(fields: Mapping[str, Any], name: str, length: int) -> tuple[Span, ...] | None:
    """Ordered spans inside a text of this length; None if the field is absent."""
    value: Any = _listed(fields.get(name))
    if _is_absent(value):
        return None
    if isinstance(value, str) and _SPANS.fullmatch(value):
        value = [tuple(map(int, pair.split("-"))) for pair in value.split()]
    try:
        found = tuple((start, end) for start, end in value)
        edges = [0, *(edge for span in found for edge in span), length]
        # Equal edges are fine between two words, never inside one.
        ordered = all(left <= right for left, right in pairwise(edges))
        sound = ordered and all(start < end for start, end in found) and all(type(edge) is int for edge in edges)
    except (TypeError, ValueError):
        sound = False
    if not sound:
        raise InputError(
            f"`{name}` is no list of [from, to] offsets, in order and inside the text of {length} characters"
        )
    return found


def spans_as_text(found: Iterable[Sequence[int]]) -> str:
    """What `spans` reads, for formats without lists."""
    return " ".join(f"{start}-{end}" for start, end in found)


def tags(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """The tags: a list, or text with `|` between them."""
    value = _listed(fields.get("tags"))
    if _is_absent(value):
        return ()
    if isinstance(value, str):
        value = value.split("|")
    if not isinstance(value, list | tuple) or not all(isinstance(tag, str) for tag in value):
        raise InputError(f"`tags` is {shorten(value)}; expected a list of texts, or one text with | between them")
    return tuple(tag.strip() for tag in value if tag.strip())


def tags_as_text(found: Sequence[str]) -> str | None:
    """What `tags` reads, for formats without lists; None where a tag would be read as two."""
    return None if any("|" in tag for tag in found) else "|".join(found)


def names(found: Iterable[str]) -> str:
    """The names of fields or columns, for a message."""
    known = [str(name) for name in found]
    some = [
        name if name.isprintable() and len(name) <= _LONGEST_NAME else shorten(name) for name in known[:_MOST_NAMES]
    ]
    more = [f"and {len(known) - _MOST_NAMES} more"] if len(known) > _MOST_NAMES else []
    return ", ".join(some + more) or "(none)"


def _listed(value: Any) -> Any:
    """The value with lists in place of arrays; those of a data frame may hold others."""
    if hasattr(value, "tolist"):
        return [_listed(item) for item in found] if isinstance(found := value.tolist(), list) else found
    return value


def _is_absent(value: object) -> bool:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return True
    return isinstance(value, str) and not value.strip()
