"""Running the application: a socket, a server that ends well on SIGTERM and SIGINT, and who may call us by which name."""

from __future__ import annotations

import ipaddress
import signal
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType

import uvicorn
from fastapi import FastAPI

from pssa.errors import InputError
from pssa.serve.batcher import Batcher

_BACKLOG = 1024
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


class Server(uvicorn.Server):
    """Answers what was accepted before it ends, and ends without an error.

    :param started: is called once connections are accepted.
    """

    def __init__(self, app: FastAPI, batcher: Batcher, grace: int, started: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http="h11",
                ws="none",
                lifespan="on",
                log_config=None,
                log_level="error",
                access_log=False,
                server_header=False,
                proxy_headers=False,
                backlog=_BACKLOG,
                timeout_graceful_shutdown=grace,
            )
        )
        self._batcher = batcher
        self._on_started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept connections."""
        await super().startup(sockets)
        self._on_started()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """As in uvicorn, but for raising the signal again at the end: a service that was told to end did not fail."""
        if threading.current_thread() is not threading.main_thread():  # only that one hears signals
            yield
            return
        before = {sign: signal.signal(sign, self.handle_exit) for sign in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for sign, handler in before.items():
                signal.signal(sign, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Close the batcher for new orders; a second SIGINT does not wait for the answers."""
        self._batcher.closing = True
        self.force_exit = self.force_exit or (self.should_exit and sig == signal.SIGINT)
        self.should_exit = True


def bind(host: str, port: int) -> socket.socket:
    """A socket with this address, which does not listen yet: whatever is wrong with it is known before a model is loaded.

    :raises InputError: if the address is unknown or taken.
    """
    if not 0 <= port <= 65535:  # what is looked up would be another one
        raise InputError(f"port {port} is none; choose one from 1 to 65535, or 0 for any that is free")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        made = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        raise InputError(f"host {host}, port {port} is no address ({error}); choose others") from error
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
    except OSError as error:
        made.close()
        raise InputError(f"{host}:{port} cannot be used ({error}); choose another --host or --port") from error
    return made


def is_loopback(bound: socket.socket) -> bool:
    """Whether only this machine can reach the socket."""
    return ipaddress.ip_address(bound.getsockname()[0]).is_loopback


def hosts_of(bound: socket.socket, host: str, allowed: Iterable[str]) -> frozenset[str] | None:
    """The names we may be called by; any, where other machines can reach us and none are named."""
    named = [name.lower() for name in allowed]
    if not named and not is_loopback(bound):
        return None
    return frozenset({*_LOOPBACK, _in_url(host.lower()), *named})


def url_of(bound: socket.socket) -> str:
    """Where the service can be found."""
    address, port = bound.getsockname()[:2]
    return f"http://{_in_url(address)}:{port}"


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
