"""HTTP server: a socket, a clean end on SIGTERM and SIGINT, and the host names that reach the service."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import resource
import signal
import socket
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import Any, cast

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from pssa.errors import InputError, setting
from pssa.serve.batcher import Batcher
from pssa.serve.monitoring import RareReport

_BACKLOG = 128  # also how many connections asyncio accepts in one turn of its loop
_RESERVED_FILES = 100  # file descriptors for other things than connections
_FORCED_SECONDS = 1.0  # for the last answers of a server that is forced to end
_log = logging.getLogger(__name__)
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


class Connection(HttpToolsProtocol):
    """uvicorn's connection; a client that keeps an answer waiting too long loses it.

    Requests that such a client has sent ahead are dropped.

    :param answer_seconds: how long the service waits for the client to take an answer, all pauses together.
    """

    def __init__(self, *, answer_seconds: int, **more: Any) -> None:
        super().__init__(**more)
        self._answer_seconds = self._seconds_left = float(answer_seconds)
        self._waits_since = 0.0
        self._deadline: asyncio.TimerHandle | None = None
        self._is_last = False  # whether the answer that is being taken is the last one

    def pause_writing(self) -> None:
        """Wait for the client, but not for ever."""
        super().pause_writing()
        self._waits_since = self.loop.time()
        self._deadline = self.loop.call_later(self._seconds_left, self.transport.abort)
        if self.pipeline:
            self.pipeline.clear()
            self._is_last = True

    def resume_writing(self) -> None:
        """Go on sending."""
        super().resume_writing()
        self._stop_deadline()
        is_whole = self.cycle is None or self.cycle.response_complete
        waited = self.loop.time() - self._waits_since
        self._seconds_left = self._answer_seconds if is_whole else self._seconds_left - waited

    def on_response_complete(self) -> None:
        """Go on with the next request."""
        super().on_response_complete()
        if self._is_last:
            self.transport.close()
        elif not self.flow.write_paused:
            self._seconds_left = self._answer_seconds

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_deadline()
        super().connection_lost(exc)

    def _stop_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()


class Server(uvicorn.Server):
    """Server that answers what it accepted before it ends, and ends without an error.

    :param grace: seconds for that.
    :param started: called once connections are accepted.
    """

    def __init__(self, app: FastAPI, batcher: Batcher, grace: int, started: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                # uvicorn calls whatever stands here with the arguments of its own protocols.
                http=cast(Any, partial(Connection, answer_seconds=batcher.limits.answer_seconds)),
                limit_concurrency=allow_connections(batcher.limits.connections),
                ws="none",
                lifespan="on",
                log_config=None,
                log_level="error",
                access_log=False,
                server_header=False,
                forwarded_allow_ips=["127.0.0.1", "::1"],  # nginx on this machine names the client and https
                backlog=_BACKLOG,
                timeout_graceful_shutdown=grace,
            )
        )
        self._batcher = batcher
        self._on_started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to accept connections."""
        asyncio.get_running_loop().set_exception_handler(partial(handle_loop_error, RareReport(_log)))
        await super().startup(sockets)
        self._on_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop; if forced to, give up what was accepted, and still answer it and end in order."""
        await super().shutdown(sockets)
        if self.force_exit:
            self._batcher.abandon()
            if tasks := tuple(self.server_state.tasks):
                for task in tasks:
                    task.cancel()
                await asyncio.wait(tasks, timeout=_FORCED_SECONDS)
            await self.lifespan.shutdown()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Refuse new requests and end; a second SIGINT does not wait for the accepted ones.

        uvicorn would raise the signal again at the end, but a stopped service did not fail.
        """
        self._batcher.closing = True
        self.force_exit = self.force_exit or (self.should_exit and sig == signal.SIGINT)
        self.should_exit = True


def handle_loop_error(report: RareReport, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Report quietly that the machine has no more file descriptors; asyncio would do so a thousand times a second."""
    error, message = context.get("exception"), str(context.get("message"))
    if isinstance(error, ValueError) and "_start_serving" in message:
        return  # it wanted to try again, but the service has ended
    if isinstance(error, OSError) and "accept" in message:
        report("no connection can be accepted (%s); trying again every second", error.strerror)
    else:
        loop.default_exception_handler(context)


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


def bind(host: str, port: int) -> socket.socket:
    """Return a socket with this address that does not listen yet, so that errors show before a model is loaded.

    :raises InputError: if the address is unknown or taken.
    """
    if not 0 <= port <= 65535:  # getaddrinfo would look up another one
        port_setting = setting("port")
        raise InputError(f"{port_setting} is {port}; choose one from 1 to 65535, or 0 for any free port")
    made = None
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        made = socket.socket(family, kind, protocol)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
    except (OSError, UnicodeError) as error:
        if made is not None:
            made.close()
        advice = f"choose another {setting('host')} or {setting('port')}"
        raise InputError(f"{host}:{port} cannot be used ({error}); {advice}") from error
    return made


def is_loopback(bound: socket.socket) -> bool:
    """Return whether only this machine can reach the socket."""
    return ipaddress.ip_address(bound.getsockname()[0]).is_loopback


def hosts_of(bound: socket.socket, host: str, allowed: Iterable[str]) -> frozenset[str] | None:
    """Return the host names that reach the service; None for any, if other machines can reach it and no name is allowed.

    A service that takes any name needs a token for everything: any website could point its own name there.

    :raises InputError: for a name with `*` elsewhere than in `*` or in front, as in `*.example.com`.
    """
    named = [name.lower() for name in allowed]
    for name in named:
        if "*" in name.removeprefix("*.") and name != "*":
            raise InputError(f"{setting('allow_host')} is {name!r}; write `*` in front only, as in *.example.com")
    if not named and not is_loopback(bound):
        return None
    return frozenset({*_LOOPBACK, _in_url(host.lower()), *named})


def url_of(bound: socket.socket) -> str:
    """Return the address of the service."""
    address, port = bound.getsockname()[:2]
    return f"http://{_in_url(address)}:{port}"


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
