"""The engine of a cluster: Ray Data reads the sources, hands windows to actors that hold the model, and returns results in order.

Inputs and the run must be found under the same names on every node. What a lost node was reading is read again, and what it was
scoring is scored by another. Results are those of one machine, byte for byte, where the processors are of one kind.
"""

from __future__ import annotations

import logging
import os
import socket
import warnings
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from pssa.bulk.advice import RESUME
from pssa.bulk.collecting import collect_rarely
from pssa.bulk.job import Task
from pssa.bulk.scorer import Scoring, export, open_scorer
from pssa.bulk.window import Position, Reading, first_columns, windows_of
from pssa.bulk.work import Result, process, process_alone
from pssa.data.shown import told
from pssa.errors import InputError, MissingExtra, PssaError, RunError

__all__ = ["RayEngine"]

_SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",  # nothing is reported to anybody
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # the way of later versions, of which Ray would warn else
    "RAY_BACKEND_LOG_LEVEL": "fatal",  # else it prints about arguments of actors, which Ray Data itself holds on to
}
_READER_CPUS = (
    0.25  # unlike an actor's: Ray joins steps of like needs, and one actor would read and score a whole source
)
# Half of what they use: actors of a lost node find room on nodes that were full before.
_ACTOR_CPUS = 0.5
_ACTORS_PER_GPU = 4  # some cut sentences while others keep it busy
_PATIENCE = 10  # seconds until an address counts as dead
_BLOCK = 1  # byte; less than any window has, so that each is passed on alone


@dataclass(frozen=True)
class RayEngine:
    """Scores in a Ray cluster: at `address`, else at that of RAY_ADDRESS, else in one that is started on this machine."""

    address: str | None = None
    actors: int | None = None  # None: one for each CPU, or some for each GPU

    def __post_init__(self) -> None:
        if self.actors is not None and self.actors < 1:
            raise InputError(f"actors is {self.actors}; it must be at least 1")

    def resolve(self, scoring: Scoring) -> Scoring:
        """`auto` is what the cluster has.

        :raises InputError: for a GPU where the cluster has none: actors would wait for it.
        """
        gpus = self._connected().cluster_resources().get("GPU", 0)
        if scoring.device == "cuda" and gpus < 1:
            raise InputError(
                "device is cuda, and the cluster has no GPU; leave out `device` (--device), or add a node that has one"
            )
        if scoring.device != "auto" or scoring.runtime == "onnx":
            return scoring
        return replace(scoring, device="cuda" if gpus >= 1 else "cpu")

    def results(self, task: Task) -> Generator[Result]:
        """Results in the order of the windows.

        :raises InputError: if a source can be read only once, and so not by another node.
        :raises RunError: if the cluster fails.
        """
        for source in task.reading.sources:
            if source.once:
                raise InputError(f"{source.title} cannot be read by a cluster; give a file that every node can read")
        ray = self._connected()
        task = _anywhere(task)
        columns = task.columns or first_columns(task.reading)
        rest = range(task.start.source, len(task.reading.sources))
        places = [task.start if number == task.start.source else Position(number, 0) for number in rest]
        exported = ray.put(export(task.run, task.scoring))
        data = ray.data.from_items(places, override_num_blocks=len(places))
        data = data.map_batches(_read, batch_size=1, fn_args=(task.reading, columns), num_cpus=_READER_CPUS)
        data = data.map_batches(_Actor, batch_size=1, fn_constructor_args=(task, exported), **self._crew(task.scoring))
        data.context.execution_options.preserve_order = True
        data.context.enable_progress_bars = False
        data.context.print_on_execution_start = False
        data.context.target_max_block_size = _BLOCK
        try:
            for row in data.iter_rows():
                yield row["result"]
        except ray.exceptions.RayError as error:
            *_, last = str(error).splitlines() or [""]
            raise RunError(
                f"the cluster failed ({told(last)}); what is written is kept, go on with {RESUME}"
            ) from error

    def _crew(self, scoring: Scoring) -> dict[str, Any]:
        """How many actors there are, and what each of them needs."""
        ray = self._connected()
        resources = ray.cluster_resources()
        if scoring.chosen_device == "cpu":
            size = self.actors or max(1, int(resources.get("CPU", 1)))
            needs: dict[str, Any] = {"num_cpus": _ACTOR_CPUS}
        else:
            gpus = max(1, int(resources.get("GPU", 0)))
            size = self.actors or gpus * _ACTORS_PER_GPU
            needs = {"num_cpus": _ACTOR_CPUS, "num_gpus": min(1.0, int(1000 * gpus / size) / 1000)}
        return {"compute": ray.data.ActorPoolStrategy(size=size), **needs}

    def _connected(self) -> Any:
        for name, value in _SETTINGS.items():
            os.environ.setdefault(name, value)
        warnings.filterwarnings("ignore", module=r"ray\.")  # of its own doings; whoever carries out the job undoes this
        try:
            import ray
            import ray.data
        except ImportError as error:
            raise MissingExtra("ray", "ray") from error
        logging.getLogger("ray.data").setLevel(logging.CRITICAL)  # it logs what it raises
        if not ray.is_initialized():
            _require_cluster(self.address or os.environ.get("RAY_ADDRESS", ""))
            try:
                with _silent():
                    ray.init(self.address, log_to_driver=False, logging_level="ERROR", include_dashboard=False)
            except (ConnectionError, RuntimeError, ValueError) as error:
                raise InputError(f"Ray cannot be used ({told(error)}); check `address` (--address)") from error
        return ray


def _anywhere(task: Task) -> Task:
    """The task with places in full: workers are started in directories of their own."""
    sources = tuple(source.anywhere() for source in task.reading.sources)
    return replace(task, run=task.run.absolute(), reading=replace(task.reading, sources=sources))


def _require_cluster(address: str) -> None:
    """Refuse an address at which nobody listens; Ray itself would wait for minutes and end the process."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not port.isdecimal():
        return
    try:
        socket.create_connection((host, int(port)), _PATIENCE).close()
    except (OSError, OverflowError) as error:
        raise InputError(f"no Ray cluster can be reached at {address} ({told(error)}); check the address") from error


@contextmanager
def _silent() -> Iterator[None]:
    """Nothing on standard error, where Ray says that it was told to say nothing. Errors are raised as ever."""
    before, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)
        os.close(nowhere)


def _read(places: dict[str, Any], reading: Reading, columns: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """The windows of a source, one at a time; a node that takes over reads the same ones."""
    (place,) = places["item"]
    for window in windows_of(reading, place, columns):
        yield {"window": _column(window)}


class _Actor:
    """A model that scores windows, on one thread as everywhere."""

    def __init__(self, task: Task, exported: Any) -> None:
        import ray

        torch.set_num_threads(1)
        collect_rarely()
        self._form = task.form
        self._fault = ""
        try:
            self._score = open_scorer(task.run, task.scoring, ray.get(exported)).score
        except PssaError as error:  # told with the first result: an actor that cannot be made is made again and again
            self._fault = f"node {ray.util.get_node_ip_address()}: {error}"

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        """One window's result."""
        (window,) = batch["window"]
        if self._fault:
            window = replace(window, rows=(), fault=self._fault)
            return {"result": _column(process(window, lambda examples: [], self._form))}
        return {"result": _column(process_alone(window, self._score, self._form))}


def _column(value: object) -> Any:
    """One value as a column of one row, which Ray passes on as it is."""
    column = np.empty(1, dtype=object)
    column[0] = value
    return column
