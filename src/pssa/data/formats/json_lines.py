"""JSON Lines, our lossless format: one object per line with the fields of `pssa.data.fields`, word offsets included."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

from pssa.data.example import Example
from pssa.data.fields import fields_of
from pssa.data.formats import Format, scan_lines
from pssa.data.rows import SAME_NAMES, Columns, Event, Problem, Row
from pssa.data.text_file import InputFile
from pssa.data.validation import format_error, shorten
from pssa.errors import InputError

_EXPECTED = 'expected one object per line, such as {"text": ..., "aspect": ...}'
_LIST = (
    "is a JSON list, or its beginning; expected one object per line: convert it with `jq -c '.[]'`, or write it with pandas'"
    " `to_json(lines=True)`"
)
_KEY_END = re.compile(r'"\s*:')


def likelihood(lines: Sequence[str]) -> float:
    """Certain if the first line begins an object."""
    return float(lines[0].lstrip().startswith("{"))


def scan(file: InputFile, columns: Columns = SAME_NAMES) -> Iterator[Event]:
    """Yield a row for each line that is a JSON object; refuse a file that is one list of objects."""
    return columns.check_rows(file.path, _rows(file, columns)) if columns else _rows(file, columns)


def encode(examples: Sequence[Example]) -> bytes:
    """Return one object per line, with `tags` only if there are any."""
    records = []
    for example in examples:
        fields = fields_of(example)
        if not example.tags:
            del fields["tags"]
        records.append(json.dumps(fields, ensure_ascii=False) + "\n")
    return "".join(records).encode()


def _rows(file: InputFile, columns: Columns) -> Iterator[Event]:
    rows = scan_lines(file, partial(_parse, columns))
    for first in islice(rows, 1):
        if isinstance(first, Problem) and first.given.lstrip().startswith("["):
            raise InputError.at(file.path, first.line, _LIST)
        yield first
    yield from rows


def _parse(columns: Columns, line: int, content: str) -> Row:
    try:
        fields = json.loads(content)
        repeated = _repeated_key(content, fields) if isinstance(fields, dict) else None
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not valid JSON ({format_error(error)}); {_EXPECTED}") from None
    if not isinstance(fields, dict):
        raise InputError(f"is a JSON {type(fields).__name__}; {_EXPECTED}")
    if repeated is not None:
        raise InputError(f"has the key {shorten(repeated)} twice in one object; keep one")
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
    short_names=("jsonl",),
    extensions=(".json", ".jsonl", ".ndjson"),
    likelihood=likelihood,
)
