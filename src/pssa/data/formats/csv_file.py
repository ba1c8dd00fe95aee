"""CSV and TSV with a header: `text`, `aspect`, `label` and, where known, the other fields of `_fields`.

The delimiter (comma, semicolon or tab) is the one that is most frequent in the header, or any that a line before the header
tells, as `sep=;` does for Excel. Quotes follow RFC 4180.
Columns are found whatever the case of their names, and keep the names that they have.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pssa.data.example import Example
from pssa.data.formats._columns import AS_NAMED, Columns
from pssa.data.formats._fields import fields_of, words_as_text
from pssa.data.formats._rows import Event, Problem
from pssa.data.formats._text import LONG_LINE, all_lines, decoding_fault
from pssa.data.formats._values import tags_as_text
from pssa.data.validation import format_error
from pssa.errors import InputError

__all__ = ["Header", "encode", "scan"]

_COLUMNS = ("id", "sentence_id", "text", "aspect", "from", "to", "label")
# What Excel takes for a line about the file; saved again as CSV, it is quoted and filled up with delimiters.
_SEP_LINE = re.compile(r'"?sep=(\t|[^\w\s"\0\ud800-\udfff])"?\1*\s*', re.IGNORECASE)


@dataclass(frozen=True)
class Header:
    """The line with the names of the columns."""

    content: str
    delimiter: str
    line: int  # its number in the file

    @classmethod
    def read(cls, lines: Iterator[str]) -> Header:
        """The header of a file, of whose lines no other is taken than those up to it; an empty one where there is none."""
        first = next(lines, "")
        sep_line = _SEP_LINE.fullmatch(first)
        if sep_line is not None:
            return cls(next(lines, ""), sep_line[1], 2)
        return cls(first, max(",;\t", key=first.count), 1)  # a comma if there is none of them

    @property
    def written(self) -> list[str]:
        """The names with the space around them; none if the line is no CSV."""
        try:
            return next(csv.reader([self.content], delimiter=self.delimiter), [])
        except csv.Error:
            return []

    @property
    def names(self) -> list[str]:
        """The names without space around them."""
        return [name.strip() for name in self.written]


def scan(path: Path, columns: Columns = AS_NAMED) -> Iterator[Event]:
    """A row for each record; its line is the one on which the record starts."""
    taken: list[str] = []  # lines of the record that is being read, but for the header
    source = _noting((content for _, content in all_lines(path)), taken)
    header = Header.read(source)
    if header.content == LONG_LINE:
        raise InputError.at(path, header.line, f"{decoding_fault(LONG_LINE)}, with names of columns in the first")
    found = header.names
    columns = columns.spelled_by(path, found, header.line)
    columns.require(path, found, header.line)
    # strict: a stray quote is an error of its record instead of a silent change of the text.
    records = csv.reader(source, delimiter=header.delimiter, strict=True)
    while True:
        # The header is not the reader's, and the record starts after the lines read so far.
        line = header.line + records.line_num + 1
        taken.clear()
        try:
            record = next(records)
        except StopIteration:
            return
        except csv.Error as error:
            end = header.line + records.line_num  # a quote without an end takes the lines after it along
            reach = f", up to line {end}" if end > line else ""
            advice = "quote texts that hold the delimiter, and double the quotes in them"
            yield Problem(line, f"is no CSV ({format_error(error)}){reach}; {advice}", given="".join(taken))
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
