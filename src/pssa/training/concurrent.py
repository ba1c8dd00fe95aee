"""Independent trainings beside each other, each in a thread with one torch thread, seen as if they came one after the other.

A model on word vectors is too small to keep two cores busy: its steps are short operations, and LSTMs that wait for themselves.
Two of them are not. Their random numbers are their own (`draw_from`), so that the results do not depend on what runs beside.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from queue import SimpleQueue
from typing import TypeVar

import torch

from pssa.errors import RunError
from pssa.execution import ThreadPool
from pssa.training.checkpoint import EpochRecord, certain_epochs
from pssa.training.observers import Forwarder, Observer

Result = TypeVar("Result")


class TrainingStopped(RunError):
    """A training was stopped because one beside it failed, or the program is to end."""


class Relay(Forwarder):
    """An observer for another thread: it keeps the calls until the caller's thread passes them on."""

    def __init__(self) -> None:
        super().__init__(self._keep)
        self._calls: SimpleQueue[tuple[str, tuple[object, ...]] | None] = SimpleQueue()
        self._is_live = threading.Event()
        self._is_stopped = threading.Event()

    def _keep(self, name: str, *arguments: object) -> None:
        """Keep a call, that of a step only if somebody looks on; end the training if it was stopped."""
        if name == "on_step":
            self.raise_if_stopped()
            if not self._is_live.is_set():
                return
        self._calls.put((name, arguments))

    def pass_on(self, observer: Observer) -> None:
        """Make the calls, in this thread, until the work ends."""
        self._is_live.set()
        while call := self._calls.get():
            name, arguments = call
            getattr(observer, name)(*arguments)

    def end(self) -> None:
        """Say that there will be no more calls."""
        self._calls.put(None)

    def stop(self) -> None:
        """End the training before its next step."""
        self._is_stopped.set()

    def raise_if_stopped(self) -> None:
        """End work that reports no steps."""
        if self._is_stopped.is_set():
            raise TrainingStopped("the training was stopped")


def run_concurrently(
    works: Sequence[Callable[[Observer], Result]], observer: Observer, n_threads: int
) -> Iterator[Result]:
    """Yield the results of `works` in their order; each gets an observer, and its calls reach `observer` in that order too.

    An error in one of them, in `observer` or in the caller's block stops all.
    """
    relays = [Relay() for _ in works]

    def run(work: Callable[[Observer], Result], relay: Relay) -> Result:
        try:
            return work(relay)
        finally:
            relay.end()

    with ThreadPool(n_threads) as pool:
        try:
            futures = [pool.submit(run, work, relay) for work, relay in zip(works, relays, strict=True)]
            for future, relay in zip(futures, relays, strict=True):
                relay.pass_on(observer)
                yield future.result()
        finally:
            for relay in relays:
                relay.stop()


class EpochLimit(Observer):
    """How many epochs a training is certain to need, while the search for their number goes on; it observes the search."""

    def __init__(self, smoothing: int) -> None:
        self._smoothing = smoothing
        self._history: list[EpochRecord] = []
        self._changed = threading.Condition()
        self._epochs = 0
        self._is_over = False

    def on_epoch(self, record: EpochRecord) -> None:
        """Let trainings go on to the epochs that are certain by now."""
        self._history.append(record)
        with self._changed:
            self._epochs = max(self._epochs, certain_epochs(self._history, self._smoothing))
            self._changed.notify_all()

    def end(self) -> None:
        """End trainings after the epoch that they are in."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()

    def allows(self, done: int) -> bool:
        """Return whether a training may go on after its first `done` epochs."""
        return not self._is_over and self._epochs > done

    def wait_beyond(self, epochs: int) -> int:
        """Wait until more than `epochs` are certain, and return how many; 0: the search is over."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_over or self._epochs > epochs)
            return 0 if self._is_over else self._epochs


@contextmanager
def train_meanwhile(works: Sequence[Callable[[Observer], object]], limit: EpochLimit) -> Iterator[None]:
    """Call `works` in turn in a thread while the block runs, again whenever `limit` was raised.

    Each is a training that stops where `limit` says and goes on from there at its next call.
    """
    relay = Relay()

    def run() -> None:
        epochs = 0
        while epochs := limit.wait_beyond(epochs):
            for work in works:
                work(relay)

    with ThreadPool(1) as pool:
        future = pool.submit(run)
        try:
            yield
        except BaseException:
            relay.stop()
            raise
        finally:
            limit.end()
        future.result()


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute with one torch thread, so that the numbers do not depend on the number of cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
