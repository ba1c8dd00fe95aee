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

from pssa.aspects.find import FoundAspect, Place, find_at
from pssa.aspects.sentences import split_sentences
from pssa.data.fields import find_aspect_doubt
from pssa.data.rows import Row
from pssa.errors import InputError
from pssa.runs.answers import Question
from pssa.runs.asked_rows import RejectedRow, parse_row
from pssa.serve.batcher import AskedAspect, Batcher, PendingRequest, Result
from pssa.serve.errors import RETRY, ApiError
from pssa.serve.middleware import overloaded
from pssa.serve.schemas import Item, Offsets

_MAX_INLINE_CHARACTERS = 20_000  # that are split into words on the event loop; more go to a thread
_MAX_FOUND_CHARACTERS = 1500  # of sentences that are read together for their aspects: about a twentieth of a second

ReturnT = TypeVar("ReturnT")
# What is to be scored, or already a result: an error, or an aspect that was found and labelled in one pass.
ParsedRow = AskedAspect | Result


@dataclass(frozen=True)
class ItemRows:
    """What is to be scored of an item."""

    rows: list[ParsedRow]
    left_out: int = 0  # aspects that were found beyond the limit


def choose_saliency(batcher: Batcher, body: Any) -> str:
    """Return the saliency of a request, by default the usual one of its run.

    :raises ApiError: 422 if it does not suit the model of the run.
    """
    usable = batcher.runs[body.run].classifier.saliencies
    saliency = str(body.saliency or usable[0])
    if saliency not in usable:
        message = f"run {body.run!r} has no saliency {saliency!r}; choose one of {', '.join(usable)}"
        raise ApiError(422, "no_such_saliency", message)
    return saliency


async def score_items(batcher: Batcher, items: Sequence[Item], run: str, saliency: str | None = None) -> Response:
    """Return the response: a label for each aspect and, with a saliency, the share of every word.

    :raises ApiError: 422 if an item has no aspects and there is no tagger; 503 if the queue is full.
    """
    # The rows of each item are those of the aspects that it names or, if it names none, of those that are found.
    work = sum(len(item.text) * len(item.aspects or ()) for item in items)
    located = (
        ItemRows([find_aspect(item.text, aspect) for aspect in item.aspects])
        for item in items
        if item.aspects is not None
    )
    named = located if work <= _MAX_INLINE_CHARACTERS else iter(await batcher.turns.collect(located))
    found = iter(await find_aspects(batcher, [item.text for item in items if item.aspects is None], run, saliency))
    parsed = [next(found if item.aspects is None else named) for item in items]
    rows = [row for each in parsed for row in each.rows]
    if saliency is not None:
        most = batcher.limits.max_words(saliency)
        for place, row in enumerate(rows):
            if isinstance(row, AskedAspect) and row.n_words > most:
                reason = f"the text has {row.n_words} words, {saliency} explains at most {most}; give a shorter text"
                rows[place] = {"error": reason}
    results = iter(await score_rows(batcher, rows, run, saliency))
    written = [
        {"aspects": [next(results) for _ in each.rows], **({"left_out": each.left_out} if each.left_out else {})}
        for each in parsed
    ]
    content = json.dumps({"items": written}, ensure_ascii=False, allow_nan=False)
    return Response(content, media_type="application/json")


async def find_aspects(
    batcher: Batcher, texts: Sequence[str], run: str, saliency: str | None = None, is_table: bool = False
) -> list[ItemRows]:
    """Return the rows of each text, one for each aspect that the run or the service's tagger finds in it.

    :raises ApiError: 422 if there is no tagger.
    """
    if not texts:
        return []
    most = batcher.limits.aspects
    if batcher.runs[run].finds_itself:
        # Marks are positions too, and some texts have more of them than words.
        lengths = [len(text.split()) + sum(map(text.count, ".,;:!?'\"()-")) for text in texts]
        asked = [AskedAspect(Question(text), length) for text, length in zip(texts, lengths, strict=True)]
        results = await wait_for_results(batcher, PendingRequest(asked, run, saliency, is_table))
        inside = [result.get("found", [result]) for result in results]
        return [ItemRows(rows[:most], max(0, len(rows) - most)) for rows in inside]
    finder = batcher.finder
    if finder is None:
        advice = "name the aspects of each item, or start the service with --aspects-from DIR"
        message = f"an item has no aspects, and the service has no tagger to find some; {advice}"
        raise ApiError(422, "no_tagger", message)
    found: list[list[FoundAspect]] = [[] for _ in texts]
    search = (list(find_at(finder, texts, places)) for places in _portions(texts))
    for portion in await batcher.turns.collect(search):
        for number, aspect in portion:
            found[number].append(aspect)
    asked_of = (
        [AskedAspect.of(Question(text, ((each.start, each.end),))) for each in each_found[:most]]
        for text, each_found in zip(texts, found, strict=True)
    )
    rows_of = await batcher.turns.collect(asked_of)
    return [ItemRows([*rows], len(each) - len(rows)) for rows, each in zip(rows_of, found, strict=True)]


def _portions(texts: Sequence[str]) -> Iterator[list[Place]]:
    """Yield the sentences of the texts, as many together as are soon read."""
    portion: list[Place] = []
    n_characters = 0
    for row, text in enumerate(texts):
        for start, end in split_sentences(text):
            if portion and n_characters + end - start > _MAX_FOUND_CHARACTERS:
                yield portion
                portion, n_characters = [], 0
            portion.append((row, start, end))
            n_characters += end - start
    if portion:
        yield portion


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
        return {"error": "the text is blank; expected a sentence"}
    if isinstance(aspect, Offsets):
        return parse_with_doubt(Row(0, {"text": text, "from": aspect.start, "to": aspect.end}))
    if not aspect.strip():
        return {"error": "the aspect is blank; expected words of the text, or `from` and `to`"}
    return parse_with_doubt(Row(0, {"text": text, "aspect": aspect}))


def parse_with_doubt(row: Row) -> ParsedRow:
    """Find the aspect of a row, with a warning if it is only inside a word."""
    parsed = parse_row(row)
    try:
        if isinstance(parsed, RejectedRow):
            raise InputError(parsed.reason)
        question = parsed.question
        doubt = find_aspect_doubt(row.fields, question.text, (question.aspects or ((0, 0),))[0])
        return AskedAspect.of(question, (*parsed.warnings, *([doubt] if doubt else [])))
    except InputError as error:
        return {"error": str(error)}  # with the names of its settings as in Python


async def score_rows(
    batcher: Batcher, rows: Sequence[ParsedRow], run: str, saliency: str | None = None, is_table: bool = False
) -> list[Result]:
    """Return the result of each row.

    :param is_table: whether they are part of a table, which leaves half of the queue to other requests.
    """
    aspects = [row for row in rows if isinstance(row, AskedAspect)]
    results = iter(await wait_for_results(batcher, PendingRequest(aspects, run, saliency, is_table)))
    return [next(results) if isinstance(row, AskedAspect) else row for row in rows]
