"""Request handlers: find the aspects of a request in their texts, have them scored, and write the response."""

from __future__ import annotations

import asyncio
import json
import queue
from collections.abc import Coroutine, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from fastapi import Response
from starlette.requests import ClientDisconnect
from starlette.types import Receive

from pssa.aspects.find import Finder, FoundAspect, Place, find_at
from pssa.aspects.sentences import split_sentences
from pssa.data.fields import find_aspect_doubt
from pssa.data.rows import Row
from pssa.errors import InputError
from pssa.runs.answers import Question
from pssa.runs.asked_rows import RejectedRow, parse_row
from pssa.serve.batcher import AskedAspect, Batcher, PendingRequest, Result
from pssa.serve.errors import RETRY, ApiError
from pssa.serve.middleware import overloaded
from pssa.serve.schemas import ExplainRequest, ExplainText, Offsets, PredictRequest, PredictText

_MAX_INLINE_CHARACTERS = 20_000  # that are split into words on the event loop; more go to a thread
_MAX_FOUND_CHARACTERS = 1500  # of sentences that are read together for their aspects: about a twentieth of a second

ReturnT = TypeVar("ReturnT")


ParsedRow = AskedAspect | Result | RejectedRow  # a result is that of an aspect that was found and labelled in one pass


def choose_saliency(batcher: Batcher, body: ExplainRequest | ExplainText) -> str:
    """Return the saliency of a request, by default the usual one of its run.

    :raises ApiError: 422 if it does not suit the model of the run.
    """
    usable = batcher.runs[body.run].saliencies
    saliency = body.saliency or usable[0]
    if saliency not in usable:
        message = f"run {body.run!r} has no saliency {saliency!r}; choose one of {', '.join(usable)}"
        raise ApiError(422, "no_such_saliency", message)
    return saliency


async def score_items(
    batcher: Batcher, body: PredictRequest | PredictText, saliency: str | None, receive: Receive
) -> Response:
    """Return the response: a label for each aspect and, with a saliency, the share of every word.

    :raises ApiError: 422 if an item has no aspects and there is no tagger; 503 if it takes too long.
    """
    return await attend(_score_items(batcher, body, saliency), receive, batcher.limits.request_seconds)


async def _score_items(batcher: Batcher, body: PredictRequest | PredictText, saliency: str | None) -> Response:
    # The rows of each item are those of the aspects that it names or, if it names none, of those that are found.
    named = [item for item in body.items if item.aspects is not None]
    work = sum(len(item.text) * len(item.aspects or ()) for item in named)
    located = (ItemRows([find_aspect(item.text, aspect) for aspect in item.aspects or ()]) for item in named)
    given = located if work <= _MAX_INLINE_CHARACTERS else iter(await batcher.turns.collect(located))
    raw = [item.text for item in body.items if item.aspects is None]
    found = iter(await find_aspects(batcher, raw, body.run, saliency))
    items = [next(found if item.aspects is None else given) for item in body.items]
    rows = [row for item in items for row in item.rows]
    if saliency is not None:
        most = batcher.limits.max_words(saliency)
        for place, row in enumerate(rows):
            if isinstance(row, AskedAspect) and row.n_words > most:
                reason = f"the text has {row.n_words} words, {saliency} explains at most {most}; give a shorter text"
                rows[place] = RejectedRow(None, reason)
    results = iter(await score_rows(batcher, rows, body.run, saliency))
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


async def find_aspects(
    batcher: Batcher, texts: Sequence[str], run: str, saliency: str | None = None, is_table: bool = False
) -> list[ItemRows]:
    """Return the rows of each text, one for each aspect that the run or the service's tagger finds in it.

    :raises ApiError: 422 if there is no tagger.
    """
    if not texts:
        return []
    most = batcher.limits.aspects
    if batcher.finds_itself(run):
        # Marks are positions too, and some texts have more of them than words.
        lengths = [len(text.split()) + sum(map(text.count, ".,;:!?'\"()-")) for text in texts]
        asked = [AskedAspect(Question(text), length) for text, length in zip(texts, lengths, strict=True)]
        results = await wait_for_results(batcher, PendingRequest(asked, run, saliency, is_table))
        return [
            ItemRows([RejectedRow(None, result["error"])])
            if "error" in result
            else ItemRows(result["found"][:most], max(0, len(result["found"]) - most))
            for result in results
        ]
    if batcher.finder is None:
        advice = "name the aspects of each item, or start the service with --aspects-from DIR"
        message = f"an item has no aspects, and the service has no tagger to find some; {advice}"
        raise ApiError(422, "no_tagger", message)
    search = _search(batcher.finder, texts, most)
    return [rows for rows in await batcher.turns.collect(search) if rows is not None]


def _search(finder: Finder, texts: Sequence[str], most: int) -> Iterator[ItemRows | None]:
    """Yield None where others may have their turn, and in the end the rows of each text, at most `most`."""
    found: list[list[FoundAspect]] = [[] for _ in texts]
    portion: list[Place] = []
    n_characters = 0
    for row, text in enumerate(texts):
        for start, end in split_sentences(text):
            if portion and n_characters + end - start > _MAX_FOUND_CHARACTERS:
                for place, aspect in find_at(finder, texts, portion):
                    found[place].append(aspect)
                yield None
                portion, n_characters = [], 0
            portion.append((row, start, end))
            n_characters += end - start
    for place, aspect in find_at(finder, texts, portion) if portion else ():
        found[place].append(aspect)
    for row, inside in enumerate(found):
        first = inside[:most]
        rows: list[ParsedRow] = [AskedAspect.of(Question(texts[row], ((each.start, each.end),))) for each in first]
        yield ItemRows(rows, len(inside) - len(first))


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

    async def wait_for_disconnect() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    done = asyncio.ensure_future(work)
    disconnected = asyncio.ensure_future(wait_for_disconnect())
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
        return parse_with_doubt(Row(0, {"text": text, "from": aspect.start, "to": aspect.end}))
    if not aspect.strip():
        return RejectedRow(None, "the aspect is blank; expected words of the text, or `from` and `to`")
    return parse_with_doubt(Row(0, {"text": text, "aspect": aspect}))


def parse_with_doubt(row: Row) -> ParsedRow:
    """Find the aspect of a row, with a warning if it is only inside a word."""
    parsed = parse_row(row)
    if isinstance(parsed, RejectedRow):
        return parsed
    question = parsed.question
    doubt = find_aspect_doubt(row.fields, question.text, (question.aspects or ((0, 0),))[0])
    try:
        return AskedAspect.of(question, (*parsed.warnings, *([doubt] if doubt else [])))
    except InputError as error:
        return RejectedRow(row.line, error.message, row.given)


async def score_rows(
    batcher: Batcher, rows: Sequence[ParsedRow], run: str, saliency: str | None = None, is_table: bool = False
) -> list[Result]:
    """Return the result of each row; a rejected one has an error.

    :param is_table: whether they are part of a table, which leaves half of the queue to other requests.
    """
    aspects = [row for row in rows if isinstance(row, AskedAspect)]
    results = iter(await wait_for_results(batcher, PendingRequest(aspects, run, saliency, is_table)))
    answered: list[Result] = []
    for row in rows:
        if isinstance(row, RejectedRow):
            answered.append({"error": str(InputError(row.reason))})  # with the names of its settings as in Python
        elif isinstance(row, dict):
            answered.append(row)
        else:
            result = next(results)
            if row.warnings and "error" not in result:
                result = result | {"warning": "; ".join(filter(None, (*row.warnings, result.get("warning"))))}
            answered.append(result)
    return answered
