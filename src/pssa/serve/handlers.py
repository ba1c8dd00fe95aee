"""Request handlers: find the aspects of a request in their texts, have them scored, and write the response."""

from __future__ import annotations

import asyncio
import codecs
import csv
import io
import json
import queue
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from fastapi import Response
from starlette.requests import ClientDisconnect
from starlette.types import Receive

from pssa.aspects.sentences import split_sentences
from pssa.bulk.output_format import OutputFormat
from pssa.bulk.rows import RejectedRow, ScorableRow, parse_row
from pssa.data.fields import find_aspect_doubt, has_aspect
from pssa.data.formats.csv import CsvHeader, RecordLines
from pssa.data.rows import Columns, Row
from pssa.data.validation import format_error
from pssa.errors import InputError
from pssa.serve.batcher import Batcher, PendingRequest, Result
from pssa.serve.errors import RETRY, ApiError
from pssa.serve.limits import Limits
from pssa.serve.middleware import overloaded
from pssa.serve.schemas import ExplainRequest, Item, Offsets, PredictRequest
from pssa.serve.text_finder import in_sentence

_MAX_INLINE_CHARACTERS = 20_000  # that are split into words on the event loop; more go to a thread
_WINDOW = 256  # rows of a table that are scored together
_TABLE = "the table"  # how errors call it
_RETRY_SECONDS = 0.05
_NOTHING_FOUND = "no aspect was found in the text"
_MAX_RECORD = 1 << 18  # characters of a row of a table
# Columns of a scored table after its own ones, and what they hold if a result has no such field.
_SCORED_COLUMNS: dict[str, Any] = {"label": "", "probabilities": {}, "error": "", "warning": ""}

ReturnT = TypeVar("ReturnT")
ParsedRow = ScorableRow | RejectedRow


def choose_saliency(batcher: Batcher, body: ExplainRequest) -> str:
    """Return the saliency of a request, by default the usual one of its run.

    :raises ApiError: 422 if it does not suit the model of the run.
    """
    usable = batcher.runs[body.run].saliencies
    saliency = body.saliency or usable[0]
    if saliency not in usable:
        message = f"run {body.run!r} has no saliency {saliency!r}; choose one of {', '.join(usable)}"
        raise ApiError(422, "no_such_saliency", message)
    return saliency


async def score_items(batcher: Batcher, body: PredictRequest, saliency: str | None, receive: Receive) -> Response:
    """Return the response: a label for each aspect and, with a saliency, the share of every word.

    :raises ApiError: 422 if an item has no aspects and there is no tagger; 503 if it takes too long.
    """
    return await attend(_score_items(batcher, body, saliency), receive, batcher.limits.request_seconds)


async def _score_items(batcher: Batcher, body: PredictRequest, saliency: str | None) -> Response:
    items = await _rows_of_items(batcher, body)
    if saliency is not None:
        most = batcher.limits.max_words(saliency)
        # Of a longer text a model reads a window, and explains no other words.
        if batcher.runs[body.run].classifier.featurizer.max_positions > most:
            items = [replace(item, rows=[_explainable(row, saliency, most) for row in item.rows]) for item in items]
    rows = [row for item in items for row in item.rows]
    results = iter(await _score_rows(batcher, rows, body.run, saliency))
    written = [
        {"aspects": [next(results) for _ in item.rows], **({"left_out": item.left_out} if item.left_out else {})}
        for item in items
    ]
    content = json.dumps({"items": written}, ensure_ascii=False, allow_nan=False)
    return Response(content, media_type="application/json")


@dataclass(frozen=True)
class ItemRows:
    """What is to be scored of an item."""

    rows: list[ParsedRow]
    left_out: int = 0  # aspects that were found beyond the limit


async def _rows_of_items(batcher: Batcher, body: PredictRequest) -> list[ItemRows]:
    """Return the rows of each item: of the aspects that it names or, if it names none, of those that are found."""
    named = [item for item in body.items if item.aspects is not None]
    work = sum(len(item.text) * len(item.aspects or ()) for item in named)
    located = (_locate_aspects(item, body.split_sentences) for item in named)
    given = located if work <= _MAX_INLINE_CHARACTERS else iter(await batcher.parser.collect(located))
    found = iter(await _find_aspects(batcher, [item.text for item in body.items if item.aspects is None]))
    return [next(found if item.aspects is None else given) for item in body.items]


async def _find_aspects(batcher: Batcher, texts: Sequence[str]) -> list[ItemRows]:
    if not texts:
        return []
    if batcher.finder is None:
        advice = "name the aspects of each item, or start the service with --aspects-from DIR"
        message = f"an item has no aspects, and the service has no tagger to find some; {advice}"
        raise ApiError(422, "no_tagger", message)
    return [ItemRows(rows, left_out) for rows, left_out in await batcher.finder.find(texts)]


async def wait_for_results(batcher: Batcher, request: PendingRequest) -> list[Result]:
    """Have a request scored and return its results; what is left of a request that is cancelled is dropped.

    :raises ApiError: 503 if the queue is full.
    """
    try:
        batcher.submit(request)
    except queue.Full:
        raise overloaded(batcher) from None
    try:
        return await asyncio.wrap_future(request.future)
    finally:
        batcher.withdraw(request)


async def attend(work: Coroutine[Any, Any, ReturnT], receive: Receive, seconds: float) -> ReturnT:
    """Return what a coroutine returns; it is cancelled if the client leaves or the time is over.

    :raises ApiError: 503 if it takes too long.
    :raises ClientDisconnect: if the client leaves.
    """
    done = asyncio.ensure_future(work)
    disconnected = asyncio.ensure_future(_wait_for_disconnect(receive))
    try:
        await asyncio.wait((done, disconnected), return_when=asyncio.FIRST_COMPLETED, timeout=seconds)
        if done.done():
            return done.result()
        if disconnected.done():
            raise ClientDisconnect
        raise ApiError(503, "too_long", f"not scored within {seconds} seconds; send fewer or shorter texts", RETRY)
    finally:
        disconnected.cancel()
        done.cancel()


def find_aspect(text: str, aspect: str | Offsets) -> ParsedRow:
    """Find an aspect in its text; of one that occurs twice, the first occurrence."""
    if not text.strip():
        return RejectedRow(None, "the text is blank; expected a sentence")
    if isinstance(aspect, Offsets):
        return _parse_row(Row(0, {"text": text, "from": aspect.start, "to": aspect.end}))
    if not aspect.strip():
        return RejectedRow(None, "the aspect is blank; expected words of the text, or `from` and `to`")
    return _parse_row(Row(0, {"text": text, "aspect": aspect}))


def _parse_row(row: Row) -> ParsedRow:
    """Find the aspect of a row, with a warning if it is only inside a word."""
    parsed = parse_row(row)
    if isinstance(parsed, RejectedRow):
        return parsed
    doubt = find_aspect_doubt(row.fields, parsed.example)
    return replace(parsed, warnings=(*parsed.warnings, doubt)) if doubt else parsed


def _locate_aspects(item: Item, split: bool) -> ItemRows:
    """Return the aspects that an item names; with `split` in the sentence of each, and not in the whole text."""
    rows = [find_aspect(item.text, aspect) for aspect in item.aspects or ()]
    if split:
        sentences = split_sentences(item.text)
        rows = [in_sentence(row, sentences) for row in rows]
    return ItemRows(rows)


def _explainable(row: ParsedRow, saliency: str, most: int) -> ParsedRow:
    """Return the row, or an error if its text has more words than the saliency can explain."""
    if isinstance(row, RejectedRow) or len(row.example.spans) <= most:
        return row
    n_words = len(row.example.spans)
    return RejectedRow(None, f"the text has {n_words} words, {saliency} explains at most {most}; give a shorter text")


async def _score_rows(batcher: Batcher, rows: Sequence[ParsedRow], run: str, saliency: str | None) -> list[Result]:
    """Return the result of each row; a rejected one has an error."""
    examples = [row.example for row in rows if isinstance(row, ScorableRow)]
    results = iter(await wait_for_results(batcher, PendingRequest(examples, run, saliency)))
    return [_result(row, results) for row in rows]


def _result(row: ParsedRow, results: Iterator[Result]) -> Result:
    if isinstance(row, RejectedRow):
        return {"error": str(InputError(row.reason))}  # with the names of its settings as in Python
    result = _shifted(next(results), row.offset)
    if not row.warnings or "error" in result:
        return result
    return result | {"warning": "; ".join(filter(None, (*row.warnings, result.get("warning"))))}


def _shifted(result: Result, offset: int) -> Result:
    """Return a result about a sentence with the offsets of the text that the sentence is in."""
    if not offset or "error" in result:
        return result
    moved = result | {name: result[name] + offset for name in ("from", "to")}
    if "words" in result:
        words = [{**word, "from": word["from"] + offset, "to": word["to"] + offset} for word in result["words"]]
        moved["words"] = words
    return moved


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


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

    def rows(self) -> Iterator[tuple[list[str], ParsedRow | str]]:
        """Yield the cells of each record, as many as there are columns, and what was parsed from them: a row, or the text in
        which its aspects are to be found.

        A table ends early, with an error, if it would grow out of proportion because its records lack cells.
        """
        # strict: a stray quote is an error of its record instead of a silent change of the text.
        lines = RecordLines(self.records, _MAX_RECORD)
        reader = csv.reader(lines, delimiter=self.header.delimiter, strict=True)
        blank, n_missing = [""] * len(self.names), 0
        while n_missing <= self.n_bytes:
            line = self.header.line + reader.line_num + 1
            lines.begin_record()
            try:
                record = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield blank, RejectedRow(line, f"line {line} is not valid CSV ({error})")
                n_missing += len(blank)
                continue
            if record:
                yield [*record, *blank][: len(blank)], self._parse(line, record)
                n_missing += max(0, len(blank) - len(record))
        yield blank, RejectedRow(line, "too many rows have too few cells; the rest of the table is left out")

    def _parse(self, line: int, record: list[str]) -> ParsedRow | str:
        if len(record) != len(self.names):
            return RejectedRow(line, f"has {len(record)} cells, the header {len(self.names)}")
        most = self.limits.characters
        if any(len(cell) > most for cell in record):
            return RejectedRow(line, f"a cell has more than {most} characters")
        row = self.columns.row(line, dict(zip(self.names, record, strict=True)))
        is_raw = self.columns.text_only and not has_aspect(row.fields)
        return str(row.fields["text"]) if is_raw else _parse_row(row)


async def score_table(
    batcher: Batcher, table: CsvTable, run: str, receive: Receive, escape_formulas: bool = False
) -> AsyncIterator[bytes]:
    """Yield the scored table, a window of rows at a time; windows after the first wait if the queue is full.

    :raises ApiError: before the first window, 503 if the queue is full, or the window takes too long.
    """
    labels = batcher.runs[run].classifier.labels
    output = OutputFormat("csv", "", labels, table.header.delimiter, escape_formulas)
    kept, found = _kept_columns(table.header.written), table.found_columns
    columns = (*dict.fromkeys((*kept.values(), *found)), *_SCORED_COLUMNS)
    content = output.header(columns)
    rows, is_first = table.rows(), True
    # A text becomes as many rows as it has aspects, all of which must fit into the queue.
    n_rows = min(_WINDOW, batcher.limits.queue) // (batcher.limits.aspects if found else 1)
    while read := await batcher.parser.collect(islice(rows, n_rows)):
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


def _kept_columns(header: Sequence[str]) -> dict[int, str]:
    """Return the columns that stay, by place; a label becomes `gold`, unless it is the result of an earlier scoring."""
    names = [name.strip().lower() for name in header]
    replaced = _SCORED_COLUMNS.keys() - (set() if "gold" in names else {"label"})
    kept = [(place, name) for place, name in enumerate(names) if name not in replaced]
    return {place: "gold" if name == "label" else header[place] for place, name in kept}


@dataclass(frozen=True)
class _TableRow:
    """A row of a scored table."""

    cells: list[str]
    row: ParsedRow | None  # None: no aspect was found
    is_found: bool = False  # whether its aspect was looked for


async def _find_in_window(batcher: Batcher, window: Sequence[tuple[list[str], ParsedRow | str]]) -> list[_TableRow]:
    """Return a row for each aspect; a text in which none is found has one row, without an aspect."""
    found = iter(await _find_aspects(batcher, [row for _, row in window if isinstance(row, str)]))
    rows: list[_TableRow] = []
    for cells, row in window:
        if not isinstance(row, str):
            rows.append(_TableRow(cells, row))
            continue
        inside = next(found)
        rows.extend(_TableRow(cells, each, is_found=True) for each in inside.rows or (None,))
        if inside.left_out:
            lost = RejectedRow(None, f"{inside.left_out} more aspects of the text are left out")
            rows.append(_TableRow(cells, lost, is_found=True))
    return rows


async def _score_window(
    batcher: Batcher, receive: Receive, read: Sequence[tuple[list[str], ParsedRow | str]], run: str, is_first: bool
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
        window = await attempt(partial(_find_in_window, batcher, read))
        parsed = [each.row for each in window if each.row is not None]
        scored = iter(await attempt(partial(_score_rows, batcher, parsed, run, None)))
    except ApiError as error:
        if is_first:
            raise
        return [(_TableRow(cells, None), {"error": str(error)}) for cells, _ in read]
    return [(each, {"warning": _NOTHING_FOUND} if each.row is None else next(scored)) for each in window]
