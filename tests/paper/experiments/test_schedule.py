"""The schedule, on a pool that trains nothing: order, reuse, failures, parameters kept while needed; and real pools."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from tests.paper.experiments.rooms import StandIn, tiny_resources

from paper.experiments import schedule
from paper.experiments.cells import Analysis, Cell, Mining, Place, Training, settings
from paper.experiments.ledger import Ledger, Record
from paper.experiments.provenance import Environment
from paper.experiments.schedule import CellSchedule, ScheduleResult, open_pool, plan
from paper.experiments.work import CellJob, execute_cell
from paper.experiments.workspace import Workspace
from pssa.errors import InputError
from pssa.execution import WorkerLost, WorkerPool

HERE = Place("laptop", "memnet", 0)
BASE = Training(HERE)
AW, PG = Mining(HERE, "aw-as"), Mining(HERE, "pg-as")
FINAL = Training(HERE, evidence=AW)


@pytest.fixture
def room(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "out", tiny_resources(tmp_path))


@pytest.fixture
def ledger(room: Workspace) -> Iterator[Ledger]:
    with Ledger.open(room.folder / "cells.jsonl") as ledger:
        yield ledger


def execute(room: Workspace, ledger: Ledger, *cells: Cell, by: Environment | None = None) -> ScheduleResult:
    return CellSchedule(room, ledger, by).execute(cells, WorkerPool(2))


def test_needs_come_first_and_are_shared(room: Workspace, ledger: Ledger) -> None:
    active = Training(HERE, evidence=AW, settings=settings(words="active"))
    order = plan([FINAL, active], room, ledger)
    assert sorted(order, key=str) == sorted([BASE, AW, FINAL, active], key=str)
    assert order.index(BASE) < order.index(AW) < min(order.index(FINAL), order.index(active))


def test_what_the_ledger_has_is_not_done_again(room: Workspace, ledger: Ledger, stand_in: StandIn) -> None:
    execute(room, ledger, FINAL)
    stand_in.jobs.clear()
    outcome = execute(room, ledger, FINAL, BASE)
    assert (stand_in.jobs, outcome.done, outcome.reused) == ([], 0, 2)


def test_parameters_are_kept_while_somebody_needs_them(room: Workspace, ledger: Ledger, stand_in: StandIn) -> None:
    execute(room, ledger, FINAL, Training(HERE, evidence=PG))
    assert {job.cell: job.keep_weights for job in stand_in.jobs}[BASE]
    assert not room.has_weights(BASE)


def test_a_baseline_whose_parameters_are_gone_is_trained_again_for_a_new_mining(
    room: Workspace, ledger: Ledger, stand_in: StandIn
) -> None:
    stand_in.epochs = 7
    execute(room, ledger, FINAL)
    stand_in.jobs.clear()
    stand_in.epochs = 8
    execute(room, ledger, PG, FINAL)
    # As long as the first time, and the outcome that others were compared with stays.
    assert [(job.cell, job.epochs) for job in stand_in.jobs] == [(BASE, 7), (PG, 7)]
    assert (ledger.find(room.key(BASE)) or {})["epochs"] == 7


def test_evidence_that_is_gone_is_mined_again_for_a_new_training_only(
    room: Workspace, ledger: Ledger, stand_in: StandIn
) -> None:
    execute(room, ledger, FINAL)
    room.evidence(AW).unlink()
    assert plan([FINAL, AW], room, ledger) == []
    assert AW in plan([Training(HERE, evidence=AW, rounds=1)], room, ledger)


def test_a_failure_is_told_with_what_it_stops_and_others_go_on(
    room: Workspace, ledger: Ledger, stand_in: StandIn
) -> None:
    look, name = Analysis(BASE, "trust"), "laptop memnet seed 0 mine aw-as"
    stand_in.failing = {name: ValueError("no luck")}
    outcome = execute(room, ledger, FINAL, look)
    assert outcome.failures == {AW: "ValueError: no luck", FINAL: f"needs {name}, which failed"}
    assert ledger.find(room.key(look)) is not None
    assert ledger.find(room.key(FINAL)) is None


def test_what_is_lost_with_a_process_is_tried_once_more_alone(room: Workspace, ledger: Ledger) -> None:
    class Killed(WorkerPool):
        """Two jobs are lost together; every later one is done a little later."""

        def __init__(self) -> None:
            super().__init__(2)
            self.jobs: list[CellJob] = []
            self.futures: list[Future[Any]] = []

        def submit(self, function: Any, *arguments: Any) -> Future[Any]:
            future: Future[Any] = Future()
            (job,) = arguments
            self.jobs.append(job)
            if len(self.jobs) > 2:
                assert all(each.done() for each in self.futures)  # it runs alone
                threading.Timer(0.05, future.set_result, [{"key": job.key, "epochs": 2}]).start()
            self.futures.append(future)
            if len(self.jobs) == 2:
                for each in self.futures:
                    each.set_exception(WorkerLost())
            return future

    others = [Training(Place("laptop", "memnet", seed)) for seed in (1, 2)]
    pool = Killed()
    assert CellSchedule(room, ledger).execute([BASE, *others], pool).failures == {}
    cells = [job.cell for job in pool.jobs]
    assert sorted(cells, key=str) == sorted([BASE, BASE, others[0], others[0], others[1]], key=str)


def test_what_is_lost_twice_has_failed(room: Workspace, ledger: Ledger, stand_in: StandIn) -> None:
    stand_in.failing = {"laptop memnet seed 0 base": WorkerLost()}
    (reason,) = execute(room, ledger, BASE).failures.values()
    assert [job.cell for job in stand_in.jobs] == [BASE, BASE]
    assert "fewer workers" in reason


def test_records_name_the_environment_that_made_them_and_the_device_of_the_worker(
    room: Workspace, ledger: Ledger, stand_in: StandIn
) -> None:
    execute(room, ledger, BASE, by=Environment("abc", "c0ffee", "2.9", "a Ray cluster"))
    record = ledger.find(room.key(BASE)) or {}
    assert record["made"] == {"sources": "abc", "commit": "c0ffee", "torch": "2.9", "device": "a CPU"}
    assert "device" not in record


ROOT = Path(__file__).parents[3]


def job_in(folder: Path) -> CellJob:
    return CellJob(Training(Place("laptop", "memnet", 0)), Workspace(folder / "out", tiny_resources(folder)))


def lasting(record: Record) -> Record:
    """What does not depend on how fast the machine is."""
    return {name: value for name, value in record.items() if name not in ("seconds", "stages", "testing_seconds")}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("slurm", 0, ""), "local or ray"),
        (("local", 0, "10.0.0.1:6379"), "--engine ray"),
        (("local", -1, ""), "must not be negative"),
    ],
)
def test_what_makes_no_sense_is_refused(asked: tuple[str, int, str], said: str) -> None:
    with pytest.raises(InputError, match=said), open_pool(*asked):
        raise AssertionError


def test_a_gpu_takes_a_few_jobs_and_the_cpu_one_for_each_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 12)
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    assert schedule._default_workers("auto") == 8
    assert schedule._default_workers("cpu") == 12


@pytest.mark.slow
def test_processes_give_what_this_process_gives(tmp_path: Path) -> None:
    job = job_in(tmp_path)
    with open_pool("local", 1) as pool:
        here = pool.submit(execute_cell, job).result()
    with open_pool("local", 2) as pool:
        there = pool.submit(execute_cell, job).result()
    assert lasting(here) == lasting(there)


@pytest.mark.slow
@pytest.mark.usefixtures("one_ray_cluster")
def test_a_ray_cluster_gives_what_this_process_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray", reason="the [ray] extra is not installed")
    job = job_in(tmp_path)
    with open_pool("local", 1) as pool:
        here = pool.submit(execute_cell, job).result()
    # Workers of the cluster import the tests' own package too, and the sources beside it.
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(str(ROOT / part) for part in ("", "src")))
    # One of its own: any other that is found on this machine may end before the job does.
    with open_pool("ray", 1, "local") as pool:
        there = pool.submit(execute_cell, job).result()
    assert lasting(here) == lasting(there)


@pytest.mark.slow
def test_a_process_that_is_killed_takes_its_job_along_and_no_later_one(tmp_path: Path) -> None:
    job = job_in(tmp_path)
    with open_pool("local", 1) as pool:
        assert pool.submit(execute_cell, job).result()["epochs"] == 2
        for process in multiprocessing.active_children():
            process.kill()
        lost = pool.submit(execute_cell, job)
        assert lost.exception() is None or isinstance(lost.exception(), WorkerLost)
        assert pool.submit(execute_cell, job).result()["epochs"] == 2
