"""Where cells are carried out: in this process, in processes of this machine, or on a Ray cluster. One interface for all.

A cluster must see the output folder and the resources under the same names on every node, as on a shared file system.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, Protocol

from pssa.errors import InputError, MissingExtra
from pssa.experiments.ledger import Record
from pssa.experiments.work import Job, carry_out

__all__ = ["ENGINES", "Engine", "check_engine", "open_engine"]

ENGINES = ("local", "ray")
_PROCESSES_OF_A_GPU = 4


class Engine(Protocol):
    """Carries out jobs side by side."""

    workers: int  # jobs at a time

    def submit(self, job: Job) -> Future[Record]:
        """Begin a job; its failure is the future's."""
        ...


@contextmanager
def open_engine(name: str, workers: int = 0, address: str = "", device: str = "auto") -> Iterator[Engine]:
    """An engine, let go of in the end.

    :param workers: jobs at a time; 0: as many as fit this machine, or the cluster.
    :param address: of a Ray cluster; empty: the one that is found, else one started on this machine.
    :param device: that the jobs ask for.
    """
    check_engine(name, workers, address)
    with _ray(workers, address) if name == "ray" else _local(workers, device) as engine:
        yield engine


def check_engine(name: str, workers: int, address: str) -> None:
    """Refuse what no engine can be opened with."""
    if name not in ENGINES:
        raise InputError(f"engine is {name!r}; it can be {' or '.join(ENGINES)}")
    if address and name != "ray":
        raise InputError(f"--address {address} goes with --engine ray; leave it out")
    if workers < 0:
        raise InputError(f"--workers is {workers}; it must not be negative")


class _Here:
    """The process itself, one job after the other."""

    workers = 1

    def submit(self, job: Job) -> Future[Record]:
        """Carry it out at once."""
        future: Future[Record] = Future()
        try:
            future.set_result(carry_out(job))
        except Exception as error:
            future.set_exception(error)
        return future


class _Processes:
    """Processes of this machine."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pool = self._open()

    def submit(self, job: Job) -> Future[Record]:
        """Hand it to a process that is free.

        A process that is killed from outside, as for memory, takes the jobs at work with it; those that follow get new ones.
        """
        try:
            return self._pool.submit(carry_out, job)
        except BrokenProcessPool:
            self._pool = self._open()
            return self._pool.submit(carry_out, job)

    def close(self, now: bool) -> None:
        """Let go of the processes; `now`: without waiting for what they are doing."""
        processes = list((self._pool._processes or {}).values()) if now else []
        self._pool.shutdown(wait=not now, cancel_futures=True)
        for process in processes:
            process.terminate()

    def _open(self) -> ProcessPoolExecutor:
        # Spawned, not forked: a forked process cannot use CUDA.
        context = multiprocessing.get_context("spawn")
        threads = max(1, (os.cpu_count() or 1) // self.workers)
        given = (threads, context.Value("i", 0))
        return ProcessPoolExecutor(self.workers, mp_context=context, initializer=_begin_process, initargs=given)


@contextmanager
def _local(workers: int, device: str) -> Iterator[Engine]:
    workers = workers or _usual_workers(device)
    if workers == 1:
        yield _Here()
        return
    engine = _Processes(workers)
    try:
        yield engine
    except BaseException:
        engine.close(now=True)
        raise
    engine.close(now=False)


def _usual_workers(device: str) -> int:
    """A process for each core; on a GPU a few, since a step of one leaves gaps that others fill."""
    import torch

    from pssa.runs.defaults import choose_device

    cores = os.cpu_count() or 1
    on_gpu = choose_device(device).type == "cuda"
    return min(_PROCESSES_OF_A_GPU * torch.cuda.device_count(), cores) if on_gpu else cores


def _begin_process(threads: int, begun: Any) -> None:
    """Take a share of the cores, and one of the GPUs in turn.

    :param begun: how many processes began before, shared by all.
    """
    import torch

    torch.set_num_threads(threads)
    with begun.get_lock():
        number, begun.value = begun.value, begun.value + 1
    if torch.cuda.is_available():
        torch.cuda.set_device(number % torch.cuda.device_count())
    # An interrupt is for the process that hands out the jobs; it ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Stop where the process that hands out the jobs was killed: nobody would take the outcome."""
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)


class _Ray:
    """A cluster; Ray starts a job again where its node dies."""

    def __init__(self, remote: Any, workers: int) -> None:
        self._remote, self.workers = remote, workers

    def submit(self, job: Job) -> Future[Record]:
        """Hand it to the cluster."""
        future: Future[Record] = self._remote.remote(job).future()
        return future


@contextmanager
def _ray(workers: int, address: str) -> Iterator[Engine]:
    try:
        import ray
    except ImportError as error:
        raise MissingExtra("ray", "ray") from error
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    own = not ray.is_initialized()
    if own:
        try:
            ray.init(address=address or None, log_to_driver=False, configure_logging=False)
        except ConnectionError as error:
            raise InputError(f"no Ray cluster answers at {address}: {error}") from error
    try:
        found = ray.cluster_resources()
        gpus = found.get("GPU", 0)
        workers = workers or int(gpus or found.get("CPU", 1)) or 1
        options: dict[str, Any] = {"num_cpus": 1, "max_retries": 3}
        if gpus:
            options["num_gpus"] = min(1.0, gpus / workers)
        yield _Ray(ray.remote(**options)(carry_out), workers)
    finally:
        if own:
            ray.shutdown()
