"""Clients that wait, flood and exhaust, and a small request beside them: it must be answered, rightly and soon.

Each attacker is a process of its own with a lower priority. The latency of small requests is measured without the attacker,
beside it, and after it, in one run of the service.
"""

from __future__ import annotations

import http.client
import json
import multiprocessing
import os
import resource
import socket
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from faulting.kills import serving
from faulting.lab import Check, Lab
from pssa.runs.run_names import STARTER

__all__ = ["ATTACKERS"]

_SECONDS = 6.0  # of each measurement
_SMALL = {"items": [{"text": "The screen is huge and bright.", "aspects": ["screen"]}]}
_TEXT_ALONE = {"items": [{"text": "The screen is huge and bright."}]}
_MOST_MS, _MOST_RATIO = 100.0, 10.0  # of the median beside an attacker: below one of them
_LONG = "screen " + "word " * 700

Attack = Callable[[int], None]  # with the port of the service, until it is killed


@dataclass(frozen=True)
class _Measured:
    median: float  # milliseconds
    answers: int
    faults: tuple[str, ...]


def _connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=30)


def _head(path: str, length: int, media_type: str = "application/json") -> bytes:
    lines = (f"POST {path} HTTP/1.1", "Host: 127.0.0.1", f"Content-Type: {media_type}", f"Content-Length: {length}")
    return "\r\n".join((*lines, "", "")).encode()


def _hold(first: bytes, then: bytes, count: int, port: int) -> None:
    """Keep `count` connections open that begin with `first` and then trickle `then`; replace those that are closed."""
    held: list[socket.socket] = []
    while True:
        while len(held) < count:
            with suppress(OSError):
                held.append(_connect(port))
                held[-1].sendall(first)
        for connection in tuple(held):
            try:
                connection.sendall(then)
            except OSError:
                connection.close()
                held.remove(connection)
        time.sleep(0.5)


def _flood(path: str, body: bytes, media_type: str, port: int) -> None:
    """Send the same request again and again."""
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        with suppress(OSError, http.client.HTTPException):
            connection.request("POST", path, body, {"Content-Type": media_type})
            connection.getresponse().read()
        connection.close()


def _take_nothing(port: int) -> None:
    """Send large tables and read no answer."""
    table = b"text,aspect\n" + (_LONG.encode() + b",screen\n") * 400
    held = []
    while True:
        with suppress(OSError):
            connection = _connect(port)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.sendall(_head("/v1/csv", len(table), "text/csv") + table)
            held.append(connection)
        time.sleep(0.5)


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


_HARD_TO_FIND = [{"text": "a" * 4000, "aspects": ["a" * 900 + "b"] * 16}] * 18
_EXPLAINED = [{"text": "screen " + "word " * 60, "aspects": ["screen"] * 16}] * 20
_ATTACKS: dict[str, Attack] = {
    "200 connections announce 16 MiB": partial(_hold, _head("/v1/csv", 16_000_000, "text/csv"), b"", 200),
    "200 heads that never end": partial(_hold, b"POST /v1/predict HTTP/1.1\r\nHost: a\r\n", b"X: y\r\n", 200),
    "200 bodies that trickle": partial(_hold, _head("/v1/predict", 1_000_000), b" ", 200),
    "1,000 connections": partial(_hold, b"", b"", 1000),
    "1 MiB of {},": partial(_flood, "/v1/predict", b'{"items":[' + b"{}," * 349_000 + b"{}]}", "application/json"),
    "a CSV of a million columns": partial(_flood, "/v1/csv", b"text,aspect" + b"," * 1_000_000, "text/csv"),
    "a CSV of million-cell rows": partial(
        _flood, "/v1/csv", b"text,aspect\n" + (b"," * 1_000_000 + b"\n") * 3, "text/csv"
    ),
    "aspects that are hard to find": partial(
        _flood, "/v1/predict", _json({"items": _HARD_TO_FIND}), "application/json"
    ),
    "an explanation of 320 aspects": partial(
        _flood, "/v1/explain", _json({"items": _EXPLAINED, "saliency": "leave_one_out"}), "application/json"
    ),
    "tables whose answer nobody takes": _take_nothing,
}

# Beside these, the small request has a text alone, and its aspects are found too.
_ON_TEXTS: dict[str, Attack] = {
    "64 long texts without aspects": partial(
        _flood, "/v1/predict", _json({"items": [{"text": "The food. " * 1600}] * 64}), "application/json"
    ),
    "long sentences without aspects": partial(
        _flood, "/v1/predict", _json({"items": [{"text": "e.g. " * 3200}] * 64}), "application/json"
    ),
    "a table of texts alone": partial(
        _flood, "/v1/csv", b"text\n" + b"The food is good and the service was rude.\n" * 10_000, "text/csv"
    ),
}


@contextmanager
def _attacking(attack: Attack, port: int, count: int = 2) -> Iterator[None]:
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_attack, args=(attack, port), daemon=True) for _ in range(count)]
    for process in processes:
        process.start()
    try:
        time.sleep(1.0)
        yield
    finally:
        for process in processes:
            process.kill()
            process.join()


def _attack(attack: Attack, port: int) -> None:
    os.nice(10)
    attack(port)


def _measure(port: int, small: Any, expected: Any) -> _Measured:
    """Ask for the same label again and again, each time on a new connection."""
    latencies, faults, until = [], list[str](), time.monotonic() + _SECONDS
    while time.monotonic() < until:
        began = time.perf_counter()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        try:
            connection.request("POST", "/v1/predict", _json(small), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            found = json.loads(answer.read())
            if answer.status != 200 or not _is_same(found, expected):
                faults.append(f"{answer.status}: {str(found)[:100]}")
        except (OSError, http.client.HTTPException, ValueError) as error:
            faults.append(f"{type(error).__name__}: {error}")
        finally:
            connection.close()
        latencies.append(1000 * (time.perf_counter() - began))
        time.sleep(0.005)
    return _Measured(statistics.median(latencies), len(latencies), tuple(faults))


def _is_same(found: Any, expected: Any) -> bool:
    """Whether two answers agree; the last digits of probabilities depend on what is computed together."""
    ours, theirs = (answer["items"][0]["aspects"][0] for answer in (found, expected))
    near = all(abs(ours["probabilities"][name] - value) < 1e-4 for name, value in theirs["probabilities"].items())
    return ours["label"] == theirs["label"] and near


@contextmanager
def _service(lab: Lab, run: str | Path, max_files: int) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """The service, if need be with so few file descriptors, and its port."""
    process = lab.start("serve", run, "--port", "0", "--json")
    if max_files:  # before it looks: importing takes a while
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (max_files, max_files))
    assert process.stdout is not None
    port = int(json.loads(process.stdout.readline())["url"].rpartition(":")[2])
    try:
        yield process, port
    finally:
        process.terminate()
        process.communicate(timeout=300)


def _reference(port: int, small: Any) -> Any:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("POST", "/v1/predict", _json(small), {"Content-Type": "application/json"})
    return json.loads(connection.getresponse().read())


def _beside(lab: Lab, check: Check, name: str, attack: Attack, max_files: int = 0) -> None:
    finds = attack in _ON_TEXTS.values()
    run, small = (STARTER, _TEXT_ALONE) if finds else (serving(lab), _SMALL)
    with _service(lab, run, max_files) as (process, port):
        measure = partial(_measure, port, small, _reference(port, small))
        alone = measure()
        with _attacking(attack, port):
            beside = measure()
        after = measure()
        check.times += beside.answers
        memory = _memory(process.pid)
        said = f"median {beside.median:.1f} ms beside, {alone.median:.1f} before, {after.median:.1f} after"
        check.said.append(f"{name}: {said}; ratio {beside.median / alone.median:.1f}; {memory} MiB at most")
        for measured in (alone, beside, after):
            check.expect(not measured.faults, f"{name}: {len(measured.faults)} faults, such as {measured.faults[:1]}")
        is_soon = beside.median < _MOST_MS or beside.median < _MOST_RATIO * alone.median
        check.expect(is_soon, f"{name}: {said}")
        check.expect(memory < 2000, f"{name}: {memory} MiB")


def _memory(pid: int) -> int:
    """The most memory that a process has held, in MiB."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) >> 10


def _exhausted(lab: Lab, check: Check) -> None:
    """With few file descriptors, connections that wait keep nobody out, and little is logged."""
    _beside(lab, check, "600 connections, 256 file descriptors", partial(_hold, b"", b"", 300), 256)


ATTACKERS: dict[str, Callable[[Lab, Check], None]] = {
    **{name: partial(_beside, name=name, attack=attack) for name, attack in {**_ATTACKS, **_ON_TEXTS}.items()},
    "file descriptors exhausted": _exhausted,
}
