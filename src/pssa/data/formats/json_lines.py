"""JSON Lines, our lossless format: one object per line with the fields of `pssa.data.fields`, word offsets included."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from pssa.data.example import Example
from pssa.data.fields import fields_of
from pssa.data.formats import Format
from pssa.data.rows import SAME_NAMES, Columns, Event, Problem, Row
from pssa.data.text_file import InputFile, describe_damage, read_text_leniently
from pssa.data.validation import format_error, shorten
from pssa.errors import InputError

_SEARCHED = 100  # objects that may have a key

_EXPECTED = 'expected one object per line, such as {"text": ..., "aspect": ...}'
_LIST = (
    "is a JSON list, or its beginning; expected one object per line: convert it with `jq -c '.[]'`, or write it with pandas'"
    " `to_json(lines=True)`"
)
_KEY_END = re.compile(r'"\s*:')


def likelihood(lines: Sequence[str]) -> float:
    """Certain if the first line begins an object."""
    return float(lines[0].lstrip().startswith("{"))


def column_names(file: InputFile) -> list[str]:
    """Return the keys of the first objects."""
    first = islice((_parse(line, content, SAME_NAMES) for line, content in _filled_lines(file)), _SEARCHED)
    return list(dict.fromkeys(name for row in first if isinstance(row, Row) for name in row.fields))


def scan(file: InputFile, columns: Columns = SAME_NAMES) -> Iterator[Event]:
    """Yield a row for each line that is a JSON object; skip blank lines, refuse a file that is one list of objects."""
    rows = (_parse(line, content, columns) for line, content in _filled_lines(file))
    return columns.check_rows(file.path, rows) if columns else rows


def encode(examples: Sequence[Example]) -> bytes:
    """Return one object per line, with `tags` only if there are any."""
    records = []
    for example in examples:
        fields = fields_of(example)
        if not example.tags:
            del fields["tags"]
        records.append(json.dumps(fields, ensure_ascii=False) + "\n")
    return "".join(records).encode()


def _filled_lines(file: InputFile) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank; refuse a file that begins with a list before any of its lines."""
    filled = ((line, content) for line, content in read_text_leniently(file) if content.strip())
    for line, content in islice(filled, 1):
        if content.lstrip().startswith("["):
            raise InputError.at(file.path, line, _LIST)
        yield line, content
    yield from filled


def _parse(line: int, content: str, columns: Columns) -> Event:
    fault = describe_damage(content)
    if fault:
        return Problem(line, fault, given=content)
    try:
        fields = json.loads(content)
        repeated = _repeated_key(content, fields) if isinstance(fields, dict) else None
    except (ValueError, RecursionError) as error:
        return Problem(line, f"is not valid JSON ({format_error(error)}); {_EXPECTED}", given=content)
    if not isinstance(fields, dict):
        kind = type(fields).__name__
        return Problem(line, f"is a JSON {kind}; {_EXPECTED}", given=content)
    if repeated is not None:
        return Problem(line, f"has the key {shorten(repeated)} twice in one object; keep one", given=content)
    return columns.row(line, fields)


def _repeated_key(content: str, fields: dict[str, Any]) -> str | None:
    """Return a key that an object has twice, so that one value would be lost; None if there is none."""
    found = len(fields) + sum(len(value) for value in fields.values() if isinstance(value, dict))
    # Every key has a colon and few rows have another, so that the line rarely has to be parsed again to look at each object.
    if content.count(":") == found or len(_KEY_END.findall(content)) == found:
        return None
    repeated: list[str] = []

    def note(pairs: list[tuple[str, Any]]) -> None:
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):
            repeated.append(next(name for name, times in Counter(names).items() if times > 1))

    json.loads(content, object_pairs_hook=note)
    return repeated[0] if repeated else None


FORMAT = Format(
    scan=scan,
    encode=encode,
    has_columns=True,
    column_names=column_names,
    short_names=("jsonl",),
    extensions=(".json", ".jsonl", ".ndjson"),
    likelihood=likelihood,
)
