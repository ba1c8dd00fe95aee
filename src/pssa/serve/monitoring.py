"""Monitoring: logs of what the service reports and of who read or changed what, without texts, and metrics for Prometheus.

A line of the access log, and one in JSON:

2026-01-31T09:30:00.123+00:00 127.0.0.1 POST /v1/predict 200 4.2 ms
{"time":"2026-01-31T09:30:00.123+00:00","client":"127.0.0.1","method":"POST","path":"/v1/evidence/changes","status":200,
"ms":4.2,"change":{"index":3,"action":"flip","word":2}}
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from starlette.types import Scope

from pssa.data.files import open_regular
from pssa.errors import InputError

LogFormat = Literal["lines", "json"]
_MAX_PATH = 200  # characters that are logged
_QUIET_SECONDS = 60.0  # between two reports of the same fault
_SECONDS = (0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
_log = logging.getLogger(__name__)


class JsonFormatter(logging.Formatter):
    """Formats each record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line = {"time": now(record.created), "level": record.levelname.lower(), "message": record.getMessage()}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)


@contextmanager
def log_to_stdout(style: LogFormat) -> Iterator[None]:
    """Send what this process reports to standard output."""
    handler = logging.StreamHandler(sys.stdout)
    lines = logging.Formatter("%(asctime)s %(levelname)s %(message)s")
    handler.setFormatter(JsonFormatter() if style == "json" else lines)
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)


class RareReport:
    """Logs an error once a minute at most, however often it occurs."""

    def __init__(self, log: logging.Logger) -> None:
        self._log, self._last = log, -_QUIET_SECONDS

    def __call__(self, message: str, *values: object) -> None:
        """Log the error, unless it was logged a moment ago."""
        if time.monotonic() - self._last >= _QUIET_SECONDS:
            self._last = time.monotonic()
            self._log.error(message, *values)


class AccessLog:
    """A log of requests, open for appending; only its owner can read its file.

    :param path: `-` is standard output.
    :raises InputError: if the file cannot be written.
    """

    def __init__(self, path: Path, style: LogFormat = "json") -> None:
        self._path, self._style = path, style
        self._report = RareReport(_log)
        self._is_stdout = str(path) == "-"
        if self._is_stdout:
            self._descriptor = sys.stdout.fileno()
            return
        is_new = not path.exists()
        try:
            self._descriptor = open_regular(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        except OSError as error:
            message = f"cannot be written ({error.strerror}); name another file for the access log"
            raise InputError.at(path, None, message) from error
        if is_new:
            os.fchmod(self._descriptor, 0o600)

    def record(self, scope: Scope, status: int, seconds: float) -> None:
        """Write a line about a request, without its query, which may contain texts."""
        record: dict[str, Any] = {
            "time": now(),
            "client": (scope.get("client") or ("",))[0],
            "method": scope["method"],
            "path": scope["path"][:_MAX_PATH],
            "status": status,
            "ms": round(seconds * 1000, 1),
        }
        if change := scope.get("state", {}).get("change"):
            record["change"] = change
        if self._style == "json":
            line = json.dumps(record, separators=(",", ":"))
        else:  # a path is quoted where it has a space or what a terminal would not show
            path = record["path"]
            shown = path if path.isascii() and path.isprintable() and " " not in path else json.dumps(path)
            line = f"{record['time']} {record['client']} {record['method']} {shown} {status} {record['ms']} ms"
            line += f" {json.dumps(change)}" if change else ""
        try:
            os.write(self._descriptor, line.encode() + b"\n")
        except OSError as error:  # a full disk must not stop the service
            self._report("%s cannot be written: %s", self._path, error.strerror)

    def close(self) -> None:
        """Close the file."""
        if not self._is_stdout:
            os.close(self._descriptor)


def now(seconds: float | None = None) -> str:
    """Return the time as logs write it: the present one, or that of a record."""
    return datetime.fromtimestamp(time.time() if seconds is None else seconds, UTC).isoformat(timespec="milliseconds")


class Metrics:
    """Counters of one service, in their own registry so that several services can share a process.

    :param waiting: returns the number of aspects that wait.
    """

    def __init__(self, waiting: Callable[[], int]) -> None:
        self._registry = own = CollectorRegistry()
        self._requests = Counter("pssa_requests", "Responses by route and status.", ("route", "status"), registry=own)
        self._seconds = Histogram(
            "pssa_request_seconds", "Time from request to response.", ("route",), buckets=_SECONDS, registry=own
        )
        self._batches = Histogram("pssa_batch_size", "Aspects scored together.", buckets=_SIZES, registry=own)
        self._items = Counter("pssa_items", "Aspects scored, by kind of request.", ("kind",), registry=own)
        Gauge("pssa_queue_depth", "Aspects waiting.", registry=own).set_function(waiting)
        ProcessCollector(registry=own)

    def request(self, route: str, status: int, seconds: float) -> None:
        """Count a request; `route` is the pattern of its path, of which there are few."""
        self._requests.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def batch(self, kind: str, size: int) -> None:
        """Count a batch of aspects."""
        self._batches.observe(size)
        self._items.labels(kind).inc(size)

    def text(self) -> bytes:
        """Return everything in Prometheus' text format."""
        return generate_latest(self._registry)
