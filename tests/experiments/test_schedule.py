"""The schedule, on an engine that trains nothing: order, reuse, failures, and parameters kept for as long as needed."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest
from tests.experiments.rooms import tiny_resources

from pssa.experiments.cells import Cell, Look, Mining, Place, Timing, Training, settings
from pssa.experiments.ledger import Ledger, Record
from pssa.experiments.schedule import carry_out_all, plan
from pssa.experiments.work import Job
from pssa.experiments.workroom import Workroom

HERE = Place("laptop", "memnet", 0)
BASE = Training(HERE)
AW, PG = Mining(HERE, "aw-as"), Mining(HERE, "pg-as")
FINAL = Training(HERE, evidence=(AW,))


class Recorder:
    """An engine that notes jobs, leaves the files of a real one, and fails where it is told to."""

    def __init__(self, workers: int = 2, failing: tuple[Cell, ...] = ()) -> None:
        self.workers, self.failing = workers, failing
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
        future.set_result({"key": job.key, "epochs": 7})
        return future

    @property
    def cells(self) -> list[Cell]:
        return [job.cell for job in self.jobs]


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
    engine = Recorder()
    carry_out_all([PG, FINAL], room, ledger, engine)
    assert engine.cells == [BASE, PG]


def test_evidence_that_is_gone_is_mined_again_for_a_new_training_only(room: Workroom, ledger: Ledger) -> None:
    carry_out_all([FINAL], room, ledger, Recorder())
    room.evidence(AW).unlink()
    assert plan([FINAL], room, ledger) == []
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


def test_a_timing_has_the_machine_for_itself(room: Workroom, ledger: Ledger) -> None:
    class Slow(Recorder):
        at_work = 0
        alone: bool | None = None

        def submit(self, job: Job) -> Future[Record]:
            waiting = super().submit(job)
            if isinstance(job.cell, Timing):
                self.alone = not self.at_work
            return waiting

    engine = Slow(workers=4)
    carry_out_all([BASE, Training(Place("laptop", "memnet", 1)), Timing(HERE, ("base",))], room, ledger, engine)
    assert engine.alone


def test_progress_counts_up_to_the_cells_to_do(room: Workroom, ledger: Ledger) -> None:
    told: list[tuple[int, int]] = []
    carry_out_all([FINAL], room, ledger, Recorder(), lambda done, of, name: told.append((done, of)))
    assert told == [(1, 3), (2, 3), (3, 3)]
