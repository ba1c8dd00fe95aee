"""CSV and TSV with a header: `text`, `aspect`, `label` and, where known, other fields of `pssa.data.fields`.

The delimiter is the most frequent of comma, semicolon and tab in the header, or the one that a line before the header gives, such
as Excel's `sep=;`. Quotes follow RFC 4180. The case of column names does not matter.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pssa.data.example import Example
from pssa.data.fields import fields_of, tags_as_text, words_as_text
from pssa.data.formats import Format
from pssa.data.rows import SAME_NAMES, Columns, Event, Problem
from pssa.data.text_file import LONG_LINE, InputFile, describe_damage, read_text_leniently
from pssa.data.validation import format_error
from pssa.errors import InputError

_MAX_RECORD = 1 << 22  # characters
_COLUMNS = ("id", "sentence_id", "text", "aspect", "from", "to", "label")
# Excel reads it as a line about the file; saving the file as CSV again quotes it and fills it up with delimiters.
_SEP_LINE = re.compile(r'"?sep=(\t|[^\w\s"\0\ud800-\udfff])"?\1*\s*', re.IGNORECASE)

_BLANK_LINE = re.compile(r'[\s,;"]*')


@dataclass(frozen=True)
class CsvHeader:
    """The line with the names of the columns."""

    content: str
    delimiter: str
    line: int  # its number in the file

    @classmethod
    def read(cls, lines: Iterator[str]) -> CsvHeader:
        """Read the header and no line after it; an empty one if there is none. Blank lines before it do not count."""
        numbered = ((number, line) for number, line in enumerate(lines, 1) if not _BLANK_LINE.fullmatch(line))
        number, first = next(numbered, (1, ""))
        sep_line = _SEP_LINE.fullmatch(first)
        if sep_line is not None:
            number, header = next(numbered, (number + 1, ""))
            return cls(header, sep_line[1], number)
        return cls(first, max(",;\t", key=first.count), number)  # a comma if it has none of them

    @property
    def written(self) -> list[str]:
        """The names with the space around them; none if the line is not CSV."""
        try:
            return next(csv.reader([self.content], delimiter=self.delimiter), [])
        except csv.Error:
            return []

    @property
    def names(self) -> list[str]:
        """The names without space around them."""
        return [name.strip() for name in self.written]


def read_records(
    lines: Iterator[str], header: CsvHeader, max_characters: int
) -> Iterator[tuple[int, list[str], str] | Problem]:
    """Yield the records after the header: the line on which each starts, its cells, and the text that they were read from.

    :param max_characters: of a record; beyond that it becomes a field so long that `csv.reader`, which knows no limit, refuses
        it: a quote that never ends would become one record of everything after it.
    """
    taken: list[str] = []  # the lines of a record, as far as they are not too long
    left = max_characters

    def limited() -> Iterator[str]:
        nonlocal left
        for line in lines:
            left -= len(line)
            if left >= 0:
                taken.append(line)
            yield line if left >= 0 else "x" * (csv.field_size_limit() + 1)

    # strict: a stray quote is an error of its record instead of a silent change of the text.
    reader = csv.reader(limited(), delimiter=header.delimiter, strict=True)
    while True:
        # The reader does not count the header, and the record starts after the lines read so far.
        start = header.line + reader.line_num + 1
        taken.clear()
        left = max_characters
        try:
            record = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            end = header.line + reader.line_num  # a quote without an end takes the lines after it along
            if end > start and "field limit" in str(error):  # no later row is sure
                what = f"opens a quote that has not closed by line {end}; close it, and double the quotes in texts"
                yield Problem(start, what, given="".join(taken), last=True)
                return
            reach = f", up to line {end}" if end > start else ""
            advice = "quote texts that contain the delimiter, and double the quotes in them"
            what = f"is not valid CSV ({format_error(error)}){reach}; {advice}"
            yield Problem(start, what, given="".join(taken))
            continue
        if record:
            yield start, record, "".join(taken)


def likelihood(lines: Sequence[str]) -> float:
    """Likely if a column is called `text`."""
    return 0.6 * ("text" in map(str.lower, CsvHeader.read(iter(lines)).names))


def scan(file: InputFile, columns: Columns = SAME_NAMES) -> Iterator[Event]:
    """Yield a row for each record; its line is the one on which the record starts."""
    lines = (content for _, content in read_text_leniently(file))
    header = CsvHeader.read(lines)
    if damage := describe_damage(header.content):
        more = ", with the names of columns in the first" if header.content == LONG_LINE else ""
        raise InputError.at(file.path, header.line, f"{damage}{more}")
    names = header.names
    columns = columns.fit_header(file.path, names, header.line)
    for found in read_records(lines, header, _MAX_RECORD):
        if isinstance(found, Problem):
            yield found
            continue
        line, record, content = found
        fault = describe_damage("".join(record))
        if fault is None and len(record) != len(names):
            fault = f"has {len(record)} fields, the header {len(names)}; quote texts that contain the delimiter"
        if fault:
            yield Problem(line, fault, given=content)
        else:
            yield columns.row(line, dict(zip(names, record, strict=True)))


def encode(examples: Sequence[Example]) -> bytes:
    """Return a comma-separated table, with the columns `tags` and `words` only if they have content."""
    rows = []
    for example in examples:
        tags = tags_as_text(example.tags)
        if tags is None:
            raise InputError(f"example {example.id!r}: CSV cannot hold a tag with | in it; use JSON Lines")
        rows.append({**fields_of(example), "tags": tags, "words": words_as_text(example)})
    columns = (*_COLUMNS, *(name for name in ("tags", "words") if any(row[name] for row in rows)))
    target = io.StringIO(newline="")
    writer = csv.DictWriter(target, columns, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return target.getvalue().encode()


FORMAT = Format(
    scan=scan,
    encode=encode,
    has_columns=True,
    short_names=("tsv",),
    extensions=(".csv", ".tsv"),
    likelihood=likelihood,
)
