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
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, fields, replace
from functools import partial
from multiprocessing.connection import Connection
from threading import Thread
from typing import Any

import torch
from torch import Tensor

from pssa.execution import ProcessPool, WorkerSetup, map_ordered
from pssa.models import IndexedCorpus
from pssa.predict import engines
from pssa.predict.output_format import OutputFormat
from pssa.predict.scorer import Scorer
from pssa.predict.window import Window
from pssa.runs.featurizer import PieceFeaturizer
from pssa.runs.torch_runtime import TorchRuntime

_MOST_PROCESSES = 10
_ALONE = 4  # windows before processes are started, which costs seconds
_SWITCH_SECONDS = (
    1e-4  # after which the thread that reads rows lets another launch a kernel; Python's own 5 ms are too long
)

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


def count_processes(scorer: Scorer) -> int:
    """Return how many processes help an encoder: as many as there are cores, but for two that this one keeps busy."""
    if scorer.classifier is None or not isinstance(scorer.classifier.torch.featurizer, PieceFeaturizer):
        return 0
    return min(_MOST_PROCESSES, (os.cpu_count() or 1) - 2)


def score_beside(
    windows: Iterator[Window], scorer: Scorer, output_format: OutputFormat, n_processes: int
) -> Generator[Window]:
    """Score windows in their order: the first in this process alone, the others with processes, once these have started."""
    n_alone = 0

    def until(is_over: Callable[[], bool]) -> Iterator[Window]:
        nonlocal n_alone
        while not is_over() and (window := next(windows, None)) is not None:
            n_alone += 1
            yield window

    yield from engines.score_windows(until(lambda: n_alone == _ALONE), scorer, output_format)
    if n_alone < _ALONE:
        return
    with _helpers(scorer, n_processes) as pool:
        started = [pool.submit(time.sleep, 0.1) for _ in range(n_processes)]
        yield from engines.score_windows(until(lambda: all(one.done() for one in started)), scorer, output_format)
        with engines.rare_garbage_collection():
            yield from map_ordered(pool, partial(engines.score_in_worker, output_format), windows)


@contextmanager
def _helpers(scorer: Scorer, n_processes: int) -> Iterator[ProcessPool]:
    """Start processes, and a thread for each that computes what it asks."""
    assert scorer.classifier is not None
    # One thread launches kernels: libraries allocate room for each that does.
    runtime, launcher = scorer.classifier.torch, ThreadPoolExecutor(1, "launcher")
    distant = DistantRuntime(**{each.name: getattr(runtime, each.name) for each in fields(runtime)} | {"members": ()})
    classifier = replace(scorer.classifier, runtime=distant, scratch=None)
    start = partial(classifier.start, batch_size=scorer.batch_size)
    context = multiprocessing.get_context("spawn")
    pipes = [context.Pipe() for _ in range(n_processes)]
    first = replace(scorer, ask=start, classifier=None)
    for near, _ in pipes:
        Thread(target=_answer, args=(near, first, runtime, launcher), daemon=True).start()
    setup = WorkerSetup(_open, ([far for _, far in pipes], context.Value("i", 0)))
    pool, before = ProcessPool(n_processes, setup), sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_SECONDS)
    try:
        yield pool
    finally:
        sys.setswitchinterval(before)
        pool.close(now=True)
        for _, far in pipes:  # and the threads end
            far.close()
        launcher.shutdown()


def _answer(pipe: Connection, first: Scorer, runtime: TorchRuntime, launcher: Executor) -> None:
    """Compute what one process asks until it ends. The GPU works on the tensors of one process while those of another arrive."""
    with closing(pipe), suppress(EOFError, OSError):
        pipe.send(first)  # not with the process: its start would wait until it has imported torch
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
    engines.hold(_pipe[0].recv())
