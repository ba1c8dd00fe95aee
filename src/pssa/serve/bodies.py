"""Bodies of requests: read within bounds of size, speed and memory, and refused if they hold too many values.

Only bytes that have arrived take memory. If there is no more room, the body that has been arriving longest gives way: bodies
that never end cannot keep others out.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from fastapi import Request
from starlette.datastructures import Headers

from pssa.serve.errors import RETRY, ApiError
from pssa.serve.limits import Limits

_LEAST_RATE = 4096  # bytes per second that a client must send on average, after the first seconds
_FIRST_SECONDS = 5.0
_DISCARD_SECONDS = 2.0  # for a client to finish sending what is not read any more, so that it sees the response
_MAX_DISCARDED = 64 << 20  # bytes
_VALUES_PER_ITEM = 4  # times the aspects of an item: an aspect by its offsets is an object of two numbers


@dataclass(eq=False)
class _Body:
    """A body that is arriving."""

    content: bytearray = field(default_factory=bytearray)
    timeout: asyncio.Timeout | None = None  # of the task that reads it
    n_held: int = 0  # bytes that count
    has_given_way: bool = False

    def require_place(self) -> None:
        """Stop reading a body that has given way, also if a piece of it was on its way at that moment."""
        if self.has_given_way:
            raise TimeoutError


class BodyMemory:
    """The memory that bodies may take together, `most` bytes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held = 0
        self._arriving: dict[_Body, None] = {}  # the oldest first

    @asynccontextmanager
    async def read(self, request: Request, most: int, seconds: float) -> AsyncIterator[bytes]:
        """Yield the whole body, whether its length was announced or not.

        :raises ApiError: 413 if it has more than `most` bytes, 408 if it is too slow, 503 if there is no room for it.
        :raises ClientDisconnect: if the client leaves.
        """
        body = _Body()
        self._arriving[body] = None
        try:
            content = await self._receive(body, request, most, seconds)
            self._arriving.pop(body)
            yield content
        finally:
            self._arriving.pop(body, None)
            self._count(body, -body.n_held)

    async def _receive(self, body: _Body, request: Request, most: int, seconds: float) -> bytes:
        chunks, clock = request.stream(), asyncio.get_running_loop().time
        began, is_large = clock(), announced_size(request.headers) > most
        try:
            async with asyncio.timeout_at(began + min(seconds, _FIRST_SECONDS)) as body.timeout:
                while not is_large and (chunk := await anext(chunks, None)) is not None:
                    body.require_place()
                    if is_large := len(body.content) + len(chunk) > most:
                        break
                    self._make_room(body, len(chunk))
                    body.content += chunk
                    allowed = _FIRST_SECONDS + len(body.content) / _LEAST_RATE
                    body.timeout.reschedule(began + min(seconds, allowed))
                body.require_place()
        except TimeoutError:
            message = "the body gave way to others" if body.has_given_way else "the body came too slowly"
            close = {"Connection": "close"}
            raise ApiError(408, "too_slow", f"{message}; send it again, faster", close) from None
        if not is_large:
            return bytes(body.content)
        body.content.clear()
        finished = "expect" not in request.headers and await _discard(chunks)
        message = f"the body has more than {most} bytes; send it in several requests"
        raise ApiError(413, "too_large", message, {} if finished else {"Connection": "close"})

    def _make_room(self, body: _Body, n_bytes: int) -> None:
        """Count bytes of a body; if they do not fit, older bodies that are still arriving give way."""
        for other in [other for other in self._arriving if other is not body]:
            if self._held + n_bytes <= self._most:
                break
            if other.timeout is not None and other.n_held:
                other.has_given_way = True
                other.content.clear()
                self._count(other, -other.n_held)
                self._arriving.pop(other)
                other.timeout.reschedule(0)
        if self._held + n_bytes > self._most:
            raise ApiError(503, "overloaded", "too many requests at once; try again", RETRY)
        self._count(body, n_bytes)

    def _count(self, body: _Body, n_bytes: int) -> None:
        body.n_held += n_bytes
        self._held += n_bytes


def announced_size(headers: Headers) -> int:
    """Return the length in a request's head; 0 if there is none."""
    given = headers.get("content-length", "")
    return int(given[:20]) if given.isdecimal() else 0


def require_few_values(body: bytes, limits: Limits) -> None:
    """Refuse JSON with more values than the largest request has, before it is parsed: parsing holds up everybody else.

    :raises ApiError: 422 if there are too many.
    """
    most = _VALUES_PER_ITEM * limits.items * (limits.aspects + 4)
    # Texts may contain all of these characters: look closely only if there are many.
    if sum(map(body.count, (b'"', b",", b"[", b"{"))) > most:
        unescaped = body.replace(b"\\\\", b"").replace(b'\\"', b"")
        n_strings = unescaped.count(b'"') // 2
        if n_strings <= most:
            outside = b"".join(unescaped.split(b'"')[::2])
            n_strings = sum(map(outside.count, (b",", b"[", b"{")))
        if n_strings > most:
            message = f"the body has too many values for {limits.items} items of {limits.aspects} aspects"
            raise ApiError(422, "unusable", f"{message}; send it in several requests")


async def _discard(chunks: AsyncIterator[bytes]) -> bool:
    """Read the rest and drop it, within bounds; return whether it came to an end."""
    left = _MAX_DISCARDED
    try:
        async with asyncio.timeout(_DISCARD_SECONDS):
            async for chunk in chunks:
                left -= len(chunk)
                if left < 0:
                    return False
    except TimeoutError:
        return False
    return True
