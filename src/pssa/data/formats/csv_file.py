"""CSV and TSV with a header: `text`, `aspect`, `label` and, where known, the other fields of `_fields`.

The delimiter (comma, semicolon or tab) is the one that is most frequent in the header. Quotes follow RFC 4180.
Columns are found whatever the case of their names, and keep the names that they have.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from pssa.data.example import Example
from pssa.data.formats._columns import AS_NAMED, Columns
from pssa.data.formats._fields import fields_of, words_as_text
from pssa.data.formats._rows import Event, Problem
from pssa.data.formats._text import LONG_LINE, all_lines, decoding_fault
from pssa.data.formats._values import tags_as_text
from pssa.data.shown import told
from pssa.errors import InputError

__all__ = ["columns_in", "delimiter_of", "encode", "scan"]

_COLUMNS = ("id", "sentence_id", "text", "aspect", "from", "to", "label")


def scan(path: Path, columns: Columns = AS_NAMED) -> Iterator[Event]:
    """A row for each record; its line is the one on which the record starts."""
    taken: list[str] = []  # lines of the record that is being read, but for the header
    source = _noting((content for _, content in all_lines(path)), taken)
    header = next(source)
    if header == LONG_LINE:
        raise InputError.at(path, 1, f"{decoding_fault(header)}, with names of columns in the first")
    found = columns_in(header)
    columns = columns.spelled_by(path, found)
    columns.require(path, found)
    # strict: a stray quote is an error of its record instead of a silent change of the text.
    records = csv.reader(source, delimiter=delimiter_of(header), strict=True)
    while True:
        line = records.line_num + 2  # the header is not the reader's, and the record starts after the lines read so far
        taken.clear()
        try:
            record = next(records)
        except StopIteration:
            return
        except csv.Error as error:
            end = records.line_num + 1  # a quote without an end takes the lines after it along
            reach = f", up to line {end}" if end > line else ""
            advice = "quote texts that hold the delimiter, and double the quotes in them"
            yield Problem(line, f"is no CSV ({told(error)}){reach}; {advice}", given="".join(taken))
            continue
        if record:
            fault = _fault(found, record)
            if fault:
                yield Problem(line, fault, given="".join(taken))
            else:
                yield columns.row(line, dict(zip(found, record, strict=True)))


def encode(examples: Sequence[Example]) -> bytes:
    """A comma-separated table; the columns `tags` and `words` only where they say something."""
    rows = [{**fields_of(example), "tags": _tags(example), "words": words_as_text(example)} for example in examples]
    columns = (*_COLUMNS, *(name for name in ("tags", "words") if any(row[name] for row in rows)))
    target = io.StringIO(newline="")
    writer = csv.DictWriter(target, columns, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return target.getvalue().encode()


def _noting(source: Iterator[str], taken: list[str]) -> Iterator[str]:
    """The same lines; those that were handed out are appended to `taken`."""
    for content in source:
        taken.append(content)
        yield content


def columns_in(header: str) -> list[str]:
    """The names in a header line, without space around them; none if it is no CSV."""
    try:
        return [name.strip() for name in next(csv.reader([header], delimiter=delimiter_of(header)), [])]
    except csv.Error:
        return []


def delimiter_of(header: str) -> str:
    """The most frequent of the delimiters; a comma if there is none."""
    return max(",;\t", key=header.count)


def _tags(example: Example) -> str:
    text = tags_as_text(example.tags)
    if text is None:
        raise InputError(f"example {example.id!r}: a tag with | in it cannot be written as CSV; use JSON Lines")
    return text


def _fault(columns: list[str], record: list[str]) -> str | None:
    """What is wrong with a record; None if it can be used."""
    fault = decoding_fault("".join(record))
    if fault is None and len(record) != len(columns):
        return f"has {len(record)} fields, the header {len(columns)}; quote texts that hold the delimiter"
    return fault
