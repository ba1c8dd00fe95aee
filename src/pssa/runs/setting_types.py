"""Types of settings: how a setting is declared, and how a given value is checked and becomes one of its type."""

from __future__ import annotations

import math
import operator
import sys
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import field, fields
from functools import cache
from types import NoneType
from typing import Any, get_args, get_type_hints

from pssa.data.labels import read_label_map, read_label_texts
from pssa.data.rows import Columns
from pssa.data.validation import shorten
from pssa.errors import InputError

MAX_NAME = 100  # characters
# Settings whose value is a table, as sections are, with the parser of each.
TABLES: dict[str, Callable[[Any], dict[str, str]]] = {
    "columns": lambda given: dict(Columns.of(given).pairs),
    "label_map": read_label_map,
    "label_texts": read_label_texts,
}
_BOUNDS: dict[str, tuple[Callable[[Any, Any], bool], str]] = {
    "least": (operator.ge, "at least"),
    "above": (operator.gt, "greater than"),
    "most": (operator.le, "at most"),
    "below": (operator.lt, "less than"),
}
_PATHS = ("train", "dev", "vectors", "encoder", "evidence", "from_pretrained")


def setting_field(  # noqa: PLR0913 - each is known of some setting
    default: Any,
    help: str = "",
    *,
    unset: Any = None,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    below: float | None = None,
    choices: Sequence[str] = (),
    **shown: str,
) -> Any:
    """Declare a setting.

    :param help: help text of its command-line option; a setting without one has no option.
    :param unset: the value that meant "not set" before there was None; it still does.
    :param least: the least value, `most` the greatest; `above` and `below`: values that it must not reach.
    :param shown: `option`: the option's name, where it is not the setting's; `group`: where help lists it, by default under the
        section's name; `default_text`: the default in words, where it depends on the model.
    """
    known = {"help": help, "unset": unset, "choices": choices}
    known |= {"least": least, "above": above, "most": most, "below": below}
    return field(default=default, metadata={"option": "", "group": "", "default_text": "", **shown, **known})


class Section:
    """A section of the configuration, which refuses values that are too small or too large, or none of the choices."""

    def __post_init__(self) -> None:
        for each in fields(self):  # type: ignore[arg-type]
            value, known = getattr(self, each.name), each.metadata
            if value is None:
                continue
            for key, (holds, words) in _BOUNDS.items():
                if known.get(key) is not None and not holds(value, known[key]):
                    raise InputError(f"{each.name} is {value}; it must be {words} {known[key]}")
            if known.get("choices") and value not in known["choices"]:
                raise InputError(f"{each.name} is {value!r}; it can be {' or '.join(known['choices'])}")


def parse_value(text: str) -> Any:
    """Parse a value as TOML; text that is not TOML is a string, so quotes can be left out."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        return text


@cache
def kind_of(part: type, key: str) -> tuple[Any, bool]:
    """Return the type of a setting without None, and whether it may be None."""
    hint = get_type_hints(part)[key]
    kinds = get_args(hint)
    return (kinds[0], True) if NoneType in kinds else (hint, False)


def as_type(key: str, value: Any, kind: Any) -> Any:
    """Return the value as one of this type; refuse what is not one."""
    if kind is float and type(value) is int:
        value = float(value) if abs(value) <= sys.float_info.max else math.inf
    if key in TABLES:
        return TABLES[key](value)
    if kind == tuple[str, ...]:
        parts = value.split(",") if isinstance(value, str) else value
        if isinstance(parts, (list, tuple)) and all(isinstance(part, str) for part in parts):
            return tuple(part.strip() for part in parts)
    elif type(value) is kind and (kind is not float or math.isfinite(value)):
        if kind is str and len(value) > MAX_NAME and key not in _PATHS:
            raise InputError(f"{key} has {len(value)} characters; expected a name of at most {MAX_NAME}")
        return value
    more = ", a finite one" if type(value) is float else ""
    raise InputError(f"{key} is {shorten(value)}; expected {getattr(kind, '__name__', str(kind))}{more}")
