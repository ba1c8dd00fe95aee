"""Turns: a thread that works for many requests, a little for each at a time, so that large ones hold up nobody."""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Generic, TypeVar

T = TypeVar("T")
_TURN_SECONDS = 0.02  # after which the next request comes


@dataclass(frozen=True)
class _TurnResult(Generic[T]):
    """What one turn gave."""

    values: list[T]
    seconds: float
    is_last: bool


@dataclass(order=True)
class _Turn:
    """A request that waits for its turn."""

    seconds: float  # that the request has had
    number: int  # in order of arrival
    work: Iterator[Any] | None = field(compare=False)  # None: the end
    future: Future[_TurnResult[Any]] = field(default_factory=Future, compare=False)

    def take(self, work: Iterator[Any]) -> None:
        """Go on with the work until the turn is over."""
        began, values, is_last = time.perf_counter(), list[Any](), True
        try:
            for value in work:
                values.append(value)
                if time.perf_counter() - began > _TURN_SECONDS:
                    is_last = False
                    break
        except Exception as error:
            self.future.set_exception(error)
        else:
            self.future.set_result(_TurnResult(values, time.perf_counter() - began, is_last))


class TurnThread:
    """A thread that advances the iterators of many requests; the request that has had least time comes next."""

    def __init__(self, name: str) -> None:
        self._waiting: queue.PriorityQueue[_Turn] = queue.PriorityQueue()
        self._numbers = count()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    async def collect(self, work: Iterator[T]) -> list[T]:
        """Return what an iterator yields; whoever waits for it may be cancelled at any time."""
        found: list[T] = []
        seconds = 0.0
        while True:
            turn = _Turn(seconds, next(self._numbers), work)
            self._waiting.put(turn)
            part: _TurnResult[T] = await asyncio.wrap_future(turn.future)
            found += part.values
            seconds += part.seconds
            if part.is_last:
                return found

    def close(self) -> None:
        """End the thread after the turn that it is at; what waits is dropped."""
        self._waiting.put(_Turn(-1.0, next(self._numbers), None))

    def _run(self) -> None:
        while (turn := self._waiting.get()).work is not None:
            if turn.future.set_running_or_notify_cancel():
                turn.take(turn.work)
        while not self._waiting.empty():
            self._waiting.get().future.cancel()
