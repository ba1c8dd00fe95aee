"""The batcher: requests that arrive together are answered in one go, by one worker.

What is waiting is bounded by its number of aspects. The worker takes the run and saliency of the request that has waited
longest, and with it whatever others ask of the same; a request that is larger than a batch goes back to the end of the queue
with what is left of it, so that it does not hold up small ones.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path

from pssa.data.example import Example
from pssa.runs import Classifier, load
from pssa.runs.explain import usable_saliencies
from pssa.serve.cost import MOST_POSITIONS, readings
from pssa.serve.limits import Limits
from pssa.serve.metrics import Metrics
from pssa.serve.scoring import Scored, score

__all__ = ["Batcher", "Order", "QueueFull", "ServedRun", "Ticket", "open_batcher"]


class QueueFull(Exception):
    """There is no room for an order."""


@dataclass(frozen=True)
class ServedRun:
    """A run that can be asked."""

    name: str  # of its folder
    classifier: Classifier
    saliencies: tuple[str, ...]  # the usual one first


@dataclass(frozen=True)
class Order:
    """Examples, and what is to be said of them."""

    examples: tuple[Example, ...]
    run: str = "first"
    saliency: str | None = None  # None: labels only

    @property
    def kind(self) -> tuple[str, str | None]:
        """Orders of one kind can be answered together."""
        return self.run, self.saliency


@dataclass(eq=False)
class Ticket:
    """An order that was accepted; `answered` will hold its outcomes, in the order of the examples."""

    order: Order
    answered: Future[list[Scored]] = field(default_factory=Future)
    taken: int = 0
    outcomes: list[Scored] = field(default_factory=list)

    @property
    def left(self) -> int:
        """Examples that still wait."""
        return len(self.order.examples) - self.taken


@dataclass(frozen=True)
class _Part:
    ticket: Ticket
    examples: tuple[Example, ...]


class Batcher:
    """Loaded runs, a queue and the thread that works on it."""

    def __init__(self, runs: Mapping[str, ServedRun], limits: Limits) -> None:
        self.runs = dict(runs)
        self.limits = limits
        self.metrics = Metrics()
        self.closing = False  # a signal's handler may set it: no new orders, what was accepted is answered
        self._queue: deque[Ticket] = deque()
        self._waiting = 0
        self._last = 1  # aspects in the last batch
        self._ended = False
        self._changed = threading.Condition()
        self._worker = threading.Thread(target=self._work, name="pssa-batcher", daemon=True)
        self._worker.start()

    @property
    def waiting(self) -> int:
        """Aspects in the queue."""
        return self._waiting

    @property
    def alive(self) -> bool:
        """Whether the worker can still answer."""
        return self._worker.is_alive()

    @property
    def full(self) -> bool:
        """Whether not even one aspect more has room."""
        return self._waiting >= self.limits.queue

    def submit(self, order: Order) -> Ticket:
        """Take an order.

        :raises QueueFull: if there is no room for all of it.
        """
        ticket = Ticket(order)
        if not order.examples:
            ticket.answered.set_result([])
            return ticket
        with self._changed:
            if self._ended or self._waiting + ticket.left > self.limits.queue:
                raise QueueFull
            self._queue.append(ticket)
            self._count(ticket.left)
            self._changed.notify()
        return ticket

    def withdraw(self, ticket: Ticket) -> None:
        """Drop what is left of an order that nobody waits for any more; nothing happens if it is answered."""
        with self._changed:
            if ticket in self._queue:
                self._queue.remove(ticket)
                self._count(-ticket.left)

    def close(self) -> None:
        """Answer what was accepted, then end the worker."""
        self.closing = True
        with self._changed:
            self._ended = True
            self._changed.notify()
        self._worker.join()

    def _work(self) -> None:
        while parts := self._next():
            run, saliency = parts[0].ticket.order.kind
            examples = [example for part in parts for example in part.examples]
            outcomes = iter(score(self.runs[run].classifier, examples, saliency))
            self.metrics.batch("predict" if saliency is None else "explain", len(examples))
            for part in parts:
                ticket = part.ticket
                ticket.outcomes += [next(outcomes) for _ in part.examples]
                # Whoever waited may have gone and cancelled.
                if (
                    len(ticket.outcomes) == len(ticket.order.examples)
                    and ticket.answered.set_running_or_notify_cancel()
                ):
                    ticket.answered.set_result(ticket.outcomes)

    def _next(self) -> list[_Part]:
        """The next batch; empty at the end."""
        with self._changed:
            while True:
                while not self._queue and not self._ended:
                    self._changed.wait()
                if not self._queue:
                    return []
                self._let_others_come()
                if self._queue:  # those who waited may have gone
                    return self._take()

    def _let_others_come(self) -> None:
        """Wait a little for as many as were there the last time: those who were answered tend to ask again."""
        enough = min(self._last, self.limits.batch)
        until = time.monotonic() + self.limits.wait_ms / 1000
        while self._waiting < enough and not self._ended and (left := until - time.monotonic()) > 0:
            self._changed.wait(left)

    def _take(self) -> list[_Part]:
        kind = self._queue[0].order.kind
        room = _Room(self.limits.batch, kind[1])
        parts = []
        for ticket in [ticket for ticket in self._queue if ticket.order.kind == kind]:
            end = ticket.taken
            while end < len(ticket.order.examples) and room.admits(ticket.order.examples[end]):
                end += 1
            if end == ticket.taken:
                break
            parts.append(_Part(ticket, ticket.order.examples[ticket.taken : end]))
            self._count(ticket.taken - end)
            ticket.taken = end
            self._queue.remove(ticket)
            if ticket.left:
                self._queue.append(ticket)
                break
        self._last = room.examples
        return parts

    def _count(self, aspects: int) -> None:
        self._waiting += aspects
        self.metrics.waiting(self._waiting)


@dataclass
class _Room:
    """What a batch has room for; the first example always has."""

    most: int  # examples
    saliency: str | None
    examples: int = 0
    longest: int = 0

    def admits(self, example: Example) -> bool:
        """Count the example in, if there is room."""
        longest = max(self.longest, len(example.spans))
        positions = (self.examples + 1) * longest * readings(longest, self.saliency)
        if self.examples and (self.examples == self.most or positions > MOST_POSITIONS):
            return False
        self.examples, self.longest = self.examples + 1, longest
        return True


def open_batcher(first: Path, versus: Path | None, limits: Limits, device: str = "cpu") -> Batcher:
    """Load a run, and where given a second, and be ready to be asked.

    :raises InputError: if a folder is no run.
    """
    folders = {"first": first} | ({} if versus is None else {"versus": versus})
    return Batcher({name: _served(folder, device) for name, folder in folders.items()}, limits)


def _served(folder: Path, device: str) -> ServedRun:
    classifier = load(folder, device)
    return ServedRun(folder.resolve().name, classifier, usable_saliencies(classifier))
