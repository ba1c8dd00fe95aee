"""`pssa serve`."""

from __future__ import annotations

import importlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.cli.command import Command
from tests.serve.review_toys import write_files

from pssa.errors import MissingExtra
from pssa.runs.run_names import LENT, starter_run
from pssa.serve.server import Server

PATIENCE = 300  # seconds; a machine that is slow and busy may need many


def get(url: str, headers: dict[str, str] | None = None) -> httpx.Response:
    return httpx.get(url, headers=headers, timeout=PATIENCE)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Server]:
    """Servers that were told to run; they announce themselves and end at once."""
    found: list[Server] = []

    def run(self: Any, sockets: Any) -> None:
        found.append(self)
        self._on_started()
        self._batcher.close()

    monkeypatch.setattr(Server, "run", run)
    monkeypatch.delenv("PSSA_TOKEN", raising=False)
    return found


@pytest.fixture
def review_files(tmp_path: Path) -> tuple[Path, Path]:
    """Evidence and its corpus."""
    return write_files(tmp_path), tmp_path / "train.jsonl"


@pytest.mark.usefixtures("started")
def test_without_a_run_it_serves_the_starter(command: Command) -> None:
    assert command("serve", "--port", "0", "--json").json["run"] == str(starter_run())
    assert command("serve", "--port", "0").out.startswith("starter at http")


NOTED = f"pssa: {LENT}\n"  # of a run that cannot find aspects


@contextmanager
def process(*words: str | Path, **environment: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command as a process of its own, and where it serves."""
    command = [sys.executable, "-m", "pssa", "serve", *map(str, words), "--port", "0", "--json"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | environment
    ) as child:
        try:
            assert child.stdout is not None
            yield child, json.loads(child.stdout.readline())["url"]
        finally:
            child.kill()


def test_it_says_where_it_serves(command: Command, run: Path, started: list[Server]) -> None:
    result = command("serve", run, "--port", "0", "--json")
    found = json.loads(result.out)
    assert "starter finds them" in result.err  # the run cannot find aspects
    assert found["url"].startswith("http://127.0.0.1:")
    assert found["run"] == str(run)
    plain = command("serve", run, "--port", "0")
    assert plain.out.startswith(f"{run} at http://127.0.0.1:")
    assert (plain.code, plain.err) == (0, result.err)


def test_limits_reach_the_batcher(command: Command, run: Path, started: list[Server], tmp_path: Path) -> None:
    (tmp_path / "limits.toml").write_text("items = 3\nexplained_words = 7\nbatch = 1\n")
    assert command("serve", run, "--port", "0", "--limits", tmp_path / "limits.toml").code == 0
    limits = started[0]._batcher.limits
    assert (limits.items, limits.explained_words, limits.batch) == (3, 7, 1)


@pytest.mark.slow
def test_open_without_a_token_is_said(command: Command, run: Path, started: list[Server], tmp_path: Path) -> None:
    everywhere = ("serve", run, "--host", "0.0.0.0", "--port", "0")  # noqa: S104
    drawn = command(*everywhere, "--json")
    assert (drawn.code, drawn.err) == (0, NOTED)
    assert len(json.loads(drawn.out)["token"]) >= 20
    assert "/#token=" in command(*everywhere).out
    warned = command(*everywhere, "--allow-host", "pssa.example")
    assert (warned.code, warned.err.count("\n")) == (0, 2)
    assert "can reach 0.0.0.0 can use this service; set PSSA_TOKEN or --token-file" in warned.err
    token = tmp_path / "token"
    token.write_text("a-long-secret\n")
    given = command(*everywhere, "--token-file", token)
    assert (given.err, "a-long-secret" in given.out) == (NOTED, False)
    assert "--allow-host NAME" in command(*everywhere, "--no-token").refusal
    assert "--no-token contradicts" in command(*everywhere, "--no-token", "--token-file", token).refusal


def test_reviewing_evidence_needs_a_token_that_the_address_brings(
    command: Command, run: Path, review_files: tuple[Path, Path], started: list[Server]
) -> None:
    evidence, corpus = review_files
    words = ("serve", run, "--port", "0", "--evidence", evidence, "--corpus", corpus)
    assert re.search(r"open http://127.0.0.1:\d+/evidence#token=[\w-]{20,}\n", command(*words).out)
    assert "token" not in command(*words, "--no-token").out
    assert "token" not in command("serve", run, "--port", "0").out


def test_a_token_must_be_there(command: Command, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "cannot be read" in command("serve", run, "--token-file", tmp_path / "none").refusal
    monkeypatch.setenv("PSSA_TOKEN", "")
    assert "PSSA_TOKEN holds no token" in command("serve", run).refusal


def test_without_the_extra_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "pssa.serve")
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(MissingExtra, match=r"get it with: pip install 'pssa\[serve\]'"):
        importlib.import_module("pssa.serve")


@pytest.mark.slow
@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_told_to_end_it_answers_what_it_accepted_and_ends_well(run: Path, sign: signal.Signals, tmp_path: Path) -> None:
    items = [{"text": f"{'so ' * 200}the screen {number} is huge", "aspects": ["screen"] * 16} for number in range(64)]
    limits = tmp_path / "limits.toml"
    limits.write_text("batch = 4")
    words = (run, "--limits", limits, "--grace", str(PATIENCE))
    with process(*words) as (child, url), ThreadPoolExecutor(1) as pool:
        assert get(f"{url}/readyz").status_code == 200
        accepted = pool.submit(httpx.post, f"{url}/v1/predict", json={"items": items}, timeout=PATIENCE)
        with httpx.Client(base_url=url, timeout=PATIENCE) as client:  # one connection, so as to look often
            while "pssa_queue_depth 0.0" in client.get("/metrics").text and not accepted.done():
                time.sleep(0.001)
        child.send_signal(sign)
        answer = accepted.result()
        out, errors = child.communicate(timeout=PATIENCE)
    assert answer.status_code == 200
    assert sum("label" in aspect for item in answer.json()["items"] for aspect in item["aspects"]) == 64 * 16
    assert (child.returncode, out, errors) == (0, "", NOTED)


@pytest.mark.slow
def test_interrupted_twice_it_gives_up_what_it_computes_and_ends_in_order(run: Path) -> None:
    items = [{"text": f"{'so ' * 90}the screen {number} is huge", "aspects": ["screen"] * 16} for number in range(64)]
    body = {"items": items, "saliency": "leave_one_out"}
    with process(run, "--grace", str(PATIENCE)) as (child, url), ThreadPoolExecutor(1) as pool:
        asked = pool.submit(httpx.post, f"{url}/v1/explain", json=body, timeout=PATIENCE)
        with httpx.Client(base_url=url, timeout=PATIENCE) as client:
            while "pssa_queue_depth 0.0" in client.get("/metrics").text and not asked.done():
                time.sleep(0.001)
        child.send_signal(signal.SIGINT)
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=PATIENCE)
        answer = asked.result()
    assert (child.returncode, errors) == (130, NOTED)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "closing")


@pytest.mark.slow
def test_clients_that_are_stuck_leave_no_traceback_at_the_end(run: Path) -> None:
    host = b"Host: localhost\r\n"
    table = b"text,aspect\n" + (b"the screen " + b"is huge " * 400 + b",screen\n") * 2000
    half = b"POST /v1/predict HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 99\r\n" + host + b"\r\n{"
    head = b"POST /v1/csv HTTP/1.1\r\nContent-Type: text/csv\r\nContent-Length: %d\r\n" % len(table) + host + b"\r\n"
    ahead = (b"GET /v1/model HTTP/1.1\r\n" + host + b"\r\n") * 2000
    with process(run, "--grace", "1") as (child, url), ExitStack() as stack:
        for number in range(25):
            made = stack.enter_context(socket.socket())
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            made.connect(("127.0.0.1", int(url.rpartition(":")[2])))
            made.setblocking(False)
            with suppress(BlockingIOError):
                made.send((half, head + table, ahead)[number % 3])
        time.sleep(1)
        child.send_signal(signal.SIGTERM)
        out, errors = child.communicate(timeout=PATIENCE)
    assert (child.returncode, errors) == (0, NOTED)
    assert "Traceback" not in out
    assert out.count("\n") <= 1  # how many were given up


@pytest.mark.slow
def test_the_token_may_come_from_the_environment(run: Path) -> None:
    with process(run, **{"PSSA_TOKEN": "a-long-secret"}) as (_, url):
        assert get(f"{url}/v1/model").status_code == 401
        assert get(f"{url}/v1/model", {"Authorization": "Bearer a-long-secret"}).status_code == 200
        assert get(f"{url}/healthz", {"Host": "evil.example"}).status_code == 400
