"""What the service counts, for Prometheus."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

__all__ = ["CONTENT_TYPE", "Metrics"]

CONTENT_TYPE = CONTENT_TYPE_LATEST
_SECONDS = (0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


class Metrics:
    """Counters of one service, in a registry of its own so that several can live in one process."""

    def __init__(self) -> None:
        self._registry = own = CollectorRegistry()
        self._requests = Counter("pssa_requests", "Answers, by route and status.", ("route", "status"), registry=own)
        self._seconds = Histogram(
            "pssa_request_seconds", "From request to answer.", ("route",), buckets=_SECONDS, registry=own
        )
        self._batches = Histogram("pssa_batch_size", "Aspects answered in one go.", buckets=_SIZES, registry=own)
        self._items = Counter("pssa_items", "Aspects answered, by what was asked.", ("kind",), registry=own)
        self._waiting = Gauge("pssa_queue_depth", "Aspects that wait.", registry=own)
        ProcessCollector(registry=self._registry)

    def request(self, route: str, status: int, seconds: float) -> None:
        """A request was answered; `route` is the path's pattern, of which there are few."""
        self._requests.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def batch(self, kind: str, size: int) -> None:
        """So many aspects were answered in one go."""
        self._batches.observe(size)
        self._items.labels(kind).inc(size)

    def waiting(self, aspects: int) -> None:
        """So many aspects wait now."""
        self._waiting.set(aspects)

    def text(self) -> bytes:
        """Everything in Prometheus' text format."""
        return generate_latest(self._registry)
