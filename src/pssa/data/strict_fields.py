"""JSON that this package writes and people edit: exact keys, exact types, errors that name the place.

A `Parser` takes a value and its name and returns it checked, in plain Python types. A table of parsers by key describes
an object; the same table is used for writing and for reading, so whatever can be written can be read.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, NoReturn

from pssa.data.shown import shown, told
from pssa.data.tokenize import Span
from pssa.errors import InputError

__all__ = ["Parser", "integer", "list_of", "number", "object_of", "optional", "parse_object", "record", "span", "text"]

Parser = Callable[[Any, str], Any]


def parse_object(line: str) -> dict[str, Any]:
    """The one JSON object of a line; a key that comes twice is refused, and so are NaN and Infinity."""
    try:
        value = json.loads(line, object_pairs_hook=_without_repeats, parse_constant=_refuse_constant)
    except InputError:
        raise
    except json.JSONDecodeError as error:
        raise InputError(f"is no JSON ({error.msg}, character {error.pos + 1}); expected one object a line") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"is no JSON ({told(error)}); expected one object a line") from None
    if not isinstance(value, dict):
        raise InputError(f"is {shown(value)}; expected one JSON object a line")
    return value


def record(value: Any, name: str, parsers: Mapping[str, Parser]) -> dict[str, Any]:
    """The fields of an object that must have exactly the keys of `parsers`; `name` is its place, empty for a line."""
    if not isinstance(value, dict):
        _refuse(value, name, "an object")
    missing, unknown = [key for key in parsers if key not in value], [key for key in value if key not in parsers]
    place = f"`{name}`" if name else "the line"
    if missing:
        raise InputError(f"{place} has no `{missing[0]}`; expected the keys {', '.join(parsers)}")
    if unknown:
        raise InputError(f"{place} has the unknown key {shown(unknown[0])}; expected {', '.join(parsers)}")
    return {key: parse(value[key], f"{name}.{key}" if name else key) for key, parse in parsers.items()}


def object_of(parsers: Mapping[str, Parser]) -> Parser:
    """An object inside another; see `record`."""
    return lambda value, name: record(value, name, parsers)


def text(value: Any, name: str) -> str:
    """A string of whole characters."""
    if not isinstance(value, str):
        _refuse(value, name, "text")
    try:
        value.encode()
    except UnicodeEncodeError:
        _refuse(value, name, "text without half surrogate pairs")
    return value


def integer(value: Any, name: str) -> int:
    """A whole number, written as one; true and false are none."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        _refuse(value, name, "a whole number")
    return int(value)


def number(value: Any, name: str) -> float:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        _refuse(value, name, "a number")
    try:
        converted = float(value)
    except OverflowError:
        converted = math.inf
    if not math.isfinite(converted):
        _refuse(value, name, "a finite number")
    return converted


def span(value: Any, name: str) -> Span:
    """Two offsets, the first before the second."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        _refuse(value, name, "two offsets")
    start, end = integer(value[0], name), integer(value[1], name)
    if not 0 <= start < end:
        _refuse(value, name, "two offsets from 0, the first before the second")
    return start, end


def optional(parse: Parser) -> Parser:
    """What `parse` takes, or null."""
    return lambda value, name: None if value is None else parse(value, name)


def list_of(parse: Parser) -> Parser:
    """A list, as a tuple, of what `parse` takes."""

    def parse_list(value: Any, name: str) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            _refuse(value, name, "a list")
        return tuple(parse(item, f"{name}[{index}]") for index, item in enumerate(value))

    return parse_list


def _refuse(value: Any, name: str, expected: str) -> NoReturn:
    raise InputError(f"`{name}` is {shown(value)}; expected {expected}")


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        repeated = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise InputError(f"has the key {shown(repeated)} twice in one object; keep one of the two")
    return fields


def _refuse_constant(constant: str) -> NoReturn:
    raise InputError(f"holds {constant}; expected finite numbers only")
