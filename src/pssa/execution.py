"""Worker pools: the same calls in this process, in threads, in processes of this machine or in a Ray cluster.

    with ProcessPool(4, WorkerSetup(open_model, (path,))) as pool:
        for result in map_ordered(pool, score, windows):
            ...

A pool gives a future for each call. The future of a call whose worker died fails with `WorkerLost`. A block that ends with an
error, or with Ctrl-C, stops the workers at once.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from pssa.errors import InputError, PssaError, RunError, import_extra, setting

Item = TypeVar("Item")
Result = TypeVar("Result")

_AHEAD = 2  # calls beyond those that are being computed, so that no worker waits for the caller
_RETRIES = 3  # of a call whose Ray worker died: a call that kills every worker must end
_UNREACHABLE_SECONDS = 60  # that an actor may take to answer again before its next call fails
_CONNECT_SECONDS = 10  # until an address counts as dead
_LONGEST_REASON = 500  # characters of an error of Ray's
_RAY_VARIABLES = {
    "RAY_USAGE_STATS_ENABLED": "0",  # report nothing
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # the default of later versions; Ray warns about it otherwise
    "RAY_BACKEND_LOG_LEVEL": "fatal",
}


class WorkerLost(RunError):
    """A worker process died, or the cluster failed; the call can be made again."""


def map_ordered(pool: WorkerPool, function: Callable[[Item], Result], items: Iterable[Item]) -> Generator[Result]:
    """Yield `function(item)` for each item, in their order; only a few items are held at a time."""
    pending: deque[Future[Result]] = deque()
    for item in items:
        pending.append(pool.submit(function, item))
        if len(pending) >= pool.n_workers + _AHEAD:
            yield pending.popleft().result()
    while pending:
        yield pending.popleft().result()


def overlap_ordered(
    start: Callable[[Item], Callable[[], Result]], items: Iterable[Item], n_ahead: int
) -> Generator[Result]:
    """Yield `start(item)()` for each item, in their order; up to `n_ahead` items are started before one is waited for.

    It uses no thread, for work that goes on elsewhere once it is started, as on a GPU.
    """
    started: deque[Callable[[], Result]] = deque()
    for item in items:
        started.append(start(item))
        if len(started) > n_ahead:
            yield started.popleft()()
    while started:
        yield started.popleft()()


def count_threads() -> int:
    """Return how many threads torch uses or, where it is not loaded, how many cores there are."""
    torch = sys.modules.get("torch")
    return int(torch.get_num_threads()) if torch else os.cpu_count() or 1


def set_threads(count: int) -> None:
    """Set the number of threads of torch, if it is loaded: what answers without it has its own."""
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(count)


@dataclass(frozen=True)
class WorkerSetup:
    """What each worker does before its first call."""

    initializer: Callable[..., None] | None = None
    arguments: tuple[Any, ...] = ()  # of the initializer
    n_threads: int = 1  # that torch uses in a worker
    uses_gpu: bool = False  # whether workers share the GPUs

    def run(self) -> None:
        """Set the thread count and call the initializer."""
        set_threads(self.n_threads)
        if self.initializer is not None:
            self.initializer(*self.arguments)
            set_threads(self.n_threads)  # if the initializer has imported torch


class WorkerPool(AbstractContextManager["WorkerPool"]):
    """A pool to be used in a `with` block; this one computes each call at once in the calling thread, others elsewhere."""

    def __init__(self, n_workers: int = 1) -> None:
        self.n_workers = n_workers

    def submit(self, function: Callable[..., Result], *arguments: Any) -> Future[Result]:
        """Start a call; its error is the future's."""
        future: Future[Result] = Future()
        try:
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future

    def close(self, now: bool = False) -> None:
        """Release the workers; `now`: without waiting for the calls that they compute."""

    def __exit__(self, kind: type[BaseException] | None, *details: object) -> None:
        self.close(now=kind is not None)


class ThreadPool(WorkerPool):
    """Threads of this process, each of which computes with one torch thread."""

    def __init__(self, n_workers: int) -> None:
        super().__init__(n_workers)
        self._n_threads_before = count_threads()
        self._executor = ThreadPoolExecutor(n_workers, "worker", partial(set_threads, 1))

    def submit(self, function: Callable[..., Result], *arguments: Any) -> Future[Result]:
        """Start a call in a free thread."""
        return self._executor.submit(function, *arguments)

    def close(self, now: bool = False) -> None:
        """Drop the calls that have not started; a thread cannot be stopped, so wait for the others in any case."""
        self._executor.shutdown(cancel_futures=True)
        set_threads(self._n_threads_before)


class ProcessPool(WorkerPool):
    """Processes of this machine.

    :param restarts: whether calls made after a worker died get new workers; they fail otherwise.
    """

    def __init__(self, n_workers: int, setup: WorkerSetup | None = None, restarts: bool = False) -> None:
        super().__init__(n_workers)
        self._setup, self._restarts = setup or WorkerSetup(), restarts
        self._executor = self._open()

    def submit(self, function: Callable[..., Result], *arguments: Any) -> Future[Result]:
        """Start a call in a free process; a process that dies takes all calls in progress with it."""
        try:
            inner = self._executor.submit(function, *arguments)
        except BrokenProcessPool as error:
            if not self._restarts:
                raise _worker_died() from error
            self._executor = self._open()
            inner = self._executor.submit(function, *arguments)
        future: Future[Result] = Future()
        inner.add_done_callback(partial(_relay, future))
        return future

    def close(self, now: bool = False) -> None:
        """Release the processes; `now` ends them in the midst of a call."""
        processes = list((self._executor._processes or {}).values()) if now else []
        self._executor.shutdown(wait=not now, cancel_futures=True)
        for process in processes:
            process.terminate()

    def _open(self) -> ProcessPoolExecutor:
        # Spawned: a forked process cannot use CUDA, and hangs where a thread held a lock while it was forked.
        context = multiprocessing.get_context("spawn")
        given = (self._setup, context.Value("i", 0))
        return ProcessPoolExecutor(self.n_workers, context, _start_process, given)


def _start_process(setup: WorkerSetup, n_started: Any) -> None:
    """Take one of the GPUs in turn and run the setup; all processes share the count of those that started before."""
    # Ctrl-C is for the process that hands out the calls; it ends the others, and they end with it if it is killed.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    with n_started.get_lock():
        number, n_started.value = n_started.value, n_started.value + 1
    if setup.uses_gpu:
        import torch

        torch.cuda.set_device(number % torch.cuda.device_count())
    setup.run()


def _exit_with_parent() -> None:
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)


def _relay(future: Future[Any], inner: Future[Any]) -> None:
    """Pass the outcome of `inner` on, with our own error where a worker died."""
    if inner.cancelled():
        future.cancel()
    elif error := inner.exception():
        future.set_exception(_worker_died() if isinstance(error, BrokenProcessPool) else error)
    else:
        future.set_result(inner.result())


def _worker_died() -> WorkerLost:
    return WorkerLost("a worker process was killed, perhaps because memory ran out")


class RayPool(WorkerPool):
    """Actors of the Ray cluster that `connect_ray` found; a call whose node dies is made again on another.

    Everything that a worker opens must be found under the same name on every node. Ray reserves `n_cpus` for each worker.
    """

    def __init__(self, n_workers: int, setup: WorkerSetup | None = None, n_cpus: float = 1) -> None:
        import ray

        super().__init__(n_workers)
        setup = setup or WorkerSetup()
        needs: dict[str, Any] = {"num_cpus": n_cpus, "max_restarts": -1}
        n_gpus = ray.cluster_resources().get("GPU", 0) if setup.uses_gpu else 0
        if n_gpus:
            needs["num_gpus"] = min(1.0, int(1000 * n_gpus / n_workers) / 1000)
        self._open = partial(ray.remote(**needs)(_RayWorker).remote, ray.put(setup))
        self._own = threading.local()
        self._workers: list[Any] = []
        self._is_closed = threading.Event()
        # A thread for each actor. One that waits for an actor for which there is no room yet takes no call from the queue.
        self._executor = ThreadPoolExecutor(n_workers, "ray", self._open_worker)

    def submit(self, function: Callable[..., Result], *arguments: Any) -> Future[Result]:
        """Start a call in the next free actor."""
        return self._executor.submit(self._call, partial(function, *arguments))

    def close(self, now: bool = False) -> None:
        """Release the actors; `now` ends them in the midst of a call."""
        import ray

        self._executor.shutdown(wait=not now, cancel_futures=True)
        self._is_closed.set()
        for worker in self._workers:
            ray.kill(worker)
        # A thread that asked for an actor after the cluster was left would connect again: Ray does that by itself.
        for thread in self._executor._threads:
            thread.join(_CONNECT_SECONDS)

    def _open_worker(self) -> None:
        import ray

        worker = self._own.worker = self._open()
        self._workers.append(worker)
        if self._is_closed.is_set():
            ray.kill(worker)
        else:
            self._answers(worker)  # if it does not, its first call fails as well, and says why

    def _call(self, call: Callable[[], Result]) -> Result:
        import ray

        try:
            return self._retry(call)
        except ray.exceptions.RayError as error:
            cause = getattr(error, "cause", None)
            if isinstance(cause, Exception):  # that the call raised
                raise cause from error
            *_, last = str(error).splitlines() or [""]
            raise WorkerLost(f"the Ray cluster failed ({last[:_LONGEST_REASON]})") from error

    def _retry(self, call: Callable[[], Result]) -> Result:
        """Make a call, again where the actor was lost: Ray's own retries may all meet the node that just died."""
        import ray

        worker, lost = self._own.worker, 0
        while True:
            try:
                result: Result = ray.get(worker.call.remote(call))
            except ray.exceptions.RayActorError:
                lost += 1
                if lost > _RETRIES or not self._answers(worker):
                    raise
            else:
                return result

    def _answers(self, worker: Any) -> bool:
        """Wait until an actor answers, on whatever node; return False if it does not. Ray notices late that a node died."""
        import ray

        for _ in range(_UNREACHABLE_SECONDS):
            try:
                ray.get(worker.wait.options(max_task_retries=_RETRIES).remote())
            except ray.exceptions.ActorUnavailableError:
                if self._is_closed.wait(1):
                    return False
            except ray.exceptions.RayError:  # it is dead, and Ray makes no other
                return False
            else:
                return True
        return False


class _RayWorker:
    """What an actor holds."""

    def __init__(self, setup: WorkerSetup) -> None:
        import ray

        self._fault = ""
        try:
            setup.run()
        except PssaError as error:  # raised by each call: Ray makes an actor that cannot be made again and again
            self._fault = f"node {ray.util.get_node_ip_address()}: {error.message}"

    def wait(self) -> None:
        """Return once the actor is there."""

    def call(self, call: Callable[[], Result]) -> Result:
        """Compute a call."""
        if self._fault:
            raise InputError(self._fault)
        return call()


def connect_ray(address: str | None = None) -> Any:
    """Connect to the cluster at `address`, else at RAY_ADDRESS, else to one started on this machine; return the `ray` module.

    :raises MissingExtra: if Ray is not installed.
    :raises InputError: if there is no such cluster.
    """
    for name, value in _RAY_VARIABLES.items():
        os.environ.setdefault(name, value)
    warnings.filterwarnings("ignore", module=r"ray\.")
    ray = import_extra("ray", "ray")
    if not ray.is_initialized():
        _require_listener(address or os.environ.get("RAY_ADDRESS", ""))
        try:
            with _silent_stderr():
                ray.init(address or None, log_to_driver=False, logging_level="ERROR", include_dashboard=False)
        except (ConnectionError, RuntimeError, ValueError) as error:
            reason = str(error)[:_LONGEST_REASON]
            raise InputError(
                f"cannot connect to Ray ({reason}); check {setting('address', option='RAY_ADDRESS')}"
            ) from error
    return ray


def _require_listener(address: str) -> None:
    """Refuse an address at which nothing listens; Ray itself would wait for minutes and then end the process."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not port.isdecimal():
        return
    try:
        socket.create_connection((host, int(port)), _CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise InputError(
            f"no Ray cluster can be reached at {address} ({error}); check {setting('address', option='RAY_ADDRESS')}"
        ) from error


@contextmanager
def _silent_stderr() -> Iterator[None]:
    """Send standard error to nowhere: Ray prints there at its start whatever its log level. It still raises its errors."""
    before, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)
        os.close(nowhere)
