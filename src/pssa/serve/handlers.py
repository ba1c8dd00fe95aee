"""From a request to the batcher and back: bodies to checked values, aspects to outcomes, while somebody waits for them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, ValidationError
from starlette.types import Receive

from pssa.serve.aspect_lookup import Placed, explainable, place_items
from pssa.serve.batcher import Batcher, Order, QueueFull
from pssa.serve.body import ClientGone, media_type_of
from pssa.serve.errors import ApiError, unusable
from pssa.serve.limits import Limits
from pssa.serve.middleware import overloaded
from pssa.serve.schemas import ExplainRequest, Item, PredictRequest
from pssa.serve.scoring import Scored

__all__ = ["answer_items", "ask", "body_of", "check_run", "parse", "saliency_of"]

_Model = TypeVar("_Model", bound=BaseModel)
_QUICK = 20_000  # characters that are cut into words without leaving the event loop


async def body_of(request: Request, media_type: str) -> bytes:
    """The body, if it is what it should be.

    :raises Refusal: 415 if not.
    """
    if media_type_of(request.headers) != media_type:
        given = request.headers.get("content-type", "")[:100]
        raise ApiError(
            415, "wrong_type", f"the body is said to be {given!r}; expected {media_type} in UTF-8, not packed"
        )
    return await request.body()


def parse(kind: type[_Model], body: bytes) -> _Model:
    """The value that a JSON body holds.

    :raises Refusal: 400 if it is no JSON, 422 if it breaks the schema.
    """
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False, include_input=False)
    if faults[0]["type"] == "json_invalid":
        raise ApiError(400, "bad_json", faults[0]["msg"])
    raise unusable(faults)


def check_run(batcher: Batcher, run: str) -> None:
    """Refuse a run that is not served."""
    if run not in batcher.runs:
        raise ApiError(422, "no_such_run", f"there is no run {run!r}; the service was started without --versus")


def saliency_of(batcher: Batcher, asked: ExplainRequest) -> str:
    """The saliency that is asked for.

    :raises Refusal: 422 if it says nothing about the run's model.
    """
    check_run(batcher, asked.run)
    usable = batcher.runs[asked.run].saliencies
    if "saliency" not in asked.model_fields_set:
        return usable[0]
    if asked.saliency not in usable:
        given = asked.saliency[:100]
        raise ApiError(
            422, "no_such_saliency", f"saliency {given!r} cannot be asked for; it can be {', '.join(usable)}"
        )
    return asked.saliency


async def answer_items(batcher: Batcher, request: Request, asked: PredictRequest, saliency: str | None) -> bytes:
    """The JSON that answers a request for labels, or for explanations by a saliency."""
    check_run(batcher, asked.run)
    _check_sizes(asked.items, batcher.limits)
    work = sum(len(item.text) * len(item.aspects) for item in asked.items)
    sheet = place_items(asked.items) if work <= _QUICK else await run_in_threadpool(place_items, asked.items)
    if saliency is not None:
        sheet = [[explainable(placed, saliency, batcher.limits) for placed in row] for row in sheet]
    order = Order(tuple(p.example for row in sheet for p in row if p.example is not None), asked.run, saliency)
    outcomes = iter(await ask(batcher, order, request.receive))
    items = [{"aspects": [_fields(placed, outcomes) for placed in row]} for row in sheet]
    return json.dumps({"items": items}, ensure_ascii=False, allow_nan=False).encode()


async def ask(batcher: Batcher, order: Order, receive: Receive) -> Sequence[Scored]:
    """The outcomes of an order.

    :raises Refusal: 503 if the queue is full.
    :raises ClientGone: if the client leaves; what is left of the order is dropped.
    """
    try:
        ticket = batcher.submit(order)
    except QueueFull:
        raise overloaded(batcher) from None
    answered = asyncio.wrap_future(ticket.answered)
    gone = asyncio.ensure_future(_leaving(receive))
    try:
        either: list[asyncio.Future[Any]] = [answered, gone]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not answered.done():
            raise ClientGone
        return answered.result()
    finally:
        gone.cancel()
        batcher.withdraw(ticket)


def _check_sizes(items: Sequence[Item], limits: Limits) -> None:
    if len(items) > limits.items:
        raise ApiError(422, "too_many_items", f"{len(items)} items; at most {limits.items} are taken in one request")
    for number, item in enumerate(items):
        if len(item.aspects) > limits.aspects:
            found = f"items.{number} has {len(item.aspects)} aspects"
            raise ApiError(422, "too_many_aspects", f"{found}; at most {limits.aspects} are taken")
        given = max(len(item.text), *(len(aspect) for aspect in item.aspects if isinstance(aspect, str)), 0)
        if given > limits.characters:
            found = f"items.{number} has a text or aspect of {given} characters"
            raise ApiError(422, "too_long", f"{found}; at most {limits.characters} are taken")


def _fields(placed: Placed, outcomes: Iterator[Scored]) -> dict[str, Any]:
    if placed.example is None:
        return {"error": placed.error}
    return next(outcomes).as_dict(placed.warning)


async def _leaving(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
