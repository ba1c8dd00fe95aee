"""The schedule, on an engine that trains nothing: order, reuse, failures, and parameters kept for as long as needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future, wait
from concurrent.futures._base import DoneAndNotDoneFutures
from pathlib import Path

import pytest
from tests.experiments.rooms import tiny_resources

from pssa.experiments import schedule
from pssa.experiments.cells import Cell, Look, Mining, Place, Timing, Training, settings
from pssa.experiments.ledger import Ledger, Record
from pssa.experiments.schedule import carry_out_all, plan
from pssa.experiments.work import Job
from pssa.experiments.workspace import Workroom

HERE = Place("laptop", "memnet", 0)
BASE = Training(HERE)
AW, PG = Mining(HERE, "aw-as"), Mining(HERE, "pg-as")
FINAL = Training(HERE, evidence=(AW,))


class Recorder:
    """An engine that notes jobs, leaves the files of a real one, and fails where it is told to."""

    def __init__(self, workers: int = 2, failing: tuple[Cell, ...] = (), epochs: int = 7) -> None:
        self.workers, self.failing, self.epochs = workers, failing, epochs
        self.jobs: list[Job] = []

    def submit(self, job: Job) -> Future[Record]:
        self.jobs.append(job)
        future: Future[Record] = Future()
        if job.cell in self.failing:
            future.set_exception(ValueError("no luck"))
            return future
        if isinstance(job.cell, Mining):
            job.room.evidence(job.cell).parent.mkdir(parents=True, exist_ok=True)
            job.room.evidence(job.cell).write_text("")
        if job.keep_weights:
            job.room.weights(job.cell).mkdir(parents=True)
            (job.room.weights(job.cell) / "model.safetensors").write_text("")
        future.set_result({"key": job.key, "epochs": self.epochs})
        return future

    @property
    def cells(self) -> list[Cell]:
        return [job.cell for job in self.jobs]


class Open(Recorder):
    """An engine whose jobs are not over at once; it notes how many others were at work when each began."""

    def __init__(self, workers: int = 2) -> None:
        super().__init__(workers)
        self.futures: list[Future[Record]] = []
        self.beside: list[int] = []

    def submit(self, job: Job) -> Future[Record]:
        self.jobs.append(job)
        self.beside.append(sum(not future.done() for future in self.futures))
        self.futures.append(Future())
        return self.futures[-1]

    def finish(self, job: Job, future: Future[Record]) -> None:
        future.set_result({"key": job.key, "epochs": self.epochs})


@pytest.fixture
def room(tmp_path: Path) -> Workroom:
    return Workroom(tmp_path / "out", tiny_resources(tmp_path))


@pytest.fixture
def ledger(room: Workroom) -> Iterator[Ledger]:
    with Ledger.open(room.folder / "cells.jsonl") as ledger:
        yield ledger


def test_needs_come_first_and_are_shared(room: Workroom, ledger: Ledger) -> None:
    active = Training(HERE, evidence=(AW,), settings=settings(words="active"))
    order = plan([FINAL, active], room, ledger)
    assert sorted(order, key=str) == sorted([BASE, AW, FINAL, active], key=str)
    assert order.index(BASE) < order.index(AW) < min(order.index(FINAL), order.index(active))


def test_cells_of_one_place_stay_together(room: Workroom, ledger: Ledger) -> None:
    there = Place("laptop", "memnet", 1)
    order = plan([FINAL, Training(there), PG, Mining(there, "pg-as")], room, ledger)
    assert [cell.place.seed for cell in order] == [0, 0, 0, 0, 1, 1]


def test_finals_get_the_number_of_epochs_of_their_baseline(room: Workroom, ledger: Ledger) -> None:
    engine = Recorder()
    outcome = carry_out_all([FINAL], room, ledger, engine)
    assert {job.cell: job.epochs for job in engine.jobs} == {BASE: 0, AW: 7, FINAL: 7}
    assert (outcome.done, outcome.reused, outcome.failures) == (3, 0, [])


def test_what_the_ledger_has_is_not_done_again(room: Workroom, ledger: Ledger) -> None:
    carry_out_all([FINAL], room, ledger, Recorder())
    engine = Recorder()
    outcome = carry_out_all([FINAL, BASE], room, ledger, engine)
    assert engine.jobs == []
    assert (outcome.done, outcome.reused) == (0, 2)


def test_parameters_are_kept_while_somebody_needs_them(room: Workroom, ledger: Ledger) -> None:
    engine = Recorder(workers=1)
    carry_out_all([FINAL, Training(HERE, evidence=(PG,))], room, ledger, engine)
    assert {job.cell: job.keep_weights for job in engine.jobs}[BASE]
    assert not room.has_weights(BASE)


def test_a_baseline_whose_parameters_are_gone_is_trained_again_for_a_new_mining(room: Workroom, ledger: Ledger) -> None:
    carry_out_all([FINAL], room, ledger, Recorder())
    engine = Recorder(epochs=8)
    carry_out_all([PG, FINAL], room, ledger, engine)
    assert engine.cells == [BASE, PG]
    # As long as the first time, and the outcome that others were compared with stays.
    assert [job.epochs for job in engine.jobs] == [7, 7]
    assert (ledger.find(room.key(BASE)) or {})["epochs"] == 7


def test_evidence_that_is_gone_is_mined_again_for_a_new_training_only(room: Workroom, ledger: Ledger) -> None:
    carry_out_all([FINAL], room, ledger, Recorder())
    room.evidence(AW).unlink()
    assert plan([FINAL, AW], room, ledger) == []
    assert AW in plan([Training(HERE, evidence=(AW,), rounds=1)], room, ledger)


def test_a_failure_is_told_with_what_it_stops_and_others_go_on(room: Workroom, ledger: Ledger) -> None:
    look = Look(BASE, "trust")
    outcome = carry_out_all([FINAL, look], room, ledger, Recorder(failing=(AW,)))
    assert {failure.cell: failure.reason for failure in outcome.failures} == {
        AW: "ValueError: no luck",
        FINAL: "needs laptop memnet seed 0 mine aw-as, which failed",
    }
    assert ledger.find(room.key(look)) is not None
    assert ledger.find(room.key(FINAL)) is None


def test_parameters_that_a_failed_mining_needs_are_kept_for_the_next_run(room: Workroom, ledger: Ledger) -> None:
    carry_out_all([FINAL, PG], room, ledger, Recorder(workers=1, failing=(AW,)))
    assert room.has_weights(BASE)
    engine = Recorder()
    carry_out_all([FINAL, PG], room, ledger, engine)
    assert engine.cells == [AW, FINAL]
    assert not room.has_weights(BASE)


def test_what_is_lost_with_a_process_is_tried_once_more_alone(room: Workroom, ledger: Ledger) -> None:
    class Killed(Open):
        def submit(self, job: Job) -> Future[Record]:
            waiting = super().submit(job)
            if len(self.jobs) == 2:
                # A process of the pool is gone, and with it the jobs of all.
                for future in self.futures:
                    future.set_exception(BrokenExecutor())
            elif len(self.jobs) > 2:
                self.finish(job, waiting)
            return waiting

    others = [Training(Place("laptop", "memnet", seed)) for seed in (1, 2)]
    engine = Killed()
    assert carry_out_all([BASE, *others], room, ledger, engine).failures == []
    assert sorted(engine.cells, key=str) == sorted([BASE, BASE, others[0], others[0], others[1]], key=str)
    assert max(engine.beside[2:]) == 0


def test_what_is_lost_twice_has_failed(room: Workroom, ledger: Ledger) -> None:
    class Killed(Recorder):
        def submit(self, job: Job) -> Future[Record]:
            self.jobs.append(job)
            future: Future[Record] = Future()
            future.set_exception(BrokenExecutor())
            return future

    engine = Killed()
    (failure,) = carry_out_all([BASE], room, ledger, engine).failures
    assert engine.cells == [BASE, BASE]
    assert "fewer --workers" in failure.reason


def test_a_timing_has_the_machine_for_itself(room: Workroom, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Open(workers=4)

    def finish_the_first(at_work: Iterable[Future[Record]], return_when: str) -> DoneAndNotDoneFutures[Record]:
        """Jobs are over one by one, and only when nothing more is handed to the engine."""
        jobs = zip(engine.jobs, engine.futures, strict=True)
        engine.finish(*next((job, future) for job, future in jobs if not future.done()))
        return wait(at_work, return_when=return_when)

    monkeypatch.setattr(schedule, "wait", finish_the_first)
    timing = Timing(HERE, ("base",))
    others = [Training(Place("laptop", "memnet", seed)) for seed in range(3)]
    carry_out_all([others[0], timing, *others[1:]], room, ledger, engine)
    beside = dict(zip(engine.cells, engine.beside, strict=True))
    assert beside[timing] == 0
    assert max(beside.values()) > 0


def test_progress_counts_up_to_the_cells_to_do(room: Workroom, ledger: Ledger) -> None:
    told: list[tuple[int, int]] = []
    carry_out_all([FINAL], room, ledger, Recorder(), lambda done, of, name: told.append((done, of)))
    assert told == [(1, 3), (2, 3), (3, 3)]
