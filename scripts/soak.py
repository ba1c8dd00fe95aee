"""Let the service and bulk scoring run for long, and see whether memory stays flat; one JSON object at the end.

    python scripts/soak.py --minutes 3 --requests 1000 --rows 160000

The service is a real `pssa serve` of a small run, asked by several clients at once for labels, explanations and tables, with bad
requests and clients that leave among them. Bulk scoring is `pssa predict` on files that double in size. Memory is the resident
set; its slope is fitted by least squares over the second half of the requests, and over all sizes of files.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import linear_regression
from typing import Any

from pssa.data import embedded
from pssa.runs.training_run import write_run

__all__ = ["main"]

_TINY: dict[str, Any] = {"model": "memnet", "dimension": 32, "epochs": 2, "device": "cpu"}
_TEXT = "The screen is huge and bright, the battery life is poor and the price was as usual for a machine of this kind."
_JSON = {"Content-Type": "application/json"}
_CLIENTS = 3
_PATIENCE = 120  # seconds for an answer
_SMALLEST = 10_000  # rows of the first file


@dataclass
class Asked:
    """What the clients have done so far, and until when they go on."""

    end: float
    least: int  # requests
    requests: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    memory: list[tuple[float, float]] = field(default_factory=list)  # requests so far, MiB
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def goes_on(self) -> bool:
        """Whether there is time left, or requests are wanting."""
        return time.monotonic() < self.end or self.requests < self.least

    def count(self, status: str) -> None:
        """One more request."""
        with self.lock:
            self.requests += 1
            self.statuses[status] += 1


def main() -> int:
    """Soak both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=3.0, help="of the service")
    parser.add_argument("--requests", type=int, default=1000, help="at least, on a machine however slow")
    parser.add_argument("--rows", type=int, default=160_000, help="of the largest file")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run = write_run(embedded.load("train").select(range(200)), folder / "run", **_TINY)
        service = soak_service(run, 60 * arguments.minutes, arguments.requests, arguments.seed)
        bulk = soak_bulk(run, folder, arguments.rows)
    print(json.dumps({"service": service, "bulk": bulk}, indent=2))
    return 0


def soak_service(run: Path, seconds: float, least: int, seed: int) -> dict[str, Any]:
    """Ask the service for so long, and so many times at least; counts and memory."""
    command = [sys.executable, "-m", "pssa", "serve", str(run), "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = int(json.loads(process.stdout.readline())["url"].rpartition(":")[2])
        asked = Asked(time.monotonic() + seconds, least)
        clients = [threading.Thread(target=_ask, args=(port, asked, random.Random(seed + n))) for n in range(_CLIENTS)]
        for client in clients:
            client.start()
        while asked.goes_on:
            asked.memory.append((asked.requests, _resident(process.pid)))
            time.sleep(min(1.0, seconds / 60))
        for client in clients:
            client.join()
        process.terminate()
        code = process.wait(60)
    later = asked.memory[len(asked.memory) // 2 :]
    return {
        "seconds": seconds,
        "requests": asked.requests,
        "statuses": dict(sorted(asked.statuses.items())),
        "exit_code": code,
        "mib_first": round(asked.memory[0][1], 1),
        "mib_middle": round(later[0][1], 1),
        "mib_last": round(later[-1][1], 1),
        "mib_per_1000_requests": round(_slope(later), 4),
    }


def soak_bulk(run: Path, folder: Path, most: int) -> dict[str, Any]:
    """Score files of growing size; the peak of memory for each."""
    rows, peaks, seconds = [], [], []
    size = min(_SMALLEST, most)
    while size <= most:
        source, target = folder / "rows.jsonl", folder / "scored.jsonl"
        with source.open("w", encoding="utf-8") as file:
            for number in range(size):
                row = {"id": str(number), "text": f"{_TEXT} {number}", "aspect": ("screen", "battery life")[number % 2]}
                file.write(json.dumps(row) + "\n")
        target.unlink(missing_ok=True)
        peak, lasted = _score(run, source, target)
        with target.open("rb") as file:
            found = sum(1 for _ in file)
        if found != size:
            raise SystemExit(f"{found} rows of {size} were scored")
        rows.append(size)
        peaks.append(peak)
        seconds.append(lasted)
        size *= 2
    slope = _slope(list(zip(rows, peaks, strict=True))) if len(rows) > 1 else 0.0
    return {"rows": rows, "peak_mib": peaks, "seconds": seconds, "mib_per_1000_rows": round(slope, 4)}


def _score(run: Path, source: Path, target: Path) -> tuple[float, float]:
    """Peak of memory in MiB, and seconds, of one `pssa predict`."""
    words = ["-m", "pssa", "predict", str(run), "--input", str(source), "--output", str(target), "--device", "cpu"]
    began, peak = time.monotonic(), 0.0
    with subprocess.Popen([sys.executable, *words], stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            peak = max(peak, _peak(process.pid))
            time.sleep(0.02)
    if process.returncode:
        raise SystemExit(f"pssa predict ended with {process.returncode}")
    return round(peak, 1), round(time.monotonic() - began, 1)


def _peak(process: int) -> float:
    """MiB, since the program began; what the system counts at its end would include the parent before that."""
    lines = Path(f"/proc/{process}/status").read_text("ascii").splitlines()
    return max((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:")), default=0.0)


def _ask(port: int, asked: Asked, chance: random.Random) -> None:
    while asked.goes_on:
        kind = chance.choice(("predict", "predict", "predict", "explain", "csv", "bad", "large", "leaves", "status"))
        try:
            asked.count(_request(port, kind, chance))
        except (BrokenPipeError, ConnectionResetError) as error:
            # Who is slow to send what is not read any more is not waited for.
            asked.count("closed" if kind == "large" else type(error).__name__)
        except (OSError, http.client.HTTPException) as error:
            asked.count(type(error).__name__)


def _request(port: int, kind: str, chance: random.Random) -> str:
    """Ask once; the status, or what was done instead of waiting for it."""
    text = f"{_TEXT} {chance.random()}"
    item = {"text": text, "aspects": ["screen", "price", {"from": 4, "to": 10}, "nowhere"]}
    body = json.dumps({"items": [item] * chance.randint(1, 8)}).encode()
    if kind == "leaves":
        with socket.create_connection(("127.0.0.1", port), timeout=_PATIENCE) as connection:
            connection.sendall(
                b"POST /v1/explain HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 900\r\n\r\n" + body[:80]
            )
        return "left"
    connection_ = http.client.HTTPConnection("127.0.0.1", port, timeout=_PATIENCE)
    try:
        match kind:
            case "predict" | "explain":
                connection_.request("POST", f"/v1/{kind}", body, _JSON)
            case "csv":
                table = "text,aspect\n" + "".join(f'"{text} {n}",screen\n' for n in range(50)) + 'broken,"quote\n'
                connection_.request("POST", "/v1/csv", table, {"Content-Type": "text/csv"})
            case "bad":
                wrong = chance.choice((b"{", b"[]", b'{"items": 1}', b"\xff" * 100, b"[" * 5000, body[:-5]))
                connection_.request("POST", "/v1/predict", wrong, _JSON)
            case "large":
                connection_.request("POST", "/v1/predict", b" " * ((1 << 20) + 1), _JSON)
            case _:
                connection_.request("GET", chance.choice(("/healthz", "/metrics", "/v1/model", "/nowhere", "/")))
        answer = connection_.getresponse()
        answer.read()
        return str(answer.status)
    finally:
        connection_.close()


def _resident(process: int) -> float:
    """MiB."""
    pages = int(Path(f"/proc/{process}/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def _slope(points: Sequence[tuple[float, float]]) -> float:
    """MiB for each further thousand."""
    return linear_regression([x / 1000 for x, _ in points], [y for _, y in points]).slope


if __name__ == "__main__":
    sys.exit(main())
