"""Reading a request's body within bounds of size and time, before anything else looks at it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from starlette.datastructures import Headers
from starlette.types import Message, Receive

from pssa.serve.errors import ApiError

__all__ = ["ClientGone", "announced_size", "media_type_of", "read_body", "replay"]

_PATIENCE = 2.0  # seconds for a client to finish what is not read any more, so that it sees our answer


class ClientGone(Exception):
    """Nobody waits for the answer any more."""


async def read_body(receive: Receive, headers: Headers, most: int, seconds: float) -> bytes:
    """The whole body, whether its length was announced or not.

    :raises Refusal: 413 if it has more than `most` bytes, 408 if it takes longer than this.
    :raises ClientGone: if the client leaves.
    """
    chunks, content = _chunks(receive), None
    try:
        if announced_size(headers, 0) <= most:
            async with asyncio.timeout(seconds):
                content = await _collect(chunks, most)
    except TimeoutError:
        message = f"the body did not arrive within {seconds:g} seconds; send it again"
        raise ApiError(408, "too_slow", message, {"Connection": "close"}) from None
    if content is not None:
        return content
    finished = "expect" not in headers and await _discard(chunks, 4 * most)
    message = f"the body has more than {most} bytes; send it in several requests"
    raise ApiError(413, "too_large", message, {} if finished else {"Connection": "close"})


def announced_size(headers: Headers, otherwise: int) -> int:
    """The length that the client gives its body."""
    given = headers.get("content-length", "")
    return int(given[:20]) if given.isdecimal() else otherwise


def replay(content: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the body in one piece and then waits for what comes after it."""
    given = False

    async def receive_again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": content, "more_body": False}

    return receive_again


def media_type_of(headers: Headers) -> str:
    """What the body is said to be, without parameters; empty where its text is said not to be UTF-8, or to be packed."""
    media_type, *parameters = headers.get("content-type", "").lower().split(";")
    charsets = [
        value.strip(" \"'") for name, _, value in (p.partition("=") for p in parameters) if name.strip() == "charset"
    ]
    plain = headers.get("content-encoding", "identity") == "identity"
    return media_type.strip() if plain and set(charsets) <= {"utf-8", "utf8", "us-ascii"} else ""


async def _chunks(receive: Receive) -> AsyncIterator[bytes]:
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        yield message.get("body", b"")
        more = message.get("more_body", False)


async def _collect(chunks: AsyncIterator[bytes], most: int) -> bytes | None:
    content = bytearray()
    async for chunk in chunks:
        content += chunk
        if len(content) > most:
            return None
    return bytes(content)


async def _discard(chunks: AsyncIterator[bytes], most: int) -> bool:
    """Let the client send the rest into nothing, within reason; whether it came to an end."""
    try:
        async with asyncio.timeout(_PATIENCE):
            async for chunk in chunks:
                most -= len(chunk)
                if most < 0:
                    return False
    except TimeoutError:
        return False
    return True
