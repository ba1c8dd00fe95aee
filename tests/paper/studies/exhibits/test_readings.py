"""Other readings of the paper, each beside its control, on toys."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.paper.experiments.rooms import FakeLookup
from tests.paper.studies.exhibits.toys import row_of, toy_scope

from paper.experiments.cells import Cell, Mining, Place, Training, settings
from paper.experiments.ledger import Record
from paper.studies.exhibits import find
from paper.studies.exhibits._course import courses_of, estimate
from pssa.runs.resolve import check_mining, check_supervision
from pssa.runs.settings import Config

RESULTS = Path(__file__).parents[4] / "results"
VECTORS = "6558d35bd40be401"  # those of the pages
READINGS, HELD_OUT = find("readings"), find("readings-held-out")
MN = Place("laptop", "memnet", 0)


def test_every_reading_differs_from_the_default_in_one_thing(tmp_path: Path) -> None:
    cells = READINGS.cells(toy_scope(tmp_path, "memnet"))
    found = {cell for cell in cells if isinstance(cell, Training) and not cell.place.settings}
    again = Training(MN, evidence=Mining(MN, "aw-as"), settings=settings(gamma=0.0))
    mined = Mining(MN, "pg-as")
    default, two_rounds = Training(MN, evidence=mined), Training(MN, evidence=mined, rounds=2)
    going_on = Training(MN, evidence=mined, settings=settings(final_start="initial"))
    random = Training(MN, evidence=Mining(MN, "random", settings(words_of="pg-as")))
    assert {Training(MN), again, default, two_rounds, going_on, random} <= found
    for cell in found - {Training(MN)}:
        assert cell.evidence is not None
        chosen = dict(cell.settings) | dict(cell.evidence.settings) | {"model": "memnet", "method": "pg-as"}
        config = Config().updated({name: value for name, value in chosen.items() if name != "words_of"})
        check_mining(config)
        check_supervision(config)


def test_a_seed_without_a_control_or_with_a_short_curve_has_no_course() -> None:
    late = {"curve": [[0.5, 0.5 + 0.02 * (epoch > 20)] for epoch in range(1, 51)]}
    flat, short = {"curve": [[0.5, 0.5]] * 50}, {"curve": [[0.5, 0.5]]}
    (course,) = courses_of([{0: late, 1: late, 2: short, 3: late}], [{0: flat, 2: flat, 3: short}])
    assert course.gains == pytest.approx((0, 0, 0, 2, 2))
    assert (course.rise, course.fall) == pytest.approx((2, 0))


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
