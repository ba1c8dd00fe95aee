"""Connections: those that wait, trickle or take nothing keep nobody else out."""

from __future__ import annotations

import json
import logging
import resource
import socket
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import Any

import httpx
import pytest
from tests.serve.live import Live, read_all, serving
from tests.serve.recorder import PATIENCE, Recorder, batcher_of, until

from pssa.serve import connections
from pssa.serve.connections import Connection, allow_connections
from pssa.serve.limits import Limits
from pssa.serve.server import _QuietAccepting

LIMITS = Limits(items=1, aspects=1, queue=9, batch=1, wait_ms=0, connections=4)
BODY = json.dumps({"items": [{"text": "screen x", "aspects": ["screen"]}]}).encode()


def ask(live: Live) -> int:
    headers = {"Content-Type": "application/json"}
    return httpx.post(f"{live.url}/v1/predict", content=BODY, headers=headers, timeout=PATIENCE).status_code


ATTACKS: dict[str, bytes] = {
    "says nothing": b"",
    "sends half a head": b"POST /v1/predict HTTP/1.1\r\nHost: 127.0.0.1\r\n",
    "announces a table and sends none": b"POST /v1/csv HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/csv\r\n"
    b"Content-Length: 16000000\r\n\r\n",
    "stays after its answer": b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS)
def test_connections_that_wait_keep_nobody_out(recorder: Recorder, attack: str) -> None:
    recorder.gate.set()
    with serving(batcher_of(LIMITS)) as live, ExitStack() as stack:
        for _ in range(20):
            stack.enter_context(live.connect()).sendall(ATTACKS[attack])
        assert ask(live) == 200
        until(lambda: len(live.server.server_state.connections) <= LIMITS.connections)


@pytest.mark.slow
def test_if_all_are_being_answered_a_new_one_is_refused(recorder: Recorder) -> None:
    head = (
        f"POST /v1/predict HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: {len(BODY)}\r\n\r\n"
    )
    batcher = batcher_of(LIMITS)
    with serving(batcher) as live, ExitStack() as stack:
        for _ in range(4):
            stack.enter_context(live.connect()).sendall(head.encode() + BODY)
        until(lambda: batcher.n_waiting == 3)
        with live.connect() as late:
            answer = read_all(late)
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b'"overloaded"' in answer
        recorder.gate.set()


@pytest.mark.slow
@pytest.mark.parametrize("attack", ["says nothing", "sends half a head"])
def test_a_head_must_come_in_time(recorder: Recorder, monkeypatch: pytest.MonkeyPatch, attack: str) -> None:
    monkeypatch.setattr(connections, "_HEADER_SECONDS", 0.2)
    with serving(batcher_of(LIMITS)) as live, live.connect() as connection:
        connection.sendall(ATTACKS[attack])
        with suppress(ConnectionResetError):
            assert read_all(connection) == b""


@pytest.mark.slow
def test_what_is_not_http_is_answered_in_the_form_of_every_error(recorder: Recorder) -> None:
    with serving(batcher_of(LIMITS)) as live, live.connect() as connection:
        connection.sendall(b"\x16\x03\x01 not http\r\n\r\n")
        head, _, body = read_all(connection).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert json.loads(body)["error"]["code"] == "bad_request"


@pytest.mark.slow
def test_a_client_that_takes_nothing_is_cut_off(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "_SEND_SECONDS", 0.2)
    recorder.gate.set()
    limits = replace(LIMITS, queue=999, batch=99)
    table = b"text,aspect\n" + b'"the screen ' + b"is huge " * 400 + b'",screen\n'
    head = f"POST /v1/csv HTTP/1.1\r\nHost: a\r\nContent-Type: text/csv\r\nContent-Length: {len(table) * 4000}\r\n\r\n"
    with serving(batcher_of(limits)) as live, live.connect() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(head.encode())
        connection.sendall(table[:12] + table[12:] * 4000 + b"\n" * (12 * 3999))
        until(lambda: not live.server.server_state.connections)


def made(client: str, began: float, cycle: Any = None) -> Any:
    """A connection that only knows what choosing among them takes."""
    connection: Any = Connection.__new__(Connection)
    connection.client, connection.began, connection.cycle = (client, 1), began, cycle
    connection.transport = type("Transport", (), {"is_closing": lambda _: False})()
    return connection


def test_the_oldest_of_the_client_with_most_connections_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    cut: list[Any] = []
    monkeypatch.setattr(Connection, "cut", lambda self: cut.append(self))
    few, many = [made("1.1.1.1", 0.0)], [made("2.2.2.2", float(number)) for number in (2, 1, 3)]
    newest = made("1.1.1.1", 4.0)
    newest.connections = {*few, *many, newest}
    newest._make_room()
    assert cut == [many[1]]


@pytest.fixture
def open_files(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, int], list[Any]]:
    def allow(soft: int, hard: int) -> list[Any]:
        changed: list[Any] = []
        monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, hard))
        monkeypatch.setattr(resource, "setrlimit", lambda _, limits: changed.append(limits))
        return changed

    return allow


def test_connections_leave_file_descriptors_for_the_rest(open_files: Callable[[int, int], list[Any]]) -> None:
    assert open_files(256, 256) == []
    assert allow_connections(1000) == 156
    changed = open_files(256, 4096)
    assert allow_connections(1000) == 1000
    assert changed == [(1100, 4096)]
    assert open_files(4096, 4096) == []
    assert allow_connections(1000) == 1000


def test_that_nothing_can_be_accepted_is_reported_once(caplog: pytest.LogCaptureFixture) -> None:
    handler, loop = _QuietAccepting(), Any
    context = {"message": "socket.accept() out of system resource", "exception": OSError(24, "Too many open files")}
    with caplog.at_level(logging.ERROR):
        for _ in range(1000):
            handler(loop, context)  # type: ignore[arg-type]
    assert len(caplog.records) == 1
    assert "Too many open files" in caplog.text
