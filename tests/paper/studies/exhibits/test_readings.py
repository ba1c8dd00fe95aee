"""Other readings of the paper, each beside its control, on toys."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.paper.experiments.described import from_description
from tests.paper.experiments.rooms import FakeLookup
from tests.paper.studies.exhibits.toys import ALL_OF_IT, blind, knowing, row_of, toy_scope

from paper.experiments.cells import Cell, Mining, Place, Training, describe, settings
from paper.experiments.ledger import Record
from paper.studies.exhibit import Figure, Table
from paper.studies.exhibits import find
from paper.studies.exhibits._course import COURSE, RISE, estimate
from paper.studies.exhibits.readings import PRESET_MEANS
from pssa.runs.resolve import check_mining, check_supervision
from pssa.runs.settings import Config

RESULTS = Path(__file__).parents[4] / "results"
VECTORS = "6558d35bd40be401"  # those of the pages
READINGS, HELD_OUT = find("readings"), find("readings-held-out")
MN = Place("laptop", "memnet", 0)
AGAIN = Training(MN, evidence=Mining(MN, "aw-as"), settings=settings(gamma=0.0))
DEFAULT = Training(MN, evidence=Mining(MN, "pg-as"))
TWO_ROUNDS = Training(MN, evidence=Mining(MN, "pg-as"), rounds=2)
GOING_ON = settings(final_start="initial")
MINED = {
    "instances": 4,
    "rounds": {
        "1": {"active": 4, "misleading": 1},
        "2": {"active": 2, "misleading": 0},
        "3": {"active": 2, "misleading": 1},
    },
}


def with_seed(cell: Cell, seed: int) -> Cell:
    """The same cell of another seed, with all that it needs."""
    return from_description(json.loads(json.dumps(describe(cell)).replace('"seed": 0', f'"seed": {seed}')))


def test_every_reading_differs_from_the_default_in_one_thing(tmp_path: Path) -> None:
    cells = list(dict.fromkeys(READINGS.cells(toy_scope(tmp_path, "memnet"))))
    default = [cell for cell in cells if isinstance(cell, Training) and not cell.place.settings]
    assert default[:3] == [Training(MN), AGAIN, DEFAULT]
    assert TWO_ROUNDS in default
    assert Training(MN, evidence=Mining(MN, "random", settings(words_of="pg-as"))) in default
    assert Training(MN, evidence=Mining(MN, "pg-as"), settings=GOING_ON) in default
    for cell in default[1:]:
        assert cell.evidence is not None
        chosen = dict(cell.settings) | dict(cell.evidence.settings) | {"model": "memnet", "method": "pg-as"}
        config = Config().updated({name: value for name, value in chosen.items() if name != "words_of"})
        check_mining(config)
        check_supervision(config)


def test_a_reading_is_compared_with_its_own_controls(tmp_path: Path) -> None:
    going_on = Training(MN, evidence=Mining(MN, "pg-as"), settings=GOING_ON)
    longer = Training(MN, evidence=Mining(MN, "pg-as"), settings=settings(gamma=0.0, **dict(GOING_ON)))
    records: dict[Cell, Record] = {AGAIN: blind(), DEFAULT: blind(), TWO_ROUNDS: knowing(), longer: knowing()}
    records |= {Training(MN): blind(), going_on: knowing(), Mining(MN, "pg-as"): MINED}
    summary, *_ = READINGS.show(toy_scope(tmp_path, "memnet"), FakeLookup(records))
    assert str(summary).startswith("No reading")  # of more than one seed
    records |= {with_seed(cell, 1): record for cell, record in records.items()}
    summary, *_, table = READINGS.show(toy_scope(tmp_path, "memnet", seeds=2), FakeLookup(records))
    scores = "100.00 / 100.00"
    seeds, shown, own, both, words = row_of(table, "MN", "K = 2")
    assert (seeds, shown, own, words) == ("2", scores, ALL_OF_IT, "1.50 + 0.25")
    assert str(both).startswith("+83.33 [")
    assert row_of(table, "MN", "+PG-AS, default")[2:4] == ("+0.00 / +0.00", "+0.00 [+0.00, +0.00]")
    assert row_of(table, "MN", "final training continued")[2:4] == ("+0.00 / +0.00", "+0.00 [+0.00, +0.00]")
    assert row_of(table, "MN", "trained again") == ("2", "33.33 / 16.67", None, None, None)
    assert "3 rows" in str(summary)
    assert "MN: K = 2 (+83.33)" in str(summary)


def test_two_controls_are_pooled(tmp_path: Path) -> None:
    records: dict[Cell, Record] = {Training(MN): knowing(), AGAIN: blind(), DEFAULT: knowing()}
    *_, table = READINGS.show(toy_scope(tmp_path, "memnet"), FakeLookup(records))
    assert row_of(table, "MN", "+PG-AS, default")[2] == ALL_OF_IT
    assert str(row_of(table, "MN", "+PG-AS, default")[3]).startswith("+41.67 [")


def test_the_release_is_shown_by_number_of_rounds_with_its_best_epoch_on_test(tmp_path: Path) -> None:
    place = Place("laptop", "tnet_att", 0, settings=settings(preset="release"))
    mined = Mining(place, "aw-as")
    records: dict[Cell, Record] = {
        Training(place): blind(),
        Training(place, evidence=mined, settings=settings(gamma=0.0)): blind(curve=[[0.5, 0.4], [1 / 3, 1 / 6]]),
        Training(place, evidence=mined, rounds=2): knowing(curve=[[1.0, 1.0]]),
    }
    parts = READINGS.show(toy_scope(tmp_path, "tnet_att"), FakeLookup(records))
    (table,) = (part for part in parts if isinstance(part, Table) and part.name == "readings-release")
    assert row_of(table, "0") == (1, "33.33 / 16.67", None, "50.00 / 40.00")
    assert row_of(table, "2")[1::2] == ("100.00 / 100.00", "100.00 / 100.00")
    assert str(row_of(table, "2")[2]).startswith("+83.33 [")
    assert row_of(table, "5") == (None, None, None, None)


def long_training(seed: int, gain: float, **others: Any) -> tuple[Training, Record]:
    """A model of 50 epochs whose macro-F1 is 50 %, and from epoch 21 on higher by a gain in points."""
    place = Place("laptop", "tnet_att", seed, settings=settings(epochs=50))
    curve = [[0.5, 0.5 + (gain / 100 if epoch > 20 else 0.0)] for epoch in range(1, 51)]
    return Training(place, **others), blind(curve=curve)


def records_of_long_trainings(*gains: float) -> dict[Cell, Record]:
    """Both controls, which gain nothing, and the supervised training, by seed."""
    records: dict[Cell, Record] = {}
    for seed, gain in enumerate(gains):
        mined = Mining(long_training(seed, 0)[0].place, "aw-as")
        records |= dict([long_training(seed, 0), long_training(seed, gain, evidence=mined)])
        records |= dict([long_training(seed, 0, evidence=mined, settings=settings(gamma=0.0))])
    return records


def test_the_gain_of_late_epochs_is_set_against_that_of_early_ones(tmp_path: Path) -> None:
    scope = toy_scope(tmp_path, "tnet_att", seeds=2)
    parts = READINGS.show(scope, FakeLookup(records_of_long_trainings(2.0, 4.0)))
    (figure,) = (part for part in parts if isinstance(part, Figure))
    assert figure.panels[0][1][0].y == pytest.approx((0, 0, 0, 3, 3))
    (table,) = (part for part in parts if isinstance(part, Table) and part.name == COURSE)
    shown = dict(zip(table.columns[2:], row_of(table, "defaults", "LAPTOP"), strict=True))
    # Two values 2 apart: a standard error of 1, and 12.71 of them for one degree of freedom.
    assert (shown["seeds"], shown[RISE]) == (2, "+3.00 [-9.71, +15.71]")
    assert shown["21 to 35"] == shown[RISE]


def test_a_seed_without_a_control_or_with_a_short_curve_has_no_course(tmp_path: Path) -> None:
    records = records_of_long_trainings(2.0, 4.0)
    (first, *_), (*_, last) = list(records), list(records)
    records.pop(first)
    records[last] = blind(curve=[[0.5, 0.5]])
    parts = READINGS.show(toy_scope(tmp_path, "tnet_att", seeds=2), FakeLookup(records))
    assert not any(isinstance(part, Table) and part.name == COURSE and part.rows for part in parts)


def test_several_series_count_alike_and_their_errors_add_up() -> None:
    mean, half = estimate([[0.0, 2.0], [5.0, 5.0, 5.0]])
    assert mean == 3.0
    assert half == pytest.approx(12.71 * 1.0 / 2)
    assert estimate([[1.0], [2.0, 4.0]]) == (2.0, None)


def test_a_short_training_without_evidence_is_the_beginning_of_a_long_one() -> None:
    """In the ledger, epoch by epoch: what the page reads from long trainings rests on it."""
    curves: dict[tuple[str, str, int], dict[bool, Any]] = {}
    for line in (RESULTS / "cells.jsonl").read_text("utf-8").splitlines():
        record = json.loads(line)
        cell = record["cell"]
        place = cell.get("place", {})
        is_plain = "evidence" not in cell and not cell.get("settings")
        is_again = cell.get("settings") == {"gamma": 0.0} and [e["method"] for e in cell["evidence"]] == ["aw-as"]
        if cell["kind"] != "training" or place["model"] != "tnet_att" or not (is_plain or is_again):
            continue
        if record["files"]["vectors"] == VECTORS and place.keys() <= {"data", "model", "seed", "settings"}:
            chosen = place.get("settings", {})
            if chosen in ({}, {"epochs": 50}) and cell.get("method", "base") == "base":
                key = place["data"], "again" if is_again else "plain", place["seed"]
                curves.setdefault(key, {})[bool(chosen)] = record["curve"]
    both = [each for each in curves.values() if len(each) == 2]
    assert len(both) > 15
    assert all(each[True][: len(each[False])] == each[False] for each in both)


def test_a_preset_has_the_mean_of_the_pairs_that_have_it(tmp_path: Path) -> None:
    records: dict[Cell, Record] = {}
    for model, supervised in (("memnet", knowing()), ("tnet_att", blind())):
        place = Place("laptop", model, 0, settings=settings(preset="paper"))
        again = Training(place, evidence=Mining(place, "aw-as"), settings=settings(gamma=0.0))
        records |= {Training(place): blind(), again: blind()}
        records[Training(place, evidence=Mining(place, "pg-as"))] = supervised
    parts = READINGS.show(toy_scope(tmp_path, "memnet", "tnet_att"), FakeLookup(records))
    (table,) = (part for part in parts if isinstance(part, Table) and part.name == PRESET_MEANS)
    assert str(row_of(table, "paper", "+PG-AS", 2)[-1]).startswith("+41.67 [")
    assert row_of(table, "release", "+PG-AS", 0)[0] is None


def test_held_out_data_choose_a_gamma_and_open_no_test_file(tmp_path: Path) -> None:
    scope = toy_scope(tmp_path, "memnet", seeds=5)
    cells = [cell for cell in HELD_OUT.cells(scope) if isinstance(cell, Training)]
    assert len(cells) == 3 * 3
    assert all(cell.place.held_out and dict(cell.settings)["final_epochs"] == "search" for cell in cells)
    scores = {0.5: 0.7, 2.0: 0.6, 8.0: 0.5}
    records: dict[Cell, Record] = {}
    for cell in cells:
        score = scores[dict(cell.settings)["gamma"]]
        records[cell] = {"accuracy": score, "macro_f1": score, "epochs": 4}
    (table,) = HELD_OUT.show(scope, FakeLookup(records))
    assert row_of(table, "MN", "0.5") == ("70.00 / 70.00", 4, "70.00", "chosen")
    assert row_of(table, "MN", "2 (default)") == ("60.00 / 60.00", 4, "60.00", "")
    records.pop(cells[0])
    (table,) = HELD_OUT.show(scope, FakeLookup(records))
    assert row_of(table, "MN", "0.5") == ("70.00 / 70.00", 4, None, "")
