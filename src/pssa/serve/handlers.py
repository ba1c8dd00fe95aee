"""Request handlers: from a validated request to the batcher, and from its results to the response."""

from __future__ import annotations

import asyncio
import json
import queue
from collections.abc import Iterator
from typing import Any

from fastapi.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.types import Receive

from pssa.serve.aspect_lookup import LocatedAspect, locate_aspects
from pssa.serve.batcher import Batcher, PendingRequest
from pssa.serve.errors import ApiError
from pssa.serve.middleware import overloaded
from pssa.serve.schemas import ExplainRequest, PredictRequest
from pssa.serve.scoring import Scored

_MAX_INLINE_CHARACTERS = 20_000  # that are split into words on the event loop; more go to a thread


async def predict_items(batcher: Batcher, body: PredictRequest, receive: Receive) -> bytes:
    """Return the JSON response with a label for each aspect."""
    return _to_json(*await _score_items(batcher, body, None, receive))


async def explain_items(batcher: Batcher, body: ExplainRequest, receive: Receive) -> bytes:
    """Return the JSON response with a label and the share of every word for each aspect.

    :raises ApiError: 422 if the saliency does not suit the model of the run.
    """
    usable = batcher.runs[body.run].saliencies
    saliency = body.saliency or usable[0]
    if saliency not in usable:
        message = f"run {body.run!r} has no saliency {saliency!r}; choose one of {', '.join(usable)}"
        raise ApiError(422, "no_such_saliency", message)
    return _to_json(*await _score_items(batcher, body, saliency, receive))


async def score(batcher: Batcher, request: PendingRequest, receive: Receive) -> list[Scored]:
    """Return the results of a request.

    :raises ApiError: 503 if the queue is full.
    :raises ClientDisconnect: if the client leaves; what is left of the request is dropped.
    """
    try:
        batcher.submit(request)
    except queue.Full:
        raise overloaded(batcher) from None
    scored = asyncio.wrap_future(request.future)
    disconnected = asyncio.ensure_future(_wait_for_disconnect(receive))
    try:
        either: list[asyncio.Future[Any]] = [scored, disconnected]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not scored.done():
            raise ClientDisconnect
        return scored.result()
    finally:
        disconnected.cancel()
        batcher.withdraw(request)


async def _score_items(
    batcher: Batcher, body: PredictRequest, saliency: str | None, receive: Receive
) -> tuple[list[list[LocatedAspect]], list[Scored]]:
    work = sum(len(item.text) * len(item.aspects) for item in body.items)
    is_quick = work <= _MAX_INLINE_CHARACTERS
    rows = locate_aspects(body.items) if is_quick else await run_in_threadpool(locate_aspects, body.items)
    if saliency is not None:
        most = batcher.limits.max_words(saliency)
        rows = [[_explainable(aspect, saliency, most) for aspect in row] for row in rows]
    examples = [aspect.example for row in rows for aspect in row if aspect.example is not None]
    return rows, await score(batcher, PendingRequest(examples, body.run, saliency), receive)


def _explainable(aspect: LocatedAspect, saliency: str, most: int) -> LocatedAspect:
    """Return the aspect, or an error if its text has more words than the saliency can explain."""
    n_words = 0 if aspect.example is None else len(aspect.example.spans)
    if n_words <= most:
        return aspect
    message = f"the text has {n_words} words, {saliency} explains at most {most}; give a shorter text"
    return LocatedAspect(None, error=message)


def _to_json(rows: list[list[LocatedAspect]], results: list[Scored]) -> bytes:
    left = iter(results)
    items = [{"aspects": [_fields(aspect, left) for aspect in row]} for row in rows]
    return json.dumps({"items": items}, ensure_ascii=False, allow_nan=False).encode()


def _fields(aspect: LocatedAspect, results: Iterator[Scored]) -> dict[str, Any]:
    return {"error": aspect.error} if aspect.example is None else next(results).as_dict(aspect.warning)


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
