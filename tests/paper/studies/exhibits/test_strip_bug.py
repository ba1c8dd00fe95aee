"""Wrongly stripped targets as an exhibit, on toys."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.paper.experiments.rooms import FakeLookup, tiny_resources
from tests.paper.studies.exhibits.toys import ALL_OF_IT, blind, carried_out, knowing, row_of, toy_scope

from paper.experiments.cells import Cell, Mining, Place, Training
from paper.experiments.ledger import Record
from paper.experiments.resources import Scope
from paper.studies.exhibits import find
from paper.studies.pages import drop_empty_rows

EXHIBIT = find("strip-bug")
SOUND = Place("laptop", "tnet_att", 0)
STRIPPED = replace(SOUND, stripped=True)


def supervised(place: Place, way: str) -> Training:
    return Training(place, evidence=(Mining(place, way),))


def test_cells_are_two_rows_on_sound_and_on_stripped_files(tmp_path: Path) -> None:
    expected = [Training(SOUND), Training(STRIPPED), supervised(SOUND, "pg-as"), supervised(STRIPPED, "pg-as")]
    assert list(EXHIBIT.cells(toy_scope(tmp_path, "tnet_att"))) == expected


def test_rows_compare_the_files_and_the_gains_on_each(tmp_path: Path) -> None:
    records: dict[Cell, Record] = {
        Training(SOUND): blind(),
        Training(STRIPPED): knowing(),
        supervised(SOUND, "pg-as"): knowing(),
        supervised(STRIPPED, "pg-as"): knowing(),
    }
    _, table = EXHIBIT.show(toy_scope(tmp_path, "tnet_att"), FakeLookup(records))
    low, high = ("33.33", "16.67"), ("100.00", "100.00")
    assert row_of(table, "TNet-ATT") == (1, *low, *high, ALL_OF_IT, None, None)
    assert row_of(table, "TNet-ATT (+PG-AS)") == (1, *high, *high, "+0.00 / +0.00", ALL_OF_IT, "+0.00 / +0.00")


def test_what_is_missing_is_empty(tmp_path: Path) -> None:
    lookup = FakeLookup({Training(SOUND): blind()})
    _, table = EXHIBIT.show(toy_scope(tmp_path, "tnet_att"), lookup)
    assert row_of(table, "TNet-ATT") == (0, "33.33", "16.67", None, None, None, None, None)
    assert row_of(table, "TNet-ATT (+PG-AS)") == (0, *[None] * 7)


def test_sound_files_alone_are_no_outcome(tmp_path: Path) -> None:
    _, table = EXHIBIT.show(toy_scope(tmp_path, "tnet_att"), FakeLookup({Training(SOUND): blind()}))
    assert drop_empty_rows([table]) == ["No outcome yet: LAPTOP."]


def test_damaged_targets_are_counted(tmp_path: Path) -> None:
    # `nicki` of train, which is negative, loses its n; no other word begins or ends in a letter of its tag.
    damage, *_ = EXHIBIT.show(toy_scope(tmp_path, "tnet_att"), FakeLookup())
    assert row_of(damage, "LAPTOP", "train") == (4, 1, "25.0%")
    # The test's targets end in a number; `thing0`, positive, keeps its zero, since only /0 would take it.
    assert row_of(damage, "LAPTOP", "test") == (12, 0, "0.0%")


@pytest.mark.slow
def test_damaged_files_are_mined_and_trained_for_real(tmp_path: Path) -> None:
    resources = tiny_resources(tmp_path)
    place = Place("laptop", "memnet", 0, stripped=True)
    row = supervised(place, "pg-as")
    found = carried_out([row, *row.needs], resources, tmp_path / "out")
    _, table = EXHIBIT.show(Scope(resources, 1, ("memnet",)), found)
    assert row_of(table, "MN (+PG-AS)")[0] == 1
    assert row_of(table, "MN (+PG-AS)")[-1] is not None
