"""The engine of a machine with many cores or a fast GPU: processes that each hold the model and score a window at a time.

Threads of one process take turns at cutting sentences, which is the slow part of scoring on a GPU; processes do not.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Generator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace

import torch

from pssa.bulk.advice import RESUME
from pssa.bulk.collecting import collect_rarely
from pssa.bulk.job import Task
from pssa.bulk.local import in_order
from pssa.bulk.scorer import Scoring, export, open_scorer
from pssa.bulk.window import Window, windows
from pssa.bulk.work import Result, Score, process_alone
from pssa.errors import InputError, RunError

__all__ = ["ProcessEngine"]


@dataclass(frozen=True)
class ProcessEngine:
    """Scores in so many processes of this machine."""

    workers: int

    def __post_init__(self) -> None:
        if self.workers < 1:
            raise InputError(f"workers is {self.workers}; it must be at least 1")

    def resolve(self, scoring: Scoring) -> Scoring:
        """`auto` is what this machine has."""
        return replace(scoring, device=scoring.chosen_device)

    def results(self, task: Task) -> Generator[Result]:
        """Results in the order of the windows.

        :raises RunError: if a process was ended from outside.
        """
        open_scorer(task.run, task.scoring, exported := export(task.run, task.scoring))  # what is wrong is told here
        # Spawned: a process that is forked while threads compute may never get on.
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(self.workers, context, _Worker.open, (task, exported))
        try:
            source = windows(task.reading, task.start, task.columns)
            yield from in_order(source, lambda window: pool.submit(_Worker.work, window), self.workers)
        except BrokenProcessPool as error:
            raise RunError(
                f"a worker was ended from outside, perhaps for want of memory; go on with {RESUME}"
            ) from error
        finally:
            pool.shutdown(cancel_futures=True)


class _Worker:
    """What a process holds."""

    task: Task
    score: Score

    @classmethod
    def open(cls, task: Task, exported: bytes) -> None:
        """Load the model, and end with the process that asked for it, however that ends."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        threading.Thread(target=_end_with_parent, daemon=True).start()
        torch.set_num_threads(1)
        collect_rarely()
        cls.task = task
        cls.score = staticmethod(open_scorer(task.run, task.scoring, exported).score)

    @classmethod
    def work(cls, window: Window) -> Result:
        """One window's result."""
        return process_alone(window, cls.score, cls.task.form)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
