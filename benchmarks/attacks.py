"""Attacks on the service, bare and behind the shipped nginx: how long a small request takes beside each of them.

    python benchmarks/attacks.py [--run RUN] [--seconds 5] [--only WORDS]

An attacker is a process with a low priority and eight addresses of its own (127.1.0.1 to 127.1.0.8); it opens a connection
again once it is closed. The small request is one text whose aspects the service finds; it comes from 127.0.0.2, each time on a
new connection. nginx runs with deploy/nginx.conf, on other ports and with a certificate of its own. Without nginx on this
machine, the bare service alone is measured. Exit code 1 if an attack is not held behind nginx: an answer fails, or the median
is neither below 100 ms nor below ten times that without the attack.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import multiprocessing
import os
import re
import resource
import shutil
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DEPLOY = Path(__file__).resolve().parents[1] / "deploy"
NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
SMALL = {"text": "The screen is huge and bright."}
_VICTIM, _ATTACKERS = "127.0.0.2", [f"127.1.0.{number}" for number in range(1, 9)]
_MOST_MS, _MOST_RATIO = 100.0, 10.0
_JSON = "application/json"


@dataclass(frozen=True)
class Target:
    """Where requests go: the service itself, or nginx in front of it."""

    port: int
    certificate: Path | None = None  # None: no TLS

    @property
    def context(self) -> ssl.SSLContext | None:
        """Return what trusts the certificate."""
        return None if self.certificate is None else ssl.create_default_context(cafile=str(self.certificate))

    def connect(self, address: str = "127.0.0.1", timeout: float = 10.0) -> http.client.HTTPConnection:
        """Return a connection from this address, which opens with its first request."""
        if self.certificate is None:
            return http.client.HTTPConnection("localhost", self.port, timeout, (address, 0))
        return http.client.HTTPSConnection(
            "localhost", self.port, timeout=timeout, source_address=(address, 0), context=self.context
        )


@contextmanager
def service(run: str, *options: str, max_files: int = 0) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """Run `pssa serve` as a process, and yield its port; at the end it must exit with code 0 and without a traceback."""
    words = [sys.executable, "-m", "pssa", "serve", run, "--port", "0", "--json", *options]
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=errors, text=True)
        if max_files:  # before it looks: importing takes a while
            resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (max_files, max_files))
        assert process.stdout is not None
        try:
            yield int(json.loads(process.stdout.readline())["url"].rpartition(":")[2]), process
        finally:
            process.terminate()
            output = process.communicate(timeout=120)[0]
        errors.seek(0)
        if process.returncode or "Traceback" in (said := output + errors.read()):
            raise SystemExit(f"the service ended with {process.returncode}: {said[-2000:]}")


def free_port() -> int:
    """Return a port that nobody uses now."""
    with socket.create_server(("127.0.0.1", 0)) as bound:
        return int(bound.getsockname()[1])


def local_config(text: str, folder: Path, port: int, plain: int, tls: int) -> str:
    """Return deploy/nginx.conf with files in `folder` and with these ports: the service's, and those of nginx."""
    text = re.sub(r"\n *listen \[::\]:\d+.*", "", text)
    temporary = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    for old, new in (
        ("listen 80 ", f"listen 127.0.0.1:{plain} "),
        ("listen 443 ", f"listen 127.0.0.1:{tls} "),
        ("127.0.0.1:8000", f"127.0.0.1:{port}"),
        ("/etc/pssa/", f"{folder}/secrets/"),
        ("/var/log/nginx/", f"{folder}/"),
        ("/run/nginx.pid", f"{folder}/nginx.pid"),
        ("\nhttp {\n", "\nhttp {\n" + "".join(f"    {name}_temp_path {folder}/{name};\n" for name in temporary)),
    ):
        if old not in text:
            raise SystemExit(f"deploy/nginx.conf has no {old!r}")
        text = text.replace(old, new)
    return text


@contextmanager
def proxy(port: int) -> Iterator[Target]:
    """Run nginx with deploy/nginx.conf and a certificate of deploy/prepare.sh in front of a service."""
    assert NGINX is not None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)  # its workers have another user
        shutil.copy(DEPLOY / "prepare.sh", folder)
        subprocess.run(["sh", str(folder / "prepare.sh")], check=True, stdout=subprocess.DEVNULL)
        target = Target(free_port(), folder / "secrets" / "fullchain.pem")
        config = local_config((DEPLOY / "nginx.conf").read_text("utf-8"), folder, port, free_port(), target.port)
        (folder / "nginx.conf").write_text(config, "utf-8")
        words = [NGINX, "-p", name, "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")]
        process = subprocess.Popen([*words, "-g", "daemon off;"])
        try:
            until = time.monotonic() + 30
            while time.monotonic() < until and process.poll() is None:
                with suppress(OSError), socket.create_connection(("127.0.0.1", target.port)):
                    break
                time.sleep(0.05)
            else:
                raise SystemExit(f"nginx does not start: {(folder / 'error.log').read_text('utf-8')}")
            yield target
        finally:
            process.terminate()
            process.wait(60)


Act = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True)
class Attack:
    """What some clients do again and again."""

    clients: int
    act: Act
    max_files: int = 0  # descriptors of the service; 0: as usual


def request(path: str, body: bytes | None, media_type: str = _JSON, length: int | None = None) -> bytes:
    """Return a request; without a body it announces chunks, or a length."""
    size = len(body or b"") if length is None else length
    framing = "Transfer-Encoding: chunked" if body is None and length is None else f"Content-Length: {size}"
    lines = (f"POST {path} HTTP/1.1", "Host: localhost", f"Content-Type: {media_type}", framing, "Connection: close")
    return "\r\n".join((*lines, "", "")).encode() + (body or b"")


def flood(content: bytes) -> Act:
    """Send a request, and read the answer to its end."""

    async def act(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(content)
        while await reader.read(1 << 16):
            pass

    return act


def hold(first: bytes, then: bytes) -> Act:
    """Begin, and then send a little now and then."""

    async def act(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(first)
        while not reader.at_eof():
            with suppress(TimeoutError):
                await asyncio.wait_for(reader.read(1 << 16), 0.5)
            writer.write(then)

    return act


def read_slowly(content: bytes) -> Act:
    """Send everything, and take ten bytes of the answers a second."""

    async def act(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(content)
        while await reader.read(1):
            await asyncio.sleep(0.1)

    return act


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


_CHUNKS = flood(
    request("/v1/predict", None) + b"1\r\n \r\n" * (1 << 20) + b"2\r\n{}\r\n0\r\n\r\n"
)  # 6 MiB of one-byte chunks
_GET = b"GET /v1/model HTTP/1.1\r\nHost: localhost\r\n\r\n"
_LONG_ROW = b"screen " + b"word " * 700 + b",screen\n"
_HARD_TO_FIND = [{"text": "a" * 4000, "aspects": ["a" * 900 + "b"] * 16}] * 18
_EXPLAINED = [{"text": "screen " + "word " * 60, "aspects": ["screen"] * 16}] * 20
_TEXTS = b"text\n" + b"The food is good and the service was rude.\n" * 10_000
ATTACKS: dict[str, Attack] = {
    **{f"6 MiB in one-byte chunks, {clients} at once": Attack(clients, _CHUNKS) for clients in (1, 4, 40)},
    "1,010 clients send 400 GETs ahead and read slowly": Attack(1010, read_slowly(_GET * 400)),
    "60 clients read the answers to large tables slowly": Attack(
        60, read_slowly(request("/v1/csv", b"text,aspect\n" + _LONG_ROW * 600, "text/csv"))
    ),
    "200 announce 16 MiB": Attack(200, hold(request("/v1/csv", None, "text/csv", 16_000_000), b"")),
    "200 heads that never end": Attack(200, hold(b"POST /v1/predict HTTP/1.1\r\nHost: a\r\n", b"X: y\r\n")),
    "200 bodies that trickle": Attack(200, hold(request("/v1/predict", None, length=1_000_000), b" ")),
    "1,500 connections that wait": Attack(1500, hold(b"", b"")),
    "600 connections, 256 descriptors": Attack(600, hold(b"", b""), max_files=256),
    "1 MiB of `{},`": Attack(2, flood(request("/v1/predict", b'{"items":[' + b"{}," * 349_000 + b"{}]}"))),
    "a CSV of a million columns": Attack(2, flood(request("/v1/csv", b"text,aspect" + b"," * 1_000_000, "text/csv"))),
    "a CSV of million-cell rows": Attack(
        2, flood(request("/v1/csv", b"text,aspect\n" + (b"," * 1_000_000 + b"\n") * 3, "text/csv"))
    ),
    "aspects that are hard to find": Attack(2, flood(request("/v1/predict", _json({"items": _HARD_TO_FIND})))),
    "explanations of 320 aspects": Attack(
        2, flood(request("/v1/explain", _json({"items": _EXPLAINED, "saliency": "leave_one_out"})))
    ),
    "64 long texts without aspects": Attack(
        2, flood(request("/v1/predict", _json({"items": [{"text": "The food. " * 1600}] * 64})))
    ),
    "64 long sentences without aspects": Attack(
        2, flood(request("/v1/predict", _json({"items": [{"text": "e.g. " * 3200}] * 64})))
    ),
    "tables of 10,000 texts": Attack(2, flood(request("/v1/csv", _TEXTS, "text/csv"))),
}


async def _client(target: Target, number: int, attack: Attack) -> None:
    context = target.context
    while True:
        made = socket.socket()
        with suppress(OSError, asyncio.IncompleteReadError):
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            made.bind((_ATTACKERS[number % len(_ATTACKERS)], 0))
            made.setblocking(False)
            await asyncio.get_running_loop().sock_connect(made, ("127.0.0.1", target.port))
            name = "localhost" if context else None
            reader, writer = await asyncio.open_connection(sock=made, ssl=context, server_hostname=name, limit=4096)
            try:
                await attack.act(reader, writer)
            finally:
                writer.transport.abort()
        made.close()
        await asyncio.sleep(0.05)


def _attack(target: Target, attack: Attack) -> None:
    async def run() -> None:
        await asyncio.gather(*(_client(target, number, attack) for number in range(attack.clients)))

    os.nice(10)
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    asyncio.run(run())


@contextmanager
def attacking(target: Target, attack: Attack) -> Iterator[None]:
    """Attack until the block ends."""
    process = multiprocessing.get_context("fork").Process(target=_attack, args=(target, attack), daemon=True)
    process.start()
    try:
        time.sleep(2.0)
        yield
    finally:
        process.kill()
        process.join()


def ask(target: Target, path: str, body: Any = None, address: str = _VICTIM) -> tuple[int, bytes]:
    """Send a request on a new connection; return the status and the body of the answer."""
    connection = target.connect(address)
    try:
        if body is None:
            connection.request("GET", path)
        else:
            connection.request("POST", path, _json(body), {"Content-Type": _JSON})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


@dataclass(frozen=True)
class Measured:
    """Small requests of some seconds."""

    median: float  # milliseconds
    slowest_check: float  # milliseconds, of /healthz
    asked: int
    faults: list[str]


def measure(target: Target, seconds: float) -> Measured:
    """Ask for the same label again and again, and each tenth time for the service's health."""
    times, checks, faults, until = list[float](), list[float](), list[str](), time.monotonic() + seconds
    while time.monotonic() < until or not times:
        began, is_check = time.perf_counter(), len(times) == 10 * len(checks)
        try:
            status, body = ask(target, "/healthz") if is_check else ask(target, "/v1/predict", SMALL)
            if status != 200 or (b"alive" if is_check else b'"label": "positive"') not in body:
                faults.append(f"{status} {body[:100]!r}")
        except (OSError, http.client.HTTPException) as error:
            faults.append(f"{type(error).__name__} {error}")
        (checks if is_check else times).append(1000 * (time.perf_counter() - began))
        time.sleep(0.005)
    return Measured(statistics.median(times), max(checks), len(times) + len(checks), faults)


def _memory(pid: int) -> int:
    """Return the most memory that a process has held, in MiB."""
    status = Path(f"/proc/{pid}/status").read_text("ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) >> 10


def beside(target: Target, attack: Attack, seconds: float) -> tuple[str, bool]:
    """Return the cells of a table about an attack, and whether it is held."""
    before = measure(target, seconds / 2)
    with attacking(target, attack):
        during = measure(target, seconds)
    is_soon = during.median < max(_MOST_MS, _MOST_RATIO * before.median)
    failed = f"{len(during.faults)} of {during.asked}" if during.faults else "none"
    if during.faults:
        print(f"  {during.faults[0]}", file=sys.stderr)
    cells = f"{before.median:.1f} | {during.median:.1f} | {during.slowest_check:.0f} | {failed}"
    return cells, is_soon and not during.faults


def main() -> int:
    """Measure every attack, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", default="starter")
    parser.add_argument("--seconds", type=float, default=5.0, help="seconds of each measurement")
    parser.add_argument("--only", default="", help="attacks with these words in their name")
    arguments = parser.parse_args()
    ways = ["bare", *(["behind nginx"] if NGINX else [])]
    print("| attack | way | before, ms | beside, ms | slowest /healthz, ms | failed | memory, MiB |")
    print("|---|---|---|---|---|---|---|")
    is_held = True
    for name, attack in ATTACKS.items():
        for way in ways if arguments.only in name else ():
            with service(arguments.run, max_files=attack.max_files) as (port, process):
                if way == "bare":
                    cells, _ = beside(Target(port), attack, arguments.seconds)
                else:
                    with proxy(port) as target:
                        cells, held = beside(target, attack, arguments.seconds)
                    is_held = is_held and held
                print(f"| {name} | {way} | {cells} | {_memory(process.pid)} |", flush=True)
    return 0 if is_held else 1


if __name__ == "__main__":
    raise SystemExit(main())
