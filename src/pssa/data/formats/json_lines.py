"""JSON Lines, our lossless format: one object per line with the fields of `pssa.data.fields`, word offsets included."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

from pssa.data.example import Example
from pssa.data.fields import fields_of
from pssa.data.formats import Format, scan_lines
from pssa.data.rows import SAME_NAMES, Columns, Event, Problem, Row
from pssa.data.text_file import InputFile
from pssa.data.validation import format_error, refuse_repeats
from pssa.errors import InputError

_EXPECTED = 'expected one object per line, such as {"text": ..., "aspect": ...}'
_LIST = (
    "is a JSON list, or its beginning; expected one object per line: convert it with `jq -c '.[]'`, or write it with pandas'"
    " `to_json(lines=True)`"
)
_KEY_END = re.compile(r'"\s*:')


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
        if isinstance(fields, dict) and _may_repeat_a_key(content, fields):
            json.loads(content, object_pairs_hook=refuse_repeats)
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not valid JSON ({format_error(error)}); {_EXPECTED}") from None
    if not isinstance(fields, dict):
        raise InputError(f"is a JSON {type(fields).__name__}; {_EXPECTED}")
    return columns.row(line, fields)


def _may_repeat_a_key(content: str, fields: dict[str, Any]) -> bool:
    """Return False where no object has a key twice: every key has a colon, and few rows have another."""
    found = len(fields) + sum(len(value) for value in fields.values() if isinstance(value, dict))
    return content.count(":") != found and len(_KEY_END.findall(content)) != found


FORMAT = Format(
    scan=scan,
    encode=encode,
    has_columns=True,
    short_names=("jsonl",),
    extensions=(".json", ".jsonl", ".ndjson"),
    likelihood=lambda lines: float(lines[0].lstrip().startswith("{")),
)
