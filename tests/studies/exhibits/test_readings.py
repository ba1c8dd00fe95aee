"""Other readings of the paper, each beside its control, on toys."""

from __future__ import annotations

from pathlib import Path

from tests.experiments.rooms import FakeLookup
from tests.studies.exhibits.toys import ALL_OF_IT, blind, knowing, row_of, toy_scope

from pssa.experiments.cells import Cell, Mining, Place, Training, settings
from pssa.experiments.ledger import Record
from pssa.runs.config import Config
from pssa.runs.defaults import check_mining, check_supervision
from pssa.studies.exhibits import find

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


def test_every_reading_differs_from_the_default_in_one_thing(tmp_path: Path) -> None:
    cells = list(READINGS.cells(toy_scope(tmp_path, "memnet")))
    assert len(set(cells)) == len(cells) == 11
    assert cells[:2] == [AGAIN, DEFAULT]
    assert TWO_ROUNDS in cells
    assert Training(MN, evidence=(Mining(MN, "random", settings(words_of="pg-as")),)) in cells
    assert Training(MN, evidence=(Mining(MN, "pg-as"),), settings=GOING_ON) in cells
    for cell in cells:
        assert isinstance(cell, Training)
        chosen = dict(cell.settings) | dict(cell.evidence[0].settings) | {"model": "memnet", "method": "pg-as"}
        config = Config().updated({name: value for name, value in chosen.items() if name != "words_of"})
        check_mining(config)
        check_supervision(config)


def test_the_release_has_its_preset_and_every_number_of_rounds(tmp_path: Path) -> None:
    place = Place("laptop", "tnet_att", 0, settings=settings(preset="release"))
    cells = [cell for cell in READINGS.cells(toy_scope(tmp_path, "tnet_att")) if cell.place == place]
    assert [(cell.rounds, cell.settings) for cell in cells if isinstance(cell, Training)] == [
        (0, settings(gamma=0.0)),
        *((rounds, ()) for rounds in (1, 2, 3, 4)),
        (0, ()),
    ]


def test_an_encoder_reads_the_paper_to_the_letter(tmp_path: Path) -> None:
    cells = list(READINGS.cells(toy_scope(tmp_path, "bertabsa_att", seeds=5)))
    letter = [cell for cell in cells if cell.place.settings == settings(preset="paper")]
    assert [cell.place.seed for cell in letter] == [0, 1, 2]
    assert len(cells) == 4 * 3


def test_a_reading_is_compared_with_its_own_control(tmp_path: Path) -> None:
    going_on = Training(MN, evidence=(Mining(MN, "pg-as"),), settings=GOING_ON)
    longer = Training(MN, evidence=(Mining(MN, "pg-as"),), settings=settings(gamma=0.0, **dict(GOING_ON)))
    records: dict[Cell, Record] = {AGAIN: blind(), DEFAULT: blind(), TWO_ROUNDS: knowing(), longer: knowing()}
    records |= {going_on: knowing(), Mining(MN, "pg-as"): MINED}
    summary, table, _ = READINGS.show(toy_scope(tmp_path, "memnet"), FakeLookup(records))
    scores = "100.00 / 100.00"
    assert row_of(table, "MN", "K = 2") == ("1", scores, ALL_OF_IT, ALL_OF_IT, "1.50 + 0.25")
    assert row_of(table, "MN", "+PG-AS, default")[2:] == ("+0.00 / +0.00", None, "2.00 + 0.50")
    assert row_of(table, "MN", "final training continued") == (
        *("1", scores, "+0.00 / +0.00", ALL_OF_IT),
        "2.00 + 0.50",
    )
    assert row_of(table, "MN", "again") == ("1", "33.33 / 16.67", None, None, None)
    assert "3 rows" in str(summary)
    assert "MN: K = 2 (+83.33)" in str(summary)


def test_the_release_is_shown_by_number_of_rounds_with_its_best_epoch_on_test(tmp_path: Path) -> None:
    place = Place("laptop", "tnet_att", 0, settings=settings(preset="release"))
    mined = (Mining(place, "aw-as"),)
    records: dict[Cell, Record] = {
        Training(place, evidence=mined, settings=settings(gamma=0.0)): blind(curve=[[0.5, 0.4], [1 / 3, 1 / 6]]),
        Training(place, evidence=mined, rounds=2): knowing(curve=[[1.0, 1.0]]),
    }
    *_, table = READINGS.show(toy_scope(tmp_path, "tnet_att"), FakeLookup(records))
    assert row_of(table, 0) == (1, "33.33 / 16.67", None, "50.00 / 40.00")
    assert row_of(table, 2) == (1, "100.00 / 100.00", ALL_OF_IT, "100.00 / 100.00")
    assert row_of(table, 5) == (None, None, None, None)


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
