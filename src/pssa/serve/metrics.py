"""Metrics for Prometheus."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

_SECONDS = (0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


class Metrics:
    """Counters of one service, in their own registry so that several services can share a process."""

    def __init__(self) -> None:
        self._registry = own = CollectorRegistry()
        self._requests = Counter("pssa_requests", "Responses by route and status.", ("route", "status"), registry=own)
        self._seconds = Histogram(
            "pssa_request_seconds", "Time from request to response.", ("route",), buckets=_SECONDS, registry=own
        )
        self._batches = Histogram("pssa_batch_size", "Aspects scored together.", buckets=_SIZES, registry=own)
        self._items = Counter("pssa_items", "Aspects scored, by kind of request.", ("kind",), registry=own)
        self._waiting = Gauge("pssa_queue_depth", "Aspects waiting.", registry=own)
        ProcessCollector(registry=self._registry)

    def request(self, route: str, status: int, seconds: float) -> None:
        """Count a request; `route` is the pattern of its path, of which there are few."""
        self._requests.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def batch(self, kind: str, size: int) -> None:
        """Count a batch of aspects."""
        self._batches.observe(size)
        self._items.labels(kind).inc(size)

    def waiting(self, aspects: int) -> None:
        """Set the number of aspects that wait."""
        self._waiting.set(aspects)

    def text(self) -> bytes:
        """Return everything in Prometheus' text format."""
        return generate_latest(self._registry)
