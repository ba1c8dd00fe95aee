"""JSON Lines, our own lossless format: one object a line with the fields of `_fields`, word offsets included."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from pssa.data.example import Example
from pssa.data.formats._columns import AS_NAMED, Columns
from pssa.data.formats._fields import fields_of
from pssa.data.formats._rows import Event, Problem
from pssa.data.formats._text import all_lines, decoding_fault
from pssa.data.validation import format_error, shorten
from pssa.errors import InputError

__all__ = ["encode", "scan"]

_EXPECTED = 'expected one object a line, such as {"text": ..., "aspect": ...}'
_LIST = (
    "is a JSON list, or its beginning; expected one object a line: write it so with `jq -c '.[]'`, or by `lines=True` of"
    " `to_json` in pandas"
)
_KEY_END = re.compile(r'"\s*:')


def scan(path: Path, columns: Columns = AS_NAMED) -> Iterator[Event]:
    """A row for each line that is a JSON object; blank lines are skipped.

    :raises InputError: if the file is one list of objects, as many programs write them.
    """
    rows = (_parse(line, content, columns) for line, content in _filled_lines(path))
    return columns.required_of(path, rows) if columns else rows


def encode(examples: Sequence[Example]) -> bytes:
    """One object a line; `tags` only where there are some."""
    records = []
    for example in examples:
        fields = fields_of(example)
        if not example.tags:
            del fields["tags"]
        records.append(json.dumps(fields, ensure_ascii=False) + "\n")
    return "".join(records).encode()


def _filled_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines that are not blank; a file that begins as a list has no line of use, so not one is handed out."""
    filled = ((line, content) for line, content in all_lines(path) if content.strip())
    for line, content in islice(filled, 1):
        if content.lstrip().startswith("["):
            raise InputError.at(path, line, _LIST)
        yield line, content
    yield from filled


def _parse(line: int, content: str, columns: Columns) -> Event:
    fault = decoding_fault(content)
    if fault:
        return Problem(line, fault, given=content)
    try:
        fields = json.loads(content)
        twice = _doubled_key(content, fields) if isinstance(fields, dict) else None
    except (ValueError, RecursionError) as error:
        return Problem(line, f"is no JSON ({format_error(error)}); {_EXPECTED}", given=content)
    if not isinstance(fields, dict):
        kind = type(fields).__name__
        return Problem(line, f"is a JSON {kind}; {_EXPECTED}", given=content)
    if twice is not None:
        return Problem(line, f"has the key {shorten(twice)} twice in one object; keep one", given=content)
    return columns.row(line, fields)


def _doubled_key(content: str, fields: dict[str, Any]) -> str | None:
    """A key that an object has twice, of which one value is lost; None if there is none."""
    found = len(fields) + sum(len(value) for value in fields.values() if isinstance(value, dict))
    # Every key has a colon, and few rows another: to parse the line again, with a look at each object, is rarely needed.
    if content.count(":") == found or len(_KEY_END.findall(content)) == found:
        return None
    doubled: list[str] = []

    def note(pairs: list[tuple[str, Any]]) -> None:
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):
            doubled.append(next(name for name, times in Counter(names).items() if times > 1))

    json.loads(content, object_pairs_hook=note)
    return doubled[0] if doubled else None
