"""JSON Lines, our own lossless format: one object a line with the fields of `_fields`, word offsets included."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from pssa.data.example import Example
from pssa.data.formats._columns import AS_NAMED, Columns
from pssa.data.formats._fields import fields_of
from pssa.data.formats._rows import Event, Problem
from pssa.data.formats._text import decoding_fault, lines
from pssa.data.shown import told

__all__ = ["encode", "scan"]

_EXPECTED = 'expected one object a line, such as {"text": ..., "aspect": ...}'


def scan(path: Path, columns: Columns = AS_NAMED) -> Iterator[Event]:
    """A row for each line that is a JSON object; blank lines are skipped."""
    rows = (_parse(line, content, columns) for line, content in lines(path) if content.strip())
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


def _parse(line: int, content: str, columns: Columns) -> Event:
    fault = decoding_fault(content)
    if fault:
        return Problem(line, fault, given=content)
    try:
        fields = json.loads(content)
    except (ValueError, RecursionError) as error:
        return Problem(line, f"is no JSON ({told(error)}); {_EXPECTED}", given=content)
    if not isinstance(fields, dict):
        kind = type(fields).__name__
        return Problem(line, f"is a JSON {kind}; {_EXPECTED}", given=content)
    return columns.row(line, fields)
