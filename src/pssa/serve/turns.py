"""Turns: a thread that works for many requests, a little for each at a time, so that large ones hold up nobody."""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from itertools import count
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")


class _Turn(NamedTuple):
    """A request that waits for its turn; the one that has had least time comes first."""

    seconds: float  # that the request has had
    number: int  # in order of arrival
    work: Iterator[Any] | None  # None: the end
    future: Future[tuple[list[Any], float, bool]]  # what the turn gave, the seconds it took, whether the work is done


class TurnThread:
    """A thread that advances the iterators of many requests.

    :param turn_seconds: after which the next request comes.
    """

    def __init__(self, turn_seconds: float = 0.02) -> None:
        self._turn_seconds = turn_seconds
        self._waiting: queue.PriorityQueue[_Turn] = queue.PriorityQueue()
        self._numbers = count()
        self._thread = threading.Thread(target=self._run, name="pssa-turns", daemon=True)
        self._thread.start()

    async def collect(self, work: Iterator[T]) -> list[T]:
        """Return what an iterator yields; whoever waits for it may be cancelled at any time."""
        found: list[T] = []
        seconds, is_done = 0.0, False
        while not is_done:
            turn = _Turn(seconds, next(self._numbers), work, Future())
            self._waiting.put(turn)
            values, spent, is_done = await asyncio.wrap_future(turn.future)
            found += values
            seconds += spent
        return found

    def close(self) -> None:
        """End the thread after the turn that it is at; what waits is dropped."""
        self._waiting.put(_Turn(-1.0, next(self._numbers), None, Future()))

    def _run(self) -> None:
        while (turn := self._waiting.get()).work is not None:
            if not turn.future.set_running_or_notify_cancel():
                continue
            began, values, is_done = time.perf_counter(), [], True
            try:
                for value in turn.work:
                    values.append(value)
                    if time.perf_counter() - began > self._turn_seconds:
                        is_done = False
                        break
            except Exception as error:
                turn.future.set_exception(error)
            else:
                turn.future.set_result((values, time.perf_counter() - began, is_done))
        while not self._waiting.empty():
            self._waiting.get().future.cancel()
