"""Mined words against random words, on toys."""

from __future__ import annotations

from pathlib import Path

from tests.paper.experiments.rooms import FakeLookup
from tests.paper.studies.exhibits.toys import ALL_OF_IT, blind, knowing, row_of, toy_scope

from paper.experiments.cells import Cell, Mining, Place, Training
from paper.experiments.ledger import Record
from paper.studies.exhibits import find

EXHIBIT = find("random-masking")
TNET, ATT = Place("laptop", "tnet", 0), Place("laptop", "tnet_att", 0)


def supervised(way: str, place: Place = ATT) -> Training:
    return Training(place, evidence=(Mining(place, way),))


def test_cells_are_the_rows_of_the_table(tmp_path: Path) -> None:
    assert list(EXHIBIT.cells(toy_scope(tmp_path, "tnet", "tnet_att"))) == [
        Training(TNET),
        Training(ATT),
        Training(ATT, "boosting"),
        Training(ATT, "adaboost"),
        supervised("rm-as"),
        supervised("aw-as"),
        supervised("pg-as"),
    ]


def test_every_family_that_can_be_trained_has_its_rows(tmp_path: Path) -> None:
    (table,) = EXHIBIT.show(toy_scope(tmp_path), FakeLookup())
    names = [row[0] for row in getattr(table, "rows", ())]
    assert [name for name in names if "+" not in str(name)] == ["MN", "TNet", "TNet-ATT", "BERTABSA", "BERTABSA-ATT"]
    assert len(names) == 5 + 3 * 5


def test_mined_words_are_compared_with_none_and_with_random_ones(tmp_path: Path) -> None:
    records: dict[Cell, Record] = {Training(ATT): blind(), supervised("rm-as"): blind(), supervised("pg-as"): knowing()}
    (table,) = EXHIBIT.show(toy_scope(tmp_path, "tnet", "tnet_att"), FakeLookup(records))
    assert row_of(table, "TNet-ATT (+PG-AS)") == (
        *(1, "100.00", "100.00", ALL_OF_IT),
        *("74.49 / 69.67", "+25.51 / +30.33", ALL_OF_IT),
    )
    random = row_of(table, "TNet-ATT (+RM-AS)")
    assert random == (1, "33.33", "16.67", "+0.00 / +0.00", None, None, None)


def test_what_is_missing_is_empty(tmp_path: Path) -> None:
    (table,) = EXHIBIT.show(toy_scope(tmp_path, "tnet_att"), FakeLookup())
    assert row_of(table, "TNet-ATT (+AW-AS)") == (0, None, None, None, "74.18 / 69.28", None, None)


def test_ensembles_of_bert_have_the_numbers_of_this_table(tmp_path: Path) -> None:
    (table,) = EXHIBIT.show(toy_scope(tmp_path, "bertabsa_att"), FakeLookup())
    assert row_of(table, "BERTABSA-ATT (+Boosting)")[4] == "82.16 / 78.96"
    assert row_of(table, "BERTABSA-ATT (+RM-AS)")[4] == "81.80 / 78.29"
