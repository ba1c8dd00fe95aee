"""Load test of the service on loopback: throughput and latency at rising concurrency, the gain from batching, and overload.

    python benchmarks/serve_load.py --run RUN [--run RUN2 ...] [--seconds 5]
    python benchmarks/serve_load.py --run RUN --other-source OLD/src

Each client keeps one connection, requests the label of one aspect of the embedded corpus, waits for the response and repeats,
without a pause even if it was refused. Clients share the machine with the service.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from pssa.data import embedded

CONCURRENCY = (1, 4, 16, 64)
ONE_BY_ONE = "batch = 1\n"  # limits
_TURNS = 7  # of a comparison
TINY_QUEUE = "items = 1\naspects = 1\nqueue = 8\n"


@dataclass
class Load:
    """Results of the clients."""

    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)  # seconds, of responses with status 200
    statuses: Counter[int] = field(default_factory=Counter)

    @property
    def rate(self) -> float:
        """Predictions per second."""
        return len(self.latencies) / self.seconds

    def milliseconds(self, percent: int) -> float:
        """Return a percentile of the latency."""
        return 1000 * statistics.quantiles(self.latencies, n=100, method="inclusive")[percent - 1]


def requests(host: str) -> list[bytes]:
    """Build one request per example of the test part."""
    found = []
    for example in embedded.load("test"):
        start, end = example.aspect_chars
        body = json.dumps({"items": [{"text": example.text, "aspects": [{"from": start, "to": end}]}]}).encode()
        head = f"POST /v1/predict HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
        found.append(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    return found


async def client(port: int, bodies: list[bytes], numbers: Iterator[int], until: float, load: Load) -> None:
    """Send requests until the time is over."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while time.perf_counter() < until:
        began = time.perf_counter()
        writer.write(bodies[next(numbers) % len(bodies)])
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        await reader.readexactly(length)
        status = int(head.split(b" ", 2)[1])
        load.statuses[status] += 1
        if status == 200:
            load.latencies.append(time.perf_counter() - began)
    writer.close()


async def measure(port: int, clients: int, seconds: float) -> Load:
    """Run the clients for some seconds."""
    load, numbers, bodies = Load(), count(), requests(f"127.0.0.1:{port}")
    began = time.perf_counter()
    await asyncio.gather(*(client(port, bodies, numbers, began + seconds, load) for _ in range(clients)))
    load.seconds = time.perf_counter() - began
    return load


@contextmanager
def service(run: Path, *options: str, limits: str = "", source: Path | None = None) -> Iterator[int]:
    """Run `pssa serve` as a process, if need be of another version's source, and yield its port."""
    with process_of(run, *options, limits=limits, source=source) as (port, _):
        yield port


@contextmanager
def process_of(run: Path, *options: str, limits: str = "", source: Path | None = None) -> Iterator[tuple[int, int]]:
    """Run `pssa serve`, and yield its port and the number of its process."""
    if limits:
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(limits)
            file.flush()
            with process_of(run, *options, "--limits", file.name, source=source) as found:
                yield found
        return
    words = [sys.executable, "-m", "pssa", "serve", str(run), "--port", "0", "--json", *options]
    other = {} if source is None else {"PYTHONPATH": str(source)}
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=os.environ | other)
    try:
        assert process.stdout is not None
        port = int(json.loads(process.stdout.readline())["url"].rpartition(":")[2])
        asyncio.run(measure(port, 4, 1.0))  # warms up
        yield port, process.pid
    finally:
        process.terminate()
        process.wait()


def row(name: str, clients: int, load: Load) -> str:
    """Return a line of the table."""
    others = ", ".join(f"{number} x {status}" for status, number in sorted(load.statuses.items()) if status != 200)
    p50, p99 = load.milliseconds(50), load.milliseconds(99)
    return f"| {name} | {clients} | {load.rate:.0f} | {p50:.1f} | {p99:.1f} | {others or 'none'} |"


def report(run: Path, seconds: float, options: list[str]) -> None:
    """Measure one run."""
    name = json.loads((run / "model.json").read_text())["model"]
    with service(run, *options) as port:
        for clients in CONCURRENCY:
            print(row(name, clients, asyncio.run(measure(port, clients, seconds))), flush=True)
    with service(run, *options) as batched, service(run, *options, limits=ONE_BY_ONE) as single:
        # In turns, so that a noisy machine disturbs both equally.
        rounds = [[asyncio.run(measure(port, 16, seconds)) for port in (batched, single)] for _ in range(5)]
    together, alone = (statistics.median(pair[place].rate for pair in rounds) for place in (0, 1))
    print(row(f"{name}, one by one", 16, rounds[-1][1]))
    print(f"{name}: batching {together:.0f} a second, one by one {alone:.0f}, ratio {together / alone:.2f}")
    with service(run, *options, limits=TINY_QUEUE) as port:
        load = asyncio.run(measure(port, 64, seconds))
    print(row(f"{name}, queue of 8", 64, load))
    assert set(load.statuses) <= {200, 503}, load.statuses


def compare(run: Path, seconds: float, options: list[str], source: Path) -> None:
    """Compare this version with another, in turns; print medians of the ratios of each turn.

    On a machine that does other work too, the processor time of a request tells more than the rate.
    """
    name = json.loads((run / "model.json").read_text())["model"]
    with process_of(run, *options) as ours, process_of(run, *options, source=source) as theirs:
        for clients in CONCURRENCY:
            ratios: list[tuple[float, ...]] = []
            for turn in range(_TURNS):
                found = {}
                for place in (ours, theirs) if turn % 2 else (theirs, ours):
                    before = _processor_seconds(place[1])
                    load = asyncio.run(measure(place[0], clients, seconds))
                    found[place] = load, (_processor_seconds(place[1]) - before) / len(load.latencies)
                (now, spent), (then, spent_then) = found[ours], found[theirs]
                ratios.append((now.rate / then.rate, now.milliseconds(50) / then.milliseconds(50), spent / spent_then))
            rate, median, spent = (statistics.median(column) for column in zip(*ratios, strict=True))
            print(f"| {name} | {clients} | {rate:.2f} | {median:.2f} | {spent:.2f} |", flush=True)


def _processor_seconds(pid: int) -> float:
    """Return the processor time that a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, action="append", required=True)
    parser.add_argument("--seconds", type=float, default=5.0, help="seconds of each measurement")
    parser.add_argument("--options", default="", help="more options for pssa serve, as one quoted string")
    parser.add_argument("--other-source", type=Path, help="src folder of another version to compare with")
    arguments = parser.parse_args()
    if arguments.other_source is not None:
        print("| run | clients | predictions/s, ratio to the other | p50, ratio | processor time of a request, ratio |")
        print("|---|---|---|---|---|")
        for run in arguments.run:
            compare(run, arguments.seconds, arguments.options.split(), arguments.other_source)
        return
    import fastapi
    import torch
    import uvicorn

    versions = f"PyTorch {torch.__version__}, FastAPI {fastapi.__version__}, uvicorn {uvicorn.__version__}"
    print(f"Python {platform.python_version()}, {versions}\n")
    print("| run | clients | predictions/s | p50 ms | p99 ms | other answers |\n|---|---|---|---|---|---|")
    for run in arguments.run:
        report(run, arguments.seconds, arguments.options.split())


if __name__ == "__main__":
    main()
