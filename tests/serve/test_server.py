"""The server on a real socket: many at once, bodies in pieces, clients that leave, and how it ends."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.serve.conftest import Folders
from tests.serve.live import Live, body_of, read_all, request, serving
from tests.serve.recorder import PATIENCE, Recorder, batcher_of, until

from pssa.errors import InputError
from pssa.runs import Classifier
from pssa.serve import batcher as batcher_module
from pssa.serve.batcher import AskedAspect, Batcher, Result, open_batcher, score
from pssa.serve.limits import Limits
from pssa.serve.server import bind, hosts_of, is_loopback, url_of

pytestmark = pytest.mark.slow

SMALL = Limits(items=1, aspects=1, queue=2, batch=1, body_bytes=1000)


@pytest.fixture
def batcher(recorder: Recorder) -> Batcher:
    return batcher_of(SMALL)


@pytest.fixture
def live(batcher: Batcher, recorder: Recorder) -> Iterator[Live]:
    with serving(batcher) as live:
        yield live
        recorder.gate.set()


def test_each_of_many_at_once_gets_its_own_answer(
    folders: Folders, classifier: Classifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"{'so ' * (number % 9)}screen {number} is {('huge', 'poor')[number % 2]}" for number in range(64)]
    batcher = open_batcher([folders.first], Limits(batch=16))
    batches: list[int] = []

    def once_others_wait(classifier: Classifier, aspects: Sequence[AskedAspect], saliency: str | None) -> list[Result]:
        batches.append(len(aspects))
        if len(batches) == 1:  # however fast the model is, there will be some to be answered together
            until(lambda: batcher.n_waiting >= 16)
        return score(classifier, aspects, saliency)

    monkeypatch.setattr(batcher_module, "score", once_others_wait)

    async def ask_all(url: str) -> list[dict[str, Any]]:
        async with httpx.AsyncClient(
            base_url=url, timeout=PATIENCE, limits=httpx.Limits(max_connections=None)
        ) as client:
            asked = [{"items": [{"text": text, "aspects": ["screen"]}]} for text in texts]
            answers = await asyncio.gather(*(client.post("/v1/predict", json=one) for one in asked))
        return [answer.json()["items"][0]["aspects"][0] for answer in answers]

    with serving(batcher) as live:
        found = asyncio.run(ask_all(live.url))
    for text, answer in zip(texts, found, strict=True):
        expected = classifier.predict(text, "screen")
        assert (answer["from"], answer["label"]) == (expected.start, expected.label)
        assert answer["probabilities"] == pytest.approx(expected.probabilities, abs=1e-5)
    assert sum(batches) == 64
    assert max(batches) == 16


def test_when_the_queue_is_full_others_are_told_at_once(live: Live, batcher: Batcher, recorder: Recorder) -> None:
    with ThreadPoolExecutor(3) as pool:
        accepted = [pool.submit(live.ask, "a x")]
        assert recorder.asked.acquire(timeout=PATIENCE)
        accepted += [pool.submit(live.ask, text) for text in ("b x", "c x")]
        until(lambda: batcher.n_waiting == 2)
        refused = live.ask("d x")
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "overloaded")
        assert refused.headers["retry-after"] == "1"
        assert live.get("/readyz").status_code == 503
        assert live.get("/healthz").status_code == 200
        recorder.gate.set()
        assert [answer.result().status_code for answer in accepted] == [200] * 3
    assert live.get("/readyz").status_code == 200


def test_what_a_client_asked_before_it_left_is_dropped(live: Live, batcher: Batcher, recorder: Recorder) -> None:
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(live.ask, "stays x")
        assert recorder.asked.acquire(timeout=PATIENCE)
        leaving = live.connect()
        leaving.sendall(request(body_of("leaves x"), f"Content-Length: {len(body_of('leaves x'))}"))
        until(lambda: batcher.n_waiting == 1)
        leaving.close()
        until(lambda: batcher.n_waiting == 0)
        recorder.gate.set()
        assert first.result().status_code == 200
    assert recorder.batches == [["stays x"]]


def test_a_body_without_an_end_is_cut_off(live: Live) -> None:
    def send_forever(connection: socket.socket) -> None:
        try:
            while True:
                connection.sendall(b"400\r\n" + b" " * 1024 + b"\r\n")
        except OSError:
            pass  # the service has closed the connection

    with live.connect() as connection:
        connection.sendall(request(b"", "Transfer-Encoding: chunked"))
        sender = threading.Thread(target=send_forever, args=(connection,), daemon=True)
        sender.start()
        assert connection.recv(100).startswith(b"HTTP/1.1 413 ")
        sender.join(PATIENCE)
        assert not sender.is_alive()


def test_a_body_that_is_announced_too_large_is_refused_without_being_read(live: Live) -> None:
    with live.connect() as connection:
        connection.sendall(request(b"", "Content-Length: 100000", "Expect: 100-continue"))
        answer = read_all(connection)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"100 Continue" not in answer


def test_a_body_that_does_not_come_is_not_waited_for() -> None:
    with serving(batcher_of(replace(SMALL, body_seconds=1))) as live, live.connect() as connection:
        connection.sendall(request(b"{", "Content-Length: 10"))
        answer = read_all(connection)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b'"too_slow"' in answer


def test_at_the_end_what_was_accepted_is_answered(live: Live, batcher: Batcher, recorder: Recorder) -> None:
    with ThreadPoolExecutor(2) as pool:
        accepted = [pool.submit(live.ask, "a x")]
        assert recorder.asked.acquire(timeout=PATIENCE)
        accepted.append(pool.submit(live.ask, "b x"))
        until(lambda: batcher.n_waiting == 1)
        live.server.handle_exit(signal.SIGTERM, None)
        assert batcher.closing

        def refused() -> bool:
            try:
                assert live.get("/readyz").status_code == 503
            except httpx.TransportError:
                return True
            return False

        until(refused)
        assert live.thread.is_alive()
        recorder.gate.set()
        assert [answer.result().json()["items"][0]["aspects"][0]["label"] for answer in accepted] == ["a x", "b x"]
    live.thread.join(PATIENCE)
    assert not live.thread.is_alive()
    assert not batcher.is_alive


def test_a_second_interrupt_does_not_wait(live: Live, recorder: Recorder) -> None:
    live.server.handle_exit(signal.SIGINT, None)
    assert (live.server.should_exit, live.server.force_exit) == (True, False)
    live.server.handle_exit(signal.SIGINT, None)
    assert live.server.force_exit


def test_an_address_is_checked_before_anything_is_loaded() -> None:
    with bind("127.0.0.1", 0) as taken:
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"127.0.0.1:{port} cannot be used"):
            bind("127.0.0.1", port)
    for host, number in (("no such host", 8000), ("127.0.0.1", 70000), ("a" * 70, 8000), ("192.0.2.1", 8000)):
        with pytest.raises(InputError, match="choose"):
            bind(host, number)


def test_on_loopback_only_own_names_are_taken() -> None:
    with bind("localhost", 0) as bound:
        assert is_loopback(bound)
        assert hosts_of(bound, "localhost", ["My.Name"]) == frozenset({"localhost", "127.0.0.1", "[::1]", "my.name"})
        assert url_of(bound).startswith("http://")


def test_elsewhere_any_name_is_taken_unless_some_are_given() -> None:
    everywhere = "0.0.0.0"  # noqa: S104
    with bind(everywhere, 0) as bound:
        assert not is_loopback(bound)
        assert hosts_of(bound, everywhere, []) is None
        named = hosts_of(bound, everywhere, ["a.example"])
        assert named == frozenset({"localhost", "127.0.0.1", "[::1]", everywhere, "a.example"})


@pytest.mark.parametrize("name", ["a*", "*.*.b", "a.*.b", "**"])
def test_a_star_stands_in_front_of_a_name_only(name: str) -> None:
    with bind("localhost", 0) as bound:
        assert "*.a.example" in (hosts_of(bound, "localhost", ["*.A.example"]) or ())
        with pytest.raises(InputError, match="allow_host"):
            hosts_of(bound, "localhost", [name])


def test_an_address_of_version_6_stands_in_brackets() -> None:
    try:
        bound = bind("::1", 0)
    except InputError:
        pytest.skip("this machine has no IPv6")
    with bound:
        assert is_loopback(bound)
        assert url_of(bound).startswith("http://[::1]:")
        assert "[::1]" in (hosts_of(bound, "::1", []) or ())


def test_no_file_of_the_source_opens_what_a_request_names() -> None:
    """Only the pages and the runs are read here, and all before the first request."""
    folder = Path(batcher_module.__file__).parent
    opening = {"open(", ".read_text(", ".read_bytes("}
    found = {path.name for path in folder.glob("*.py") for word in opening if word in path.read_text("utf-8")}
    assert {name for name in found if not name.startswith("review")} == {"app.py"}
