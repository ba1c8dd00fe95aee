"""HTTP on the wire: chunks, pipelines, and clients that send too much, contradict themselves or take nothing."""

from __future__ import annotations

import asyncio
import logging
import resource
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.serve.conftest import Folders
from tests.serve.live import body_of, read_all, request, serving
from tests.serve.recorder import Recorder, batcher_of, until

from pssa.serve.batcher import Batcher, open_batcher
from pssa.serve.limits import Limits
from pssa.serve.monitoring import RareReport
from pssa.serve.server import allow_connections, handle_loop_error

LIMITS = Limits(items=1, aspects=1, queue=9, batch=1)
BODY = body_of("screen x")
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


@pytest.mark.slow
def test_what_is_not_http_is_answered_with_400(recorder: Recorder) -> None:
    with serving(batcher_of(LIMITS)) as live, live.connect() as connection:
        connection.sendall(b"\x16\x03\x01 not http\r\n\r\n")
        assert read_all(connection).startswith(b"HTTP/1.1 400 ")


@pytest.mark.slow
def test_a_length_beside_chunks_is_refused(recorder: Recorder) -> None:
    recorder.gate.set()
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
    with serving(batcher_of(LIMITS)) as live, live.connect() as connection:
        connection.sendall(request(chunked, "Transfer-Encoding: chunked", f"Content-Length: {len(BODY)}"))
        assert read_all(connection).startswith(b"HTTP/1.1 400 ")
    assert not recorder.batches


@pytest.mark.slow
def test_requests_that_are_sent_ahead_are_answered_in_order(recorder: Recorder) -> None:
    recorder.gate.set()
    bodies = [BODY.replace(b" x", b" %d" % number) for number in range(9)]
    sent = b"".join(request(body, f"Content-Length: {len(body)}") for body in bodies)
    last = HEALTH.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    with serving(batcher_of(LIMITS)) as live, live.connect() as connection:
        connection.sendall(sent + last)
        answers = read_all(connection)
    places = [answers.index(f'"label": "screen {number}"'.encode()) for number in range(9)]
    assert places == sorted(places)
    assert answers.endswith(b'{"status":"alive"}')


@pytest.mark.slow
def test_chunks_of_one_byte_hold_nobody_up(recorder: Recorder) -> None:
    recorder.gate.set()
    with serving(batcher_of(replace(LIMITS, queue=99))) as live, live.connect() as connection:
        connection.sendall(request(b"", "Transfer-Encoding: chunked", "Connection: close"))
        began = time.process_time()
        connection.sendall(b"1\r\n \r\n" * 500_000)
        assert live.ask().status_code == 200
        connection.sendall(b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY))
        assert read_all(connection).startswith(b"HTTP/1.1 200 ")
        assert time.process_time() - began < 2  # a pure Python parser took 1.5 seconds for a tenth of this


def table(n_bytes: int) -> bytes:
    rows = b"text,aspect\n" + (b"the screen " + b"is huge " * 400 + b",screen\n") * (n_bytes // 3200)
    head = f"POST /v1/csv HTTP/1.1\r\nHost: a\r\nContent-Type: text/csv\r\nContent-Length: {len(rows)}\r\n\r\n"
    return head.encode() + rows


@pytest.fixture
def scoring(folders: Folders) -> Batcher:
    """A service that scores tables, and waits a second for a client to take its answer."""
    return open_batcher([folders.first], Limits(answer_seconds=1))


@pytest.mark.slow
@pytest.mark.parametrize("sent", [table(12_000_000), HEALTH * 20_000], ids=["a table", "requests sent ahead"])
def test_a_client_that_takes_nothing_is_cut_off(scoring: Batcher, sent: bytes) -> None:
    with serving(scoring) as live, live.connect() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.setblocking(False)
        left = memoryview(sent)

        def is_cut() -> bool:
            nonlocal left
            try:
                left = left[connection.send(left) :] if left else left
            except BlockingIOError:
                pass
            except OSError:
                return True
            return not live.server.server_state.connections

        until(lambda: bool(live.server.server_state.connections))
        until(is_cut)
        assert live.ask().status_code == 200


@pytest.mark.slow
def test_a_client_that_takes_its_answer_in_pieces_gets_all_of_it(folders: Folders) -> None:
    with serving(open_batcher([folders.first], Limits())) as live, live.connect() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(table(3_000_000).replace(b"Host: a\r\n", b"Host: a\r\nConnection: close\r\n"))
        answer = read_all(connection)
    assert answer.endswith(b"0\r\n\r\n")
    assert answer.count(b",screen,") == 3_000_000 // 3200


@pytest.mark.slow
def test_more_connections_than_the_limit_are_told_so(recorder: Recorder) -> None:
    recorder.gate.set()
    with serving(batcher_of(replace(LIMITS, connections=4))) as live:
        held = [live.connect() for _ in range(4)]
        until(lambda: len(live.server.server_state.connections) == 4)
        assert live.ask().status_code == 503
        for connection in held:
            connection.close()
        until(lambda: not live.server.server_state.connections)
        assert live.ask().status_code == 200


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
    report, loop = RareReport(logging.getLogger("pssa")), asyncio.new_event_loop()
    context = {"message": "socket.accept() out of system resource", "exception": OSError(24, "Too many open files")}
    with caplog.at_level(logging.ERROR):
        for _ in range(1000):
            handle_loop_error(report, loop, context)
    loop.close()
    assert len(caplog.records) == 1
    assert "Too many open files" in caplog.text
