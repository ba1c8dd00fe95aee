"""One interface: a job in this process, in others and on a Ray cluster comes to the same record."""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest
from tests.experiments.rooms import tiny_resources

from pssa.errors import InputError
from pssa.experiments import engines
from pssa.experiments.cells import Place, Training
from pssa.experiments.engines import open_engine
from pssa.experiments.ledger import Record
from pssa.experiments.work import Job
from pssa.experiments.workspace import Workroom

ROOT = Path(__file__).parents[2]


def job_in(folder: Path) -> Job:
    return Job(Training(Place("laptop", "memnet", 0)), Workroom(folder / "out", tiny_resources(folder)))


def lasting(record: Record) -> Record:
    """What does not depend on how fast the machine is."""
    return {name: value for name, value in record.items() if name not in ("seconds", "stages", "testing_seconds")}


def test_a_failure_is_the_futures(tmp_path: Path) -> None:
    job = Job(Training(Place("laptop", "no such model", 0)), job_in(tmp_path).room)
    with open_engine("local", 1) as engine:
        assert isinstance(engine.submit(job).exception(), InputError)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("slurm", 0, ""), "local or ray"),
        (("local", 0, "10.0.0.1:6379"), "--engine ray"),
        (("local", -1, ""), "must not be negative"),
    ],
)
def test_what_makes_no_sense_is_refused(asked: tuple[str, int, str], said: str) -> None:
    with pytest.raises(InputError, match=said), open_engine(*asked):
        raise AssertionError


def test_a_gpu_takes_a_few_jobs_and_the_cpu_one_for_each_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 12)
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    assert engines._usual_workers("auto") == 8
    assert engines._usual_workers("cpu") == 12


def test_processes_take_the_gpus_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    monkeypatch.setattr("torch.cuda.set_device", taken.append)
    monkeypatch.setattr("torch.set_num_threads", lambda threads: None)
    monkeypatch.setattr("signal.signal", lambda *given: None)
    begun = multiprocessing.get_context("spawn").Value("i", 0)
    for _ in range(3):
        engines._begin_process(1, begun)
    assert taken == [0, 1, 0]


@pytest.mark.slow
def test_processes_give_what_this_process_gives(tmp_path: Path) -> None:
    job = job_in(tmp_path)
    with open_engine("local", 1) as engine:
        here = engine.submit(job).result()
    with open_engine("local", 2) as engine:
        there = engine.submit(job).result()
    assert lasting(here) == lasting(there)


@pytest.mark.slow
@pytest.mark.usefixtures("one_ray_cluster")
def test_a_ray_cluster_gives_what_this_process_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray", reason="the [ray] extra is not installed")
    job = job_in(tmp_path)
    with open_engine("local", 1) as engine:
        here = engine.submit(job).result()
    # Workers of the cluster import the tests' own package too, and the sources beside it.
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(str(ROOT / part) for part in ("", "src")))
    # One of its own: any other that is found on this machine may end before the job does.
    with open_engine("ray", 1, "local") as engine:
        there = engine.submit(job).result()
    assert lasting(here) == lasting(there)


@pytest.mark.slow
def test_a_process_that_is_killed_takes_its_job_along_and_no_later_one(tmp_path: Path) -> None:
    job = job_in(tmp_path)
    with open_engine("local", 2) as engine:
        assert engine.submit(job).result()["epochs"] == 2
        for process in multiprocessing.active_children():
            process.kill()
        lost = engine.submit(job)
        assert lost.exception() is None or isinstance(lost.exception(), BrokenProcessPool)
        assert engine.submit(job).result()["epochs"] == 2
