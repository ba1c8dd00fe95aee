"""Worker pools: order, errors, workers that die, and what is refused."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from operator import mul
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pssa import execution
from pssa.errors import InputError, MissingExtra, for_command_line
from pssa.execution import (
    ProcessPool,
    RayPool,
    ThreadPool,
    WorkerLost,
    WorkerPool,
    WorkerSetup,
    connect_ray,
    map_ordered,
    overlap_ordered,
)

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers import the functions of this module."""
    monkeypatch.syspath_prepend(str(ROOT))


class Held:
    """What `hold` left in a worker."""

    value = 0


def hold(value: int) -> None:
    if value < 0:
        raise InputError("value is negative; it must not be")
    Held.value = value


def add_held(number: int) -> int:
    return Held.value + number


def refuse(number: int) -> int:
    raise InputError(f"{number} is refused")


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def n_threads() -> int:
    import torch

    return torch.get_num_threads()


def test_results_keep_their_order_and_few_items_are_held() -> None:
    taken = list[int]()

    def items() -> Iterator[int]:
        for number in range(12):
            taken.append(number)
            yield number

    def slow_at_first(number: int) -> int:
        time.sleep(0.02 if number < 3 else 0)
        return number * 2

    done = list[int]()
    with ThreadPool(3) as pool:
        for result in map_ordered(pool, slow_at_first, items()):
            done.append(result)
            assert len(taken) - len(done) <= 4
    assert done == [2 * number for number in range(12)]


def test_overlapped_work_is_started_ahead_and_finished_in_order() -> None:
    events: list[str] = []

    def start(number: int) -> Callable[[], int]:
        events.append(f"start {number}")
        return lambda: 10 * number

    for result in overlap_ordered(start, range(4), 2):
        events.append(f"done {result}")
    assert events == ["start 0", "start 1", "start 2", "done 0", "start 3", "done 10", "done 20", "done 30"]


@pytest.mark.parametrize("pool", [WorkerPool(), ThreadPool(2)])
def test_an_error_belongs_to_its_call(pool: WorkerPool) -> None:
    with pool:
        failed, sound = pool.submit(refuse, 3), pool.submit(mul, 3, 4)
        assert isinstance(failed.exception(), InputError)
        assert sound.result() == 12


def test_threads_compute_alone_and_leave_torch_as_it_was() -> None:
    before = n_threads()
    with ThreadPool(2) as pool:
        assert pool.submit(n_threads).result() == 1
    assert n_threads() == before


@pytest.mark.slow
def test_processes_are_set_up_and_share_the_calls() -> None:
    with ProcessPool(2, WorkerSetup(hold, (40,))) as pool:
        assert list(map_ordered(pool, add_held, range(5))) == [40, 41, 42, 43, 44]
        assert isinstance(pool.submit(refuse, 1).exception(), InputError)
        assert pool.submit(n_threads).result() == 1


@pytest.mark.slow
@pytest.mark.parametrize("restarts", [False, True])
def test_a_process_that_dies_takes_its_calls_along(restarts: bool) -> None:
    with ProcessPool(2, WorkerSetup(hold, (40,)), restarts) as pool:
        assert isinstance(pool.submit(die).exception(), WorkerLost)
        if restarts:
            assert pool.submit(add_held, 2).result() == 42
        else:
            with pytest.raises(WorkerLost, match="killed"):
                pool.submit(add_held, 2)


def fail_in(pool: WorkerPool) -> None:
    with pool:
        pool.submit(time.sleep, 600)
        pool.submit(mul, 1, 1).result()
        raise KeyboardInterrupt


@pytest.mark.slow
def test_an_error_stops_processes_at_once() -> None:
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        fail_in(ProcessPool(2))
    while any(process.name.startswith("SpawnProcess") for process in multiprocessing.active_children()):
        assert time.monotonic() - began < 300
        time.sleep(0.02)


def test_processes_take_the_gpus_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    monkeypatch.setattr("torch.cuda.set_device", taken.append)
    monkeypatch.setattr("torch.set_num_threads", lambda threads: None)
    monkeypatch.setattr("signal.signal", lambda *given: None)
    n_started = multiprocessing.get_context("spawn").Value("i", 0)
    for _ in range(3):
        execution._start_process(WorkerSetup(uses_gpu=True), n_started)
    assert taken == [0, 1, 0]
    execution._start_process(WorkerSetup(), n_started)
    assert taken == [0, 1, 0]


@pytest.fixture(scope="module")
def cluster(one_ray_cluster: None) -> Iterator[Any]:
    """A cluster on this machine whose workers import this module."""
    pytest.importorskip("ray")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(str(ROOT / part) for part in ("", "src")))
        yield (ray := connect_ray("local"))
        ray.shutdown()


@pytest.mark.slow
def test_a_cluster_gives_what_processes_give(cluster: Any) -> None:
    with RayPool(2, WorkerSetup(hold, (40,)), n_cpus=0.5) as pool:
        assert list(map_ordered(pool, add_held, range(5))) == [40, 41, 42, 43, 44]
        assert isinstance(pool.submit(refuse, 1).exception(), InputError)


@pytest.mark.slow
def test_a_call_that_kills_every_actor_ends(cluster: Any) -> None:
    with RayPool(1, n_cpus=0.5) as pool:
        assert isinstance(pool.submit(die).exception(), WorkerLost)


@pytest.mark.slow
def test_a_setup_that_fails_on_a_node_is_an_error_of_the_call(cluster: Any) -> None:
    with RayPool(1, WorkerSetup(hold, (-1,)), n_cpus=0.5) as pool:
        error = pool.submit(add_held, 1).exception()
    assert isinstance(error, InputError)
    assert re.match(r"node [0-9.]+: value is negative", str(error))


@pytest.mark.slow
def test_workers_for_which_there_is_no_room_hold_nothing_up(cluster: Any) -> None:
    n_cpus = cluster.cluster_resources()["CPU"]
    with RayPool(3, n_cpus=n_cpus) as pool:
        assert list(map_ordered(pool, partial(mul, 2), range(5))) == [0, 2, 4, 6, 8]
        pool.close(now=True)


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"pssa\[ray\]"):
        connect_ray()


def test_an_address_without_a_cluster_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(is_initialized=lambda: False))
    with socket.socket() as taken:  # bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(InputError, match=r"127\.0\.0\.1:\d+ \(.*refused") as refusal:
            connect_ray(f"127.0.0.1:{taken.getsockname()[1]}")
    assert "RAY_ADDRESS" in for_command_line(refusal.value)
