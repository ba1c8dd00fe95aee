"""Wrongly stripped targets as an exhibit, on toys."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.paper.experiments.rooms import FakeLookup, tiny_resources
from tests.paper.studies.exhibits.toys import blind, carried_out, row_of, toy_scope

from paper.experiments.cells import Mining, Place, Training
from paper.experiments.resources import Scope
from paper.studies.exhibits import find
from paper.studies.pages import drop_empty_rows

EXHIBIT = find("strip-bug")
SOUND = Place("laptop", "tnet_att", 0)


def supervised(place: Place, way: str) -> Training:
    return Training(place, evidence=(Mining(place, way),))


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
