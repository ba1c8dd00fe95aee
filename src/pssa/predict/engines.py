"""Execution backends of a job: threads of this process, processes of this machine, or a Ray cluster.

All of them score the same windows with the same code and give the results in the order of the rows, so the output is the same.
"""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Protocol

from pssa.errors import InputError, setting
from pssa.execution import (
    ProcessPool,
    RayPool,
    ThreadPool,
    WorkerPool,
    WorkerSetup,
    connect_ray,
    map_ordered,
    overlap_ordered,
)
from pssa.predict.output_format import OutputFormat
from pssa.predict.rows import OutputFields
from pssa.predict.scorer import Scorer, Scoring, open_scorer
from pssa.predict.source import Source
from pssa.predict.window import START, Position, Window, read_windows

# A window is tens of thousands of small objects, none of them in a cycle. Python's own threshold of 700 new objects makes the
# garbage collector take a quarter of the time of scoring where the model is small.
_GC_THRESHOLD = 50_000
_OVERLAPPED_GC_THRESHOLD = 1_000_000  # a tenth of the time where a GPU computes, and several large windows are held
# Half of what an actor uses: those of a lost node find room on nodes that were full before.
_ACTOR_CPUS = 0.5
_WINDOWS_AHEAD = 3  # one that is cut into pieces, and two that a GPU computes while the host prepares the next
_ACTORS_PER_GPU = 4  # some cut sentences into words while others keep it busy


@dataclass(frozen=True)
class ScoringTask:
    """What an engine has to do: score the rows after `start`."""

    run: Path
    scoring: Scoring
    sources: tuple[Source, ...]
    window_rows: int  # of a window, at most
    output_format: OutputFormat
    fields: OutputFields
    start: Position = START
    columns: tuple[str, ...] = ()  # of the output, if rows were written before

    def windows(self) -> Iterator[Window]:
        """Yield the windows to score."""
        return read_windows(self.sources, self.window_rows, self.fields, self.start, self.columns)

    def open_scorer(self) -> Scorer:
        """Load the run, and what finds aspects."""
        return open_scorer(self.run, self.scoring, self.fields)


class Engine(Protocol):
    """Execution backend."""

    def resolve(self, scoring: Scoring) -> Scoring:
        """Return the same settings with the device that will be used in place of `auto`: by default this machine's."""
        return replace(scoring, device=scoring.chosen_device)

    def results(self, task: ScoringTask) -> Generator[Window]:
        """Yield the result of each window, in order; closing the generator ends the work."""


@dataclass(frozen=True)
class LocalEngine(Engine):
    """Threads of this process, a window each; beside a GPU, one thread, and for large jobs processes that prepare rows."""

    has_helpers: bool = False  # whether it may start these processes, which import the main module of a program again

    def results(self, task: ScoringTask) -> Generator[Window]:
        """Yield the results in the order of the windows."""
        is_plain = task.fields.finding is None and task.scoring.saliency is None
        if self.has_helpers and is_plain and task.scoring.chosen_device != "cpu":
            from pssa.predict.beside_gpu import score_beside

            return score_beside(task)
        return score_windows(task.windows(), task.open_scorer(), task.output_format)


@dataclass(frozen=True)
class ProcessEngine(Engine):
    """Processes of this machine that each hold the model.

    Threads take turns at cutting sentences into words, which is the slow part of scoring on a GPU; processes do not.
    """

    workers: int

    def __post_init__(self) -> None:
        if self.workers < 1:
            raise InputError(f"{setting('workers')} is {self.workers}; it must be at least 1")

    def results(self, task: ScoringTask) -> Generator[Window]:
        """Yield the results in the order of the windows.

        :raises WorkerLost: if a process was killed.
        """
        # An error in the run is raised here and not in each worker.
        task.open_scorer()
        yield from _score_in_workers(task, partial(ProcessPool, self.workers))


@dataclass(frozen=True)
class RayEngine(Engine):
    """Actors of a Ray cluster: at `address`, else at RAY_ADDRESS, else one started on this machine.

    The run must be found under the same name on every node. What a lost node was scoring is scored by another.
    """

    address: str | None = None
    actors: int | None = None  # None: one for each CPU, or some for each GPU

    def __post_init__(self) -> None:
        if self.actors is not None and self.actors < 1:
            raise InputError(f"{setting('actors', option='--workers')} is {self.actors}; it must be at least 1")

    def resolve(self, scoring: Scoring) -> Scoring:
        """Return the same settings with the cluster's device in place of `auto`.

        :raises InputError: for a GPU where the cluster has none: actors would wait for it.
        """
        n_gpus = connect_ray(self.address).cluster_resources().get("GPU", 0)
        if scoring.device == "cuda" and n_gpus < 1:
            raise InputError(
                f"device is cuda, and the cluster has no GPU; leave out {setting('device')}, or add a node that has one"
            )
        if scoring.device != "auto":
            return scoring
        return replace(scoring, device="cuda" if n_gpus >= 1 else "cpu")

    def results(self, task: ScoringTask) -> Generator[Window]:
        """Yield the results in the order of the windows.

        :raises WorkerLost: if the cluster fails.
        """
        resources = connect_ray(self.address).cluster_resources()
        if task.scoring.chosen_device == "cpu":
            usual = int(resources.get("CPU", 1))
        else:
            usual = int(resources.get("GPU", 1)) * _ACTORS_PER_GPU
        # Workers are started in directories of their own.
        fields = task.fields
        if fields.finding and fields.finding.tagger:
            fields = replace(fields, finding=replace(fields.finding, tagger=fields.finding.tagger.absolute()))
        task = replace(task, run=task.run.absolute(), fields=fields)
        yield from _score_in_workers(task, partial(RayPool, self.actors or max(1, usual), n_cpus=_ACTOR_CPUS))


def score_windows(windows: Iterator[Window], scorer: Scorer, output_format: OutputFormat) -> Generator[Window]:
    """Score windows in this process; yield the results in their order.

    Threads score a window each. Beside a GPU this thread parses the next while the tokenizer cuts one and the GPU computes
    others. More threads would gain nothing there: Python runs one at a time, and one that launches kernels would wait for its
    turn each time.
    """
    if scorer.classifier is not None:
        with rare_garbage_collection(_OVERLAPPED_GC_THRESHOLD):
            yield from overlap_ordered(partial(scorer.start, output_format=output_format), windows, _WINDOWS_AHEAD)
        return
    with ThreadPool(scorer.n_threads) as pool, rare_garbage_collection():
        yield from map_ordered(pool, partial(scorer.score, output_format=output_format), windows)


def _score_in_workers(task: ScoringTask, open_pool: Callable[..., WorkerPool]) -> Generator[Window]:
    setup = WorkerSetup(_open_worker, (replace(task, sources=()),), uses_gpu=task.scoring.chosen_device != "cpu")
    with open_pool(setup=setup) as pool:
        yield from map_ordered(pool, partial(score_in_worker, task.output_format), task.windows())


_worker: dict[str, Scorer] = {}  # what a worker process holds


def _open_worker(task: ScoringTask) -> None:
    hold(task.open_scorer())


def hold(scorer: Scorer) -> None:
    """Let this worker score with it."""
    rare_garbage_collection().__enter__()  # for as long as the worker lives
    _worker["scorer"] = scorer


def score_in_worker(output_format: OutputFormat, window: Window) -> Window:
    """Score a window; its warnings go with the result, as nobody would see those of a worker."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = _worker["scorer"].score(window, output_format)
    # Their raw messages, in which settings are still marked.
    messages = [str(one.message.args[0]) for one in caught if isinstance(one.message, Warning)]
    return replace(result, warnings=tuple(messages))


@contextmanager
def rare_garbage_collection(threshold: int = _GC_THRESHOLD) -> Iterator[None]:
    """Collect garbage rarely in this process, unless it collects still more rarely, or never."""
    before = gc.get_threshold()
    if not 0 < before[0] < threshold:
        yield
        return
    gc.set_threshold(threshold, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
