"""Checks of values from files and users, and how messages quote such values.

A `Parser` takes a value and its name and returns the value checked, in plain Python types. A table of parsers by key
describes a JSON object; the same table serves for writing and for reading, so whatever can be written can be read.
"""

from __future__ import annotations

import json
import math
import reprlib
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from difflib import get_close_matches
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from pssa.data.files import read_bounded
from pssa.data.tokenize import Span
from pssa.errors import InputError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Parser = Callable[[Any, str], Any]

_MAX_QUOTE = 60
_MAX_REASON = 200
_MAX_NAMES, _MAX_NAME = 20, 40
_MAX_REPR = 300
_MAX_DOTS = 1000  # on a line of TOML
_MAX_TOML = 1 << 20  # bytes of a file of settings
_QUOTE = reprlib.Repr()
# Names that other libraries have for ours.
_ELSEWHERE = {
    **dict.fromkeys(("val", "valid", "validation", "eval_data", "eval_dataset"), "dev"),
    **dict.fromkeys(("num_epochs", "n_epochs", "num_train_epochs"), "epochs"),
    **dict.fromkeys(("random_state", "random_seed"), "seed"),
    **{"max_iter": "max_epochs", "bs": "batch_size", "max_length": "max_pieces"},
}
_QUOTE.maxstring = _QUOTE.maxother = _QUOTE.maxlong = _MAX_QUOTE
_QUOTE.maxlevel = 2


def shorten(value: object) -> str:
    """Return the `repr` of a value for a message, with its middle left out if it is long."""
    return _QUOTE.repr(value)


def brief_repr(value: object, **shown: object) -> str:
    """Return the `repr` of an object that holds much: its class with the values `shown`, at most 300 characters."""
    quoted = {
        name: "{" + ", ".join(f"{key!r}: {shorten(each)}" for key, each in field.items()) + "}"
        if isinstance(field, dict)
        else shorten(field)
        for name, field in shown.items()
    }
    listed = ", ".join(f"{name}={field}" for name, field in quoted.items())
    text = f"{type(value).__name__}({listed})"
    return text if len(text) <= _MAX_REPR else f"{text[: _MAX_REPR - 4]}...)"


def format_error(reason: object) -> str:
    """Return a library's error, or a name from a file, as one short printable line; the type if it has no text."""
    words = " ".join(str(reason).split())[: _MAX_REASON + 1] or type(reason).__name__
    plain = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in words)
    return plain if len(plain) <= _MAX_REASON else plain[: _MAX_REASON - 3] + "..."


def join_names(names: Iterable[str]) -> str:
    """Return the names of fields or columns as a list for a message, at most 20 of them."""
    known = [str(name) for name in names]
    listed = [name if name.isprintable() and len(name) <= _MAX_NAME else shorten(name) for name in known[:_MAX_NAMES]]
    more = [f"and {len(known) - _MAX_NAMES} more"] if len(known) > _MAX_NAMES else []
    return ", ".join(listed + more) or "(none)"


def nearest_name(given: str, known: Iterable[str]) -> str:
    """Return the known name that is meant, also by the name that other libraries have for it; empty if none is near."""
    names = dict.fromkeys(known)
    meant = {name: name for name in names} | {other: name for other, name in _ELSEWHERE.items() if name in names}
    close = get_close_matches(given.strip("_"), meant, n=1, cutoff=0.5)
    return meant[close[0]] if close else ""


def is_fault(error: BaseException) -> bool:
    """Whether an error is a failure, not a request to stop; a panic in Rust does not derive from `Exception`."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def is_integer(value: object) -> bool:
    """Whether a value is a whole number written as one; `True` and `1.0` are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_finite_number(value: object) -> bool:
    """Whether a value is a number that a float can hold; `True`, NaN and infinities are not."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number that is too large for a float
        return False


def parse_toml(content: str) -> dict[str, Any]:
    """Parse TOML; refuse keys of very many parts, for which the parser takes quadratic time.

    :raises ValueError: if it is not TOML.
    """
    for number, line in enumerate(content.splitlines(), 1):
        if line.count(".") > _MAX_DOTS:
            raise ValueError(f"line {number} has more than {_MAX_DOTS} dots")
    return tomllib.loads(content)


def read_toml(path: str | Path) -> dict[str, Any]:
    """Read a TOML file of settings.

    :raises InputError: if it cannot be read, is too large or is not TOML.
    """
    try:
        return parse_toml(read_bounded(Path(path), _MAX_TOML).decode())
    except OSError as error:
        raise InputError.at(path, None, f"cannot be read: {error.strerror}") from error
    except InputError:
        raise
    except (ValueError, RecursionError) as error:  # also: not UTF-8, or a number with too many digits
        raise InputError.at(path, None, f"not a TOML file: {format_error(error)}") from error


def parse_object(line: str) -> dict[str, Any]:
    """Return the JSON object on a line; refuse repeated keys, NaN and Infinity."""
    try:
        value = json.loads(line, object_pairs_hook=refuse_repeats, parse_constant=_refuse_constant)
    except InputError:
        raise
    except json.JSONDecodeError as error:
        reason = f"{error.msg}, character {error.pos + 1}"
        raise InputError(f"is not valid JSON ({reason}); expected one object per line") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not valid JSON ({format_error(error)}); expected one object per line") from None
    if not isinstance(value, dict):
        raise InputError(f"is {shorten(value)}; expected one JSON object per line")
    return value


def parse_fields(value: Any, name: str, parsers: Mapping[str, Parser]) -> dict[str, Any]:
    """Return the checked fields of an object, called `name` in messages, that must have exactly the keys of `parsers`."""
    if not isinstance(value, dict):
        _refuse(value, name, "an object")
    missing, unknown = [key for key in parsers if key not in value], [key for key in value if key not in parsers]
    place = f"`{name}`" if name else "the line"
    if missing:
        raise InputError(f"{place} has no `{missing[0]}`; expected the keys {', '.join(parsers)}")
    if unknown:
        raise InputError(f"{place} has the unknown key {shorten(unknown[0])}; expected {', '.join(parsers)}")
    return {key: parse(value[key], f"{name}.{key}" if name else key) for key, parse in parsers.items()}


def parsers_of(kind: type[DataclassInstance], **others: Parser) -> dict[str, Parser]:
    """Return a parser for each field of a dataclass: the given one, or the one of its annotation."""
    found = dict(others)
    for field in fields(kind):
        if field.name not in others:
            base = str(field.type).removesuffix(" | None")
            found[field.name] = _PARSERS[base] if base == field.type else optional(_PARSERS[base])
    return {field.name: found[field.name] for field in fields(kind)}


def object_of(parsers: Mapping[str, Parser]) -> Parser:
    """Return a parser of objects; see `parse_fields`."""
    return lambda value, name: parse_fields(value, name, parsers)


def list_of(parse: Parser) -> Parser:
    """Return a parser of lists; it gives a tuple of what `parse` returns."""

    def parse_list(value: Any, name: str) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            _refuse(value, name, "a list")
        return tuple(parse(item, f"{name}[{index}]") for index, item in enumerate(value))

    return parse_list


def optional(parse: Parser) -> Parser:
    """Return a parser that also accepts null."""
    return lambda value, name: None if value is None else parse(value, name)


def text(value: Any, name: str) -> str:
    """Parse a string of whole characters."""
    if not isinstance(value, str):
        _refuse(value, name, "text")
    try:
        value.encode()
    except UnicodeEncodeError:
        _refuse(value, name, "text without half surrogate pairs")
    return value


def integer(value: Any, name: str) -> int:
    """Parse a whole number."""
    if not is_integer(value):
        _refuse(value, name, "a whole number")
    return int(value)


def number(value: Any, name: str) -> float:
    """Parse a finite number."""
    if not is_finite_number(value):
        _refuse(value, name, "a finite number")
    return float(value)


def truth(value: Any, name: str) -> bool:
    """Return `value` if it is true or false."""
    return value if isinstance(value, bool) else _refuse(value, name, "true or false")


def span(value: Any, name: str) -> Span:
    """Parse two offsets, the first before the second."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        _refuse(value, name, "two offsets")
    start, end = integer(value[0], name), integer(value[1], name)
    if not 0 <= start < end:
        _refuse(value, name, "two offsets from 0, the first before the second")
    return start, end


_PARSERS: dict[str, Parser] = {
    **{"int": integer, "float": number, "str": text, "Span": span},
    **{"tuple[str, ...]": list_of(text), "tuple[Span, ...]": list_of(span)},
}


def _refuse(value: Any, name: str, expected: str) -> NoReturn:
    raise InputError(f"`{name}` is {shorten(value)}; expected {expected}")


def refuse_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of these pairs, for `json`; refuse a key that comes twice, since one value would be lost."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        repeated = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise InputError(f"has the key {shorten(repeated)} twice in one object; keep one of the two")
    return fields


def _refuse_constant(constant: str) -> NoReturn:
    raise InputError(f"contains {constant}; expected finite numbers only")
