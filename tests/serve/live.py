"""The service behind a real socket, in a thread of this process."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx
from tests.serve.recorder import PATIENCE

from pssa.serve.app import create_app
from pssa.serve.batcher import Batcher
from pssa.serve.server import Server, bind, url_of

_JSON = {"Content-Type": "application/json"}


def body_of(text: str) -> bytes:
    """The body of a request for the label of the first word of a text."""
    return json.dumps({"items": [{"text": text, "aspects": [text.split()[0]]}]}).encode()


@dataclass(frozen=True)
class Live:
    """A service that runs."""

    url: str
    server: Server
    thread: threading.Thread

    def ask(self, text: str = "screen x") -> httpx.Response:
        """Ask for the label of the first word of a text."""
        return httpx.post(f"{self.url}/v1/predict", content=body_of(text), headers=_JSON, timeout=PATIENCE)

    def get(self, path: str) -> httpx.Response:
        """Ask for a path."""
        return httpx.get(f"{self.url}{path}", timeout=PATIENCE)

    def connect(self) -> socket.socket:
        """A connection of one's own."""
        return socket.create_connection(("127.0.0.1", int(self.url.rpartition(":")[2])), timeout=PATIENCE)


@contextmanager
def serving(batcher: Batcher, grace: int = int(PATIENCE)) -> Iterator[Live]:
    """Serve the batcher until the block ends."""
    with bind("127.0.0.1", 0) as bound:
        url, started = url_of(bound), threading.Event()
        server = Server(create_app(batcher, pages={}), batcher, grace, started.set)
        thread = threading.Thread(target=server.run, args=([bound],), daemon=True)
        thread.start()
        assert started.wait(PATIENCE)
        try:
            yield Live(url, server, thread)
        finally:
            server.should_exit = True
            thread.join(PATIENCE)
            assert not thread.is_alive()


def request(body: bytes, *headers: str) -> bytes:
    """A request for labels as it goes over the wire."""
    lines = ["POST /v1/predict HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def read_all(connection: socket.socket) -> bytes:
    """Everything until the other side closes."""
    found = b""
    while piece := connection.recv(65536):
        found += piece
    return found
