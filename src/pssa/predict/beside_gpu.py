"""Processes beside a GPU: they parse, cut and write rows as any worker does, and this process, which has the model, computes.

Python runs one thread at a time, so a single process prepares rows several times more slowly than a GPU answers them. A process
sends the tensors of its window through a pipe and waits for the probabilities.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, fields, replace
from functools import partial
from multiprocessing.connection import Connection
from threading import Thread
from typing import Any

import torch
from torch import Tensor

from pssa import models
from pssa.execution import ProcessPool, WorkerSetup, map_ordered
from pssa.models import IndexedCorpus
from pssa.predict import engines
from pssa.predict.engines import ScoringTask
from pssa.predict.scorer import Scorer
from pssa.predict.window import Window
from pssa.runs.loading import describe_run, is_joint
from pssa.runs.torch_runtime import TorchRuntime

_MOST_PROCESSES = 10
_LARGE = 1 << 23  # bytes of inputs for which processes are started, which costs seconds
# After so long the thread that reads rows lets another launch a kernel; Python's own 5 ms are too long.
_SWITCH_SECONDS = 1e-4

_pipe: list[Connection] = []  # of a process, to the one that has the model


@dataclass(frozen=True)
class DistantRuntime(TorchRuntime):
    """A trained run whose members are in another process."""

    def begin(self, corpus: IndexedCorpus, batch_size: int, *_: Any) -> Callable[[], Tensor]:
        """Ask for the probabilities; return a function that waits for them."""
        # Arrays: tensors would go through shared memory, of which containers have little.
        _pipe[0].send((corpus.features, corpus.sentences.numpy(), batch_size))

        def wait() -> Tensor:
            found = _pipe[0].recv()
            if isinstance(found, Exception):
                raise found
            return torch.from_numpy(found)

        return wait


def score_beside(task: ScoringTask) -> Generator[Window]:
    """Load the run, and score windows in their order: alone until processes have started, if the inputs are large enough."""
    # As many as there are cores, but for two that this process keeps busy.
    n_processes = min(_MOST_PROCESSES, (os.cpu_count() or 1) - 2)
    is_large = n_processes >= 2 and sum(source.size for source in task.sources) >= _LARGE
    # Word models have large vectors, which each process would need, and little to cut; a joint model answers on its own.
    if not is_large or is_joint(task.run) or not models.uses_encoder(describe_run(task.run)[0]):
        yield from engines.score_windows(task.windows(), task.open_scorer(), task.output_format)
        return
    windows, helpers = task.windows(), _Helpers(n_processes)

    def alone() -> Iterator[Window]:
        while not helpers.have_started and (window := next(windows, None)) is not None:
            yield window

    try:
        scorer = task.open_scorer()
        helpers.serve(scorer)
        yield from engines.score_windows(alone(), scorer, task.output_format)
        with engines.rare_garbage_collection():
            yield from map_ordered(helpers.pool, partial(engines.score_in_worker, task.output_format), windows)
    finally:
        helpers.close()


class _Helpers:
    """Processes, and once the run is loaded a thread for each that computes what it asks."""

    def __init__(self, n_processes: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipes = [context.Pipe() for _ in range(n_processes)]
        self._launcher = ThreadPoolExecutor(1, "launcher")  # one thread: libraries allocate room for each that launches
        self._switch_seconds = sys.getswitchinterval()
        self.pool = ProcessPool(
            n_processes, WorkerSetup(_open, ([far for _, far in self._pipes], context.Value("i", 0)))
        )
        self._started = [self.pool.submit(time.sleep, 0.1) for _ in range(n_processes)]

    @property
    def have_started(self) -> bool:
        """Whether half of them work, and do more than one process alone; never, if they cannot start."""
        working = sum(one.done() and one.exception() is None for one in self._started)
        return 2 * working >= len(self._started)

    def serve(self, scorer: Scorer) -> None:
        """Send each process what it needs to score, but for the model, and begin to answer."""
        if scorer.classifier is None:  # no GPU computes after it has started
            return
        runtime = scorer.classifier.torch
        known = {each.name: getattr(runtime, each.name) for each in fields(runtime)}
        classifier = replace(scorer.classifier, runtime=DistantRuntime(**known | {"members": ()}), scratch=None)
        distant = replace(scorer, ask=partial(classifier.start, batch_size=scorer.batch_size), classifier=None)
        sys.setswitchinterval(_SWITCH_SECONDS)
        for near, _ in self._pipes:
            Thread(target=_answer, args=(near, distant, runtime, self._launcher), daemon=True).start()

    def close(self) -> None:
        """End the processes, and with them the threads."""
        sys.setswitchinterval(self._switch_seconds)
        self.pool.close(now=True)
        for _, far in self._pipes:
            far.close()
        self._launcher.shutdown()


def _answer(pipe: Connection, first: Scorer, runtime: TorchRuntime, launcher: Executor) -> None:
    """Compute what one process asks until it ends. The GPU works on the tensors of one process while those of another arrive."""
    with closing(pipe), suppress(EOFError, OSError):
        pipe.send(first)
        while True:
            features, sentences, batch_size = pipe.recv()
            corpus = IndexedCorpus.of(features)
            vars(corpus)["sentences"] = torch.from_numpy(sentences)  # which takes a while to number
            found: Any
            try:
                found = launcher.submit(runtime.begin, corpus, batch_size, runtime.encoders).result()().numpy()
            except Exception as error:
                found = error
            pipe.send(found)


def _open(pipes: Sequence[Connection], n_started: Any) -> None:
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # each process has one core
    with n_started.get_lock():
        _pipe.append(pipes[n_started.value])
        n_started.value += 1
    engines.hold(_pipe[0].recv())  # not with the start, which need not wait until the run is loaded
