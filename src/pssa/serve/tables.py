"""Tables: the rows of a CSV in, the same rows with labels out, a window at a time."""

from __future__ import annotations

import asyncio
import codecs
import io
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

from starlette.types import Receive

from pssa.data.fields import has_aspect
from pssa.data.formats.csv import CsvHeader, read_records
from pssa.data.rows import Columns, Problem
from pssa.data.validation import format_error
from pssa.errors import InputError
from pssa.predict.output_format import OutputFormat
from pssa.predict.source import CsvStyle
from pssa.serve.batcher import Batcher, Result
from pssa.serve.errors import ApiError
from pssa.serve.handlers import ParsedRow, ReturnT, attend, find_aspects, parse_with_doubt, score_rows
from pssa.serve.limits import Limits

_WINDOW = 256  # rows of a table that are scored together
_TABLE = "the table"  # how errors call it
_RETRY_SECONDS = 0.05
_MAX_RECORD = 1 << 18  # characters of a row of a table
# Columns of a scored table after its own ones, and what they hold if a result has no such field.
_SCORED_COLUMNS: dict[str, Any] = {"label": "", "probabilities": {}, "error": "", "warning": ""}

# The cells of a row, and what was parsed from them: a row, or the text in which its aspects are to be found.
_ReadRow = tuple[list[str], ParsedRow | str]


@dataclass(frozen=True)
class CsvTable:
    """A CSV to score: its header, and its records that are not read yet."""

    header: CsvHeader
    names: list[str]  # of its columns, without space around them
    columns: Columns  # which of them is which field
    records: io.StringIO
    limits: Limits
    n_bytes: int  # of the body

    @classmethod
    def read(cls, body: bytes, limits: Limits, columns: str = "", finds: bool = False) -> CsvTable:
        """Read the header of the table in a body.

        :param columns: names of the columns, as `--columns` takes them.
        :param finds: whether aspects are found in rows that have none.
        :raises ApiError: 422 if the header lacks a column, or has too many.
        """
        # What is not UTF-8 is replaced and scored; the replacement characters show in the response.
        records = io.StringIO(body.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace"), newline="\n")
        header = CsvHeader.read(records)
        if header.content.count(header.delimiter) >= limits.columns:
            message = f"the header has more than {limits.columns} columns; send those that are needed"
            raise ApiError(422, "too_many_columns", message)
        names = header.names
        try:
            found = replace(Columns.of(columns or None), text_only=finds).spelled_by(_TABLE, names)
            if not found.suffice(names):
                given = format_error(", ".join(names) or "nothing")
                needed = "text" if finds else "text and aspect, or text, from and to"
                advice = "if they have other names, name them, as in ?columns=text=review,aspect=term"
                raise InputError(f"the header needs {needed}; found {given}; {advice}")
            found.check_header(_TABLE, names)
        except InputError as error:
            raise ApiError(422, "no_columns", str(error)) from error
        return cls(header, names, found, records, limits, len(body))

    @property
    def found_columns(self) -> dict[str, str]:
        """Columns of an aspect that is found, and its fields in a result: those of the table or, if it has none, three more."""
        if not self.columns.text_only:
            return {}
        named = dict(zip(self.columns.aspect_columns, ("aspect", "from", "to"), strict=True))
        return {column: name for column, name in named.items() if column in self.names} or named

    def rows(self) -> Iterator[_ReadRow]:
        """Yield the cells of each record, as many as there are columns, and what was parsed from them.

        A table ends early, with an error, if it would grow out of proportion because its records lack cells.
        """
        blank, n_missing = [""] * len(self.names), 0
        for found in read_records(self.records, self.header, _MAX_RECORD):
            if isinstance(found, Problem):
                n_missing += len(blank)
                rest = "; the rest is left out" if found.last else ""
                yield blank, {"error": f"line {found.line} {found.message}{rest}"}
            else:
                line, record, _ = found
                n_missing += max(0, len(blank) - len(record))
                yield [*record, *blank][: len(blank)], self._parse(line, record)
            if n_missing > self.n_bytes:
                yield blank, {"error": "too many rows have too few cells; the rest of the table is left out"}
                return

    def _parse(self, line: int, record: list[str]) -> ParsedRow | str:
        if len(record) != len(self.names):
            return {"error": f"has {len(record)} cells, the header {len(self.names)}"}
        most = self.limits.characters
        if any(len(cell) > most for cell in record):
            return {"error": f"a cell has more than {most} characters"}
        row = self.columns.row(line, dict(zip(self.names, record, strict=True)))
        is_raw = self.columns.text_only and not has_aspect(row.fields)
        return str(row.fields["text"]) if is_raw else parse_with_doubt(row)


async def score_table(
    batcher: Batcher, table: CsvTable, run: str, receive: Receive, escape_formulas: bool = False
) -> AsyncIterator[bytes]:
    """Yield the scored table, a window of rows at a time; windows after the first wait if the queue is full.

    :raises ApiError: before the first window, 503 if the queue is full, or the window takes too long.
    """
    labels = batcher.runs[run].classifier.labels
    output = OutputFormat("csv", "", labels, CsvStyle(table.header.delimiter), escape_formulas)
    found = table.found_columns
    # All columns but those of an earlier scoring stay; a label becomes `gold`, unless it is the result of one.
    names = [name.strip().lower() for name in table.header.written]
    replaced = _SCORED_COLUMNS.keys() - (set() if "gold" in names else {"label"})
    kept = {
        place: "gold" if name == "label" else table.header.written[place]
        for place, name in enumerate(names)
        if name not in replaced
    }
    columns = (*dict.fromkeys((*kept.values(), *found)), *_SCORED_COLUMNS)
    content = output.header(columns)
    rows, is_first = table.rows(), True
    # A text becomes as many rows as it has aspects, all of which should fit into half of the queue.
    n_rows = max(1, min(_WINDOW, batcher.limits.queue // 2) // (batcher.limits.aspects if found else 1))
    while read := await batcher.turns.collect(islice(rows, n_rows)):
        written = [
            {name: each.cells[place] for place, name in kept.items()}
            | ({column: result.get(name, "") for column, name in found.items()} if each.is_found else {})
            | {name: result.get(name, empty) for name, empty in _SCORED_COLUMNS.items()}
            for each, result in await _score_window(batcher, receive, read, run, is_first)
        ]
        yield content + output.encode(written, columns)
        content, is_first = b"", False
    if is_first:
        yield content


@dataclass(frozen=True)
class _TableRow:
    """A row of a scored table."""

    cells: list[str]
    row: ParsedRow
    is_found: bool = False  # whether its aspect was looked for


async def _find_in_window(batcher: Batcher, window: Sequence[_ReadRow], run: str) -> list[_TableRow]:
    """Return a row for each aspect; a text in which none is found has one row, without an aspect."""
    found = iter(await find_aspects(batcher, [row for _, row in window if isinstance(row, str)], run, is_table=True))
    rows: list[_TableRow] = []
    for cells, row in window:
        if not isinstance(row, str):
            rows.append(_TableRow(cells, row))
            continue
        inside = next(found)
        of_text = inside.rows or [{"warning": "no aspect was found in the text"}]
        if inside.left_out:
            of_text = [*of_text, {"error": f"{inside.left_out} more aspects of the text are left out"}]
        rows += [_TableRow(cells, each, is_found=True) for each in of_text]
    return rows


async def _score_window(
    batcher: Batcher, receive: Receive, window: Sequence[_ReadRow], run: str, is_first: bool
) -> list[tuple[_TableRow, Result]]:
    """Return the rows of a window with their results.

    Where the service is busy, the first window is refused, and others wait. If one of these takes too long, each of its rows
    has an error.
    """

    async def attempt(work: Callable[[], Coroutine[Any, Any, ReturnT]]) -> ReturnT:
        while True:
            try:
                return await attend(work(), receive, batcher.limits.request_seconds)
            except ApiError as error:
                if is_first or error.code != "overloaded":
                    raise
                await asyncio.sleep(_RETRY_SECONDS)

    try:
        rows = await attempt(partial(_find_in_window, batcher, window, run))
        parsed = [each.row for each in rows]
        return [*zip(rows, await attempt(partial(score_rows, batcher, parsed, run, is_table=True)), strict=True)]
    except ApiError as error:
        if is_first:
            raise
        failed: Result = {"error": str(error)}
        return [(_TableRow(cells, failed), failed) for cells, _ in window]
