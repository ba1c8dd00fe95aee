"""Other readings of the paper, each beside its control, on toys."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.paper.experiments.described import from_description
from tests.paper.experiments.rooms import FakeLookup
from tests.paper.studies.exhibits.toys import ALL_OF_IT, blind, knowing, row_of, toy_scope

from paper.experiments.cells import Cell, Mining, Place, Training, describe, settings
from paper.experiments.ledger import Record
from paper.studies.exhibit import Figure, Table, TableLookup
from paper.studies.exhibits import find, readings
from paper.studies.exhibits._rows import NAMES
from paper.studies.pages import TABLES, ShownExhibit
from pssa.runs.resolve import check_mining, check_supervision
from pssa.runs.settings import Config

RESULTS = Path(__file__).parents[4] / "results"
READINGS, HELD_OUT = find("readings"), find("readings-held-out")
MN = Place("laptop", "memnet", 0)
AGAIN = Training(MN, evidence=(Mining(MN, "aw-as"),), settings=settings(gamma=0.0))
DEFAULT = Training(MN, evidence=(Mining(MN, "pg-as"),))
TWO_ROUNDS = Training(MN, evidence=(Mining(MN, "pg-as"),), rounds=2)
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
    assert Training(MN, evidence=(Mining(MN, "random", settings(words_of="pg-as")),)) in default
    assert Training(MN, evidence=(Mining(MN, "pg-as"),), settings=GOING_ON) in default
    assert Training(MN, evidence=(Mining(MN, "pg-as"),), settings=settings(penalty_on="gradient")) in default
    for cell in default[1:]:
        chosen = dict(cell.settings) | dict(cell.evidence[0].settings) | {"model": "memnet", "method": "pg-as"}
        config = Config().updated({name: value for name, value in chosen.items() if name != "words_of"})
        check_mining(config)
        check_supervision(config)


def test_a_search_under_supervision_has_a_control_that_searches_too(tmp_path: Path) -> None:
    cells = set(READINGS.cells(toy_scope(tmp_path, "memnet")))
    mined = (Mining(MN, "pg-as"),)
    assert Training(MN, evidence=mined, settings=settings(final_epochs="search", gamma=0.5)) in cells
    assert Training(MN, evidence=mined, settings=settings(final_epochs="search", gamma=0.0)) in cells


def test_a_reading_is_compared_with_its_own_controls(tmp_path: Path) -> None:
    going_on = Training(MN, evidence=(Mining(MN, "pg-as"),), settings=GOING_ON)
    longer = Training(MN, evidence=(Mining(MN, "pg-as"),), settings=settings(gamma=0.0, **dict(GOING_ON)))
    records: dict[Cell, Record] = {AGAIN: blind(), DEFAULT: blind(), TWO_ROUNDS: knowing(), longer: knowing()}
    records |= {Training(MN): blind(), going_on: knowing(), Mining(MN, "pg-as"): MINED}
    summary, *_ = READINGS.show(toy_scope(tmp_path, "memnet"), FakeLookup(records))
    assert str(summary).startswith("No reading")  # of more than one seed
    records |= {with_seed(cell, 1): record for cell, record in records.items()}
    summary, table, *_ = READINGS.show(toy_scope(tmp_path, "memnet", seeds=2), FakeLookup(records))
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
    _, table, *_ = READINGS.show(toy_scope(tmp_path, "memnet"), FakeLookup(records))
    assert row_of(table, "MN", "+PG-AS, default")[2] == ALL_OF_IT
    assert str(row_of(table, "MN", "+PG-AS, default")[3]).startswith("+41.67 [")


def test_the_release_is_shown_by_number_of_rounds_with_its_best_epoch_on_test(tmp_path: Path) -> None:
    place = Place("laptop", "tnet_att", 0, settings=settings(preset="release"))
    mined = (Mining(place, "aw-as"),)
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


def test_gains_of_long_trainings_are_set_against_those_of_short_ones(tmp_path: Path) -> None:
    records: dict[Cell, Record] = {}
    for epochs in (5, 10, 20, 35, 50, 80):
        place = Place("laptop", "tnet_att", 0, settings=settings(epochs=epochs))
        mined = (Mining(place, "aw-as"),)
        records[Training(place)] = records[Training(place, evidence=mined, settings=settings(gamma=0.0))] = blind()
        records[Training(place, evidence=mined)] = knowing() if epochs > 40 else blind()
    parts = READINGS.show(toy_scope(tmp_path, "tnet_att"), FakeLookup(records))
    (said,) = (part for part in parts[1:] if isinstance(part, str))
    assert "+83.33 points [" in said
    (figure,) = (part for part in parts if isinstance(part, Figure))
    assert figure.panels[0][1][0].y == pytest.approx((0, 0, 0, 0, 250 / 3, 250 / 3))


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


def test_gamma_is_the_one_that_the_held_out_page_chooses() -> None:
    page = ShownExhibit.read(RESULTS / "readings-held-out" / TABLES)
    rows = TableLookup(page.tables).rows("readings-held-out-gamma")
    chosen = {str(row["model"]): float(str(row["gamma"]).split()[0]) for row in rows if row["chosen"]}
    assert chosen == {NAMES[model]: gamma for model, gamma in readings.GAMMA.items()}
