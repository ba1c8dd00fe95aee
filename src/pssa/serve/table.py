"""A CSV in, the same rows out with their labels, probabilities and, where one cannot be used, its error.

Rows mean what they mean in any CSV file (`text`, `aspect`, `from`, `to`, ...), in which columns may have other names. A label
that the table has already is kept as `gold`. Rows are scored a window at a time while the answer is being sent; the windows
after the first wait for their turn where the queue is full.
"""

from __future__ import annotations

import asyncio
import codecs
import csv
import io
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from fastapi.concurrency import run_in_threadpool
from starlette.types import Receive

from pssa.data.formats.csv_file import Header
from pssa.data.read import Columns
from pssa.data.validation import format_error
from pssa.errors import InputError
from pssa.runs.classifier import probability_column
from pssa.serve.aspect_lookup import LocatedAspect, locate_fields
from pssa.serve.batcher import Batcher, PendingRequest
from pssa.serve.errors import ApiError
from pssa.serve.handlers import score
from pssa.serve.scoring import Scored

_WINDOW = 256
_PLACE = "the table"  # in an error
_RETRY_SECONDS = 0.05


@dataclass(frozen=True)
class _Row:
    cells: list[str]  # as many as the table has columns
    placed: LocatedAspect


@dataclass(frozen=True)
class Table:
    """A CSV that can be scored: its columns and its records, not yet read."""

    columns: list[str]  # as they are written
    meaning: Columns  # which of them is which field
    header: Header
    records: io.StringIO  # behind the header
    characters: int  # that a cell may have

    def rows(self) -> Iterator[_Row]:
        """Each record, placed or with what is wrong with it."""
        # strict: a stray quote is an error of its record instead of a silent change of the text.
        reader = csv.reader(self.records, delimiter=self.header.delimiter, strict=True)
        while True:
            line = self.header.line + reader.line_num + 1
            try:
                record = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield _Row([""] * len(self.columns), LocatedAspect(None, error=f"line {line} is no CSV ({error})"))
                continue
            if record:
                yield self._row(record)

    def _row(self, record: list[str]) -> _Row:
        width = len(self.columns)
        cells = [*record, *[""] * width][:width]
        if len(record) != width:
            return _Row(cells, LocatedAspect(None, error=f"has {len(record)} cells, the header {width}"))
        if any(len(cell) > self.characters for cell in cells):
            return _Row(cells, LocatedAspect(None, error=f"a cell has more than {self.characters} characters"))
        names = [column.strip() for column in self.columns]
        fields = self.meaning.row(0, dict(zip(names, cells, strict=True))).fields
        return _Row(cells, locate_fields({name: value for name, value in fields.items() if name != "label"}))


def read_table(body: bytes, characters: int, columns: str = "") -> Table:
    """The table in a body.

    :param columns: those with names of their own, as `--columns` takes them.
    :raises Refusal: 422 if there is no header with the columns that are needed.
    """
    # What is no UTF-8 is replaced and scored; the characters that say so can be seen in the answer.
    content = io.StringIO(body.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace"), newline="\n")
    header = Header.read(content)
    try:
        meaning = _meaning(header.names, columns)
    except InputError as error:
        raise ApiError(422, "no_columns", str(error)) from error
    return Table(header.written, meaning, header, content, characters)


def _meaning(names: Sequence[str], columns: str) -> Columns:
    """Which of a header's columns is which field."""
    meaning = Columns.of(columns or None).spelled_by(_PLACE, names)
    if not meaning.suffice(names):
        found = format_error(", ".join(names) or "nothing")
        advice = "if they have other names, say so, as in ?columns=text=review,aspect=term"
        raise InputError(f"the header needs text and aspect, or text, from and to; found {found}; {advice}")
    meaning.require(_PLACE, names)
    return meaning


async def scored(batcher: Batcher, table: Table, run: str, receive: Receive) -> AsyncIterator[bytes]:
    """The answer, a window of rows at a time.

    :raises Refusal: before the first piece, 503 if the queue is full.
    """
    labels = batcher.runs[run].classifier.labels
    layout = _Layout.of(table.columns, labels)
    rows = table.rows()
    began = False
    while window := await run_in_threadpool(list, islice(rows, min(_WINDOW, batcher.limits.queue))):
        request = PendingRequest([row.placed.example for row in window if row.placed.example is not None], run)
        outcomes = iter(await (_patiently(batcher, request, receive) if began else score(batcher, request, receive)))
        lines = [_line(layout, row, None if row.placed.example is None else next(outcomes)) for row in window]
        yield _text(lines if began else [layout.header, *lines], table.header.delimiter)
        began = True
    if not began:
        yield _text([layout.header], table.header.delimiter)


@dataclass(frozen=True)
class _Layout:
    """Which of the table's columns stay, and what comes behind them."""

    kept: list[int]
    header: list[str]
    labels: tuple[str, ...]

    @classmethod
    def of(cls, columns: Sequence[str], labels: tuple[str, ...]) -> _Layout:
        ours = ["label", *(probability_column(label) for label in labels), "error", "warning"]
        found = [column.strip().lower() for column in columns]
        # A table that was scored before gets new answers in place of the old.
        replaced = {*ours[1:], *(["label"] if "gold" in found else [])}
        kept = [place for place, name in enumerate(found) if name not in replaced]
        names = ["gold" if found[place] == "label" else columns[place] for place in kept]
        return cls(kept, [*names, *ours], labels)


def _line(layout: _Layout, row: _Row, outcome: Scored | None) -> list[Any]:
    cells: list[Any] = [row.cells[place] for place in layout.kept]
    fields: dict[str, Any] = {"error": row.placed.error} if outcome is None else outcome.as_dict(row.placed.warning)
    probabilities = fields.get("probabilities", {})
    shares = [probabilities.get(label, "") for label in layout.labels]
    return [*cells, fields.get("label", ""), *shares, fields.get("error", ""), fields.get("warning", "")]


async def _patiently(batcher: Batcher, request: PendingRequest, receive: Receive) -> Sequence[Scored]:
    while True:
        try:
            return await score(batcher, request, receive)
        except ApiError:
            await asyncio.sleep(_RETRY_SECONDS)


def _text(lines: Sequence[Sequence[Any]], delimiter: str) -> bytes:
    target = io.StringIO(newline="")
    csv.writer(target, delimiter=delimiter).writerows(lines)
    return target.getvalue().encode()
