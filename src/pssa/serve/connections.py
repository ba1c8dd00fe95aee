"""Connections: how many there may be, and how long one may wait for the other side.

A full service closes a connection on which no request is being carried out, of the client that has most of them, the oldest
first: connections that only wait cannot keep others out.
"""

from __future__ import annotations

import asyncio
import resource
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from pssa.serve.errors import RETRY, ApiError

_HEADER_SECONDS = 10.0  # for a client to send the head of a request
_SEND_SECONDS = 30.0  # for a client to take what is sent to it
_RESERVED_FILES = 100  # file descriptors for other things than connections


class Connection(H11Protocol):
    """A connection that ends if its client is too slow, or if a newer one needs its place.

    :param max_connections: of the whole server.
    """

    def __init__(self, *, max_connections: int, **more: Any) -> None:
        super().__init__(**more)
        self._max_connections = max_connections
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self.began = self.loop.time()

    @property
    def is_waiting(self) -> bool:
        """Whether no request is being carried out: none has come, one is arriving, or the last was answered."""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    @property
    def client_address(self) -> str:
        """Address of the client."""
        return self.client[0] if self.client else ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a new connection, if need be instead of one that waits."""
        super().connection_made(transport)
        self._start_timer("head", _HEADER_SECONDS, self.cut)
        if len(self.connections) > self._max_connections:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        for name in tuple(self._timers):
            self._stop_timer(name)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read what came; the head of a request must come within its time."""
        super().data_received(data)
        is_between_requests = self.cycle is None or self.cycle.response_complete
        if not is_between_requests or self.transport.is_closing():
            self._stop_timer("head")
        elif "head" not in self._timers:
            self._start_timer("head", _HEADER_SECONDS, self.cut)

    def pause_writing(self) -> None:
        """Wait for a client that takes nothing more, but not for ever."""
        super().pause_writing()
        self._start_timer("send", _SEND_SECONDS, self.cut)

    def resume_writing(self) -> None:
        """Go on sending."""
        self._stop_timer("send")
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP in the form of every error."""
        self._refuse(ApiError(400, "bad_request", "the request is not valid HTTP"))

    def cut(self) -> None:
        """End the connection without waiting for anything."""
        self.transport.abort()

    def _make_room(self) -> None:
        others = [other for other in self.connections if isinstance(other, Connection) and other is not self]
        waiting = [other for other in others if other.is_waiting and not other.transport.is_closing()]
        if not waiting:
            self._refuse(ApiError(503, "overloaded", "too many connections; try again", RETRY))
            return
        counts = Counter(other.client_address for other in others)
        min(waiting, key=lambda other: (-counts[other.client_address], other.began)).cut()

    def _refuse(self, error: ApiError) -> None:
        response = error.response()
        headers = [*response.raw_headers, (b"connection", b"close")]
        with suppress(h11.LocalProtocolError):  # a response may have begun
            for event in (
                h11.Response(status_code=error.status, headers=headers),
                h11.Data(data=bytes(response.body)),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _start_timer(self, name: str, seconds: float, action: Callable[[], None]) -> None:
        self._stop_timer(name)
        self._timers[name] = self.loop.call_later(seconds, action)

    def _stop_timer(self, name: str) -> None:
        if timer := self._timers.pop(name, None):
            timer.cancel()


def allow_connections(wanted: int) -> int:
    """Raise the limit of open files if need be, and return how many connections it allows, at most `wanted`."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + _RESERVED_FILES
    if soft != resource.RLIM_INFINITY and soft < needed:
        raised = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
            soft = raised
    return wanted if soft == resource.RLIM_INFINITY else max(1, min(wanted, soft - _RESERVED_FILES))
