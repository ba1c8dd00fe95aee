"""The schedule, on a pool that trains nothing: order, reuse, failures, parameters kept while needed; and real pools."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from tests.paper.experiments.rooms import tiny_resources

from paper.experiments import schedule
from paper.experiments.cells import Analysis, Cell, Mining, Place, Training, settings
from paper.experiments.ledger import Ledger, Record
from paper.experiments.provenance import Environment
from paper.experiments.schedule import CellSchedule, open_pool, plan
from paper.experiments.work import CellJob, execute_cell
from paper.experiments.workspace import Workspace
from pssa.errors import InputError
from pssa.execution import WorkerLost, WorkerPool

HERE = Place("laptop", "memnet", 0)
BASE = Training(HERE)
AW, PG = Mining(HERE, "aw-as"), Mining(HERE, "pg-as")
FINAL = Training(HERE, evidence=AW)


class Recorder(WorkerPool):
    """An engine that notes jobs, leaves the files of a real one, and fails where it is told to."""

    def __init__(self, workers: int = 2, failing: tuple[Cell, ...] = (), epochs: int = 7) -> None:
        super().__init__(workers)
        self.failing, self.epochs = failing, epochs
        self.jobs: list[CellJob] = []

    def submit(self, function: Any, *arguments: Any) -> Future[Any]:
        (job,) = arguments
        self.jobs.append(job)
        future: Future[Record] = Future()
        if job.cell in self.failing:
            future.set_exception(ValueError("no luck"))
            return future
        if isinstance(job.cell, Mining):
            job.workspace.evidence(job.cell).parent.mkdir(parents=True, exist_ok=True)
            job.workspace.evidence(job.cell).write_text("")
        if job.keep_weights:
            job.workspace.weights(job.cell).mkdir(parents=True)
            (job.workspace.weights(job.cell) / "model.safetensors").write_text("")
        future.set_result({"key": job.key, "epochs": self.epochs})
        return future

    def close(self, now: bool = False) -> None:
        pass

    @property
    def cells(self) -> list[Cell]:
        return [job.cell for job in self.jobs]


class Open(Recorder):
    """An engine whose jobs are not over at once; it notes how many others were at work when each began."""

    def __init__(self, workers: int = 2) -> None:
        super().__init__(workers)
        self.futures: list[Future[Record]] = []
        self.beside: list[int] = []

    def submit(self, function: Any, *arguments: Any) -> Future[Any]:
        (job,) = arguments
        self.jobs.append(job)
        self.beside.append(sum(not future.done() for future in self.futures))
        self.futures.append(Future())
        return self.futures[-1]

    def finish(self, job: CellJob, future: Future[Record]) -> None:
        future.set_result({"key": job.key, "epochs": self.epochs})


@pytest.fixture
def room(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "out", tiny_resources(tmp_path))


@pytest.fixture
def ledger(room: Workspace) -> Iterator[Ledger]:
    with Ledger.open(room.folder / "cells.jsonl") as ledger:
        yield ledger


def test_needs_come_first_and_are_shared(room: Workspace, ledger: Ledger) -> None:
    active = Training(HERE, evidence=AW, settings=settings(words="active"))
    order = plan([FINAL, active], room, ledger)
    assert sorted(order, key=str) == sorted([BASE, AW, FINAL, active], key=str)
    assert order.index(BASE) < order.index(AW) < min(order.index(FINAL), order.index(active))


def test_what_the_ledger_has_is_not_done_again(room: Workspace, ledger: Ledger) -> None:
    CellSchedule(room, ledger).execute([FINAL], Recorder())
    engine = Recorder()
    outcome = CellSchedule(room, ledger).execute([FINAL, BASE], engine)
    assert engine.jobs == []
    assert (outcome.done, outcome.reused) == (0, 2)


def test_parameters_are_kept_while_somebody_needs_them(room: Workspace, ledger: Ledger) -> None:
    engine = Recorder(workers=1)
    CellSchedule(room, ledger).execute([FINAL, Training(HERE, evidence=PG)], engine)
    assert {job.cell: job.keep_weights for job in engine.jobs}[BASE]
    assert not room.has_weights(BASE)


def test_a_baseline_whose_parameters_are_gone_is_trained_again_for_a_new_mining(
    room: Workspace, ledger: Ledger
) -> None:
    CellSchedule(room, ledger).execute([FINAL], Recorder())
    engine = Recorder(epochs=8)
    CellSchedule(room, ledger).execute([PG, FINAL], engine)
    assert engine.cells == [BASE, PG]
    # As long as the first time, and the outcome that others were compared with stays.
    assert [job.epochs for job in engine.jobs] == [7, 7]
    assert (ledger.find(room.key(BASE)) or {})["epochs"] == 7


def test_evidence_that_is_gone_is_mined_again_for_a_new_training_only(room: Workspace, ledger: Ledger) -> None:
    CellSchedule(room, ledger).execute([FINAL], Recorder())
    room.evidence(AW).unlink()
    assert plan([FINAL, AW], room, ledger) == []
    assert AW in plan([Training(HERE, evidence=AW, rounds=1)], room, ledger)


def test_a_failure_is_told_with_what_it_stops_and_others_go_on(room: Workspace, ledger: Ledger) -> None:
    look = Analysis(BASE, "trust")
    outcome = CellSchedule(room, ledger).execute([FINAL, look], Recorder(failing=(AW,)))
    assert outcome.failures == {AW: "ValueError: no luck", FINAL: "needs laptop memnet seed 0 mine aw-as, which failed"}
    assert ledger.find(room.key(look)) is not None
    assert ledger.find(room.key(FINAL)) is None


def test_what_is_lost_with_a_process_is_tried_once_more_alone(room: Workspace, ledger: Ledger) -> None:
    class Killed(Open):
        def submit(self, function: Any, *arguments: Any) -> Future[Any]:
            (job,) = arguments
            waiting = super().submit(function, job)
            if len(self.jobs) == 2:
                # A process of the pool is gone, and with it the jobs of all.
                for future in self.futures:
                    future.set_exception(WorkerLost())
            elif len(self.jobs) > 2:
                self.finish(job, waiting)
            return waiting

    others = [Training(Place("laptop", "memnet", seed)) for seed in (1, 2)]
    engine = Killed()
    assert CellSchedule(room, ledger).execute([BASE, *others], engine).failures == {}
    assert sorted(engine.cells, key=str) == sorted([BASE, BASE, others[0], others[0], others[1]], key=str)
    assert max(engine.beside[2:]) == 0


def test_what_is_lost_twice_has_failed(room: Workspace, ledger: Ledger) -> None:
    class Killed(Recorder):
        def submit(self, function: Any, *arguments: Any) -> Future[Any]:
            (job,) = arguments
            self.jobs.append(job)
            future: Future[Record] = Future()
            future.set_exception(WorkerLost())
            return future

    engine = Killed()
    (reason,) = CellSchedule(room, ledger).execute([BASE], engine).failures.values()
    assert engine.cells == [BASE, BASE]
    assert "fewer workers" in reason


def test_records_name_the_environment_that_made_them(room: Workspace, ledger: Ledger) -> None:
    CellSchedule(room, ledger, Environment("abc", "c0ffee", "2.9", "a CPU")).execute([BASE], Recorder())
    made = {"sources": "abc", "commit": "c0ffee", "torch": "2.9", "device": "a CPU"}
    assert (ledger.find(room.key(BASE)) or {})["made"] == made


def test_the_device_is_that_of_the_worker(room: Workspace, ledger: Ledger) -> None:
    class Elsewhere(Recorder):
        def submit(self, function: Any, *arguments: Any) -> Future[Any]:
            future = super().submit(function, *arguments)
            future.result()["device"] = "its GPU"
            return future

    CellSchedule(room, ledger, Environment("abc", device="a Ray cluster")).execute([BASE], Elsewhere())
    record = ledger.find(room.key(BASE)) or {}
    assert record["made"]["device"] == "its GPU"
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
