"""Smaller training corpora, on toys."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.paper.experiments.rooms import FakeLookup, tiny_resources
from tests.paper.studies.exhibits.toys import carried_out, knowing, row_of, toy_scope

from paper.experiments.cells import Cell, Mining, Place, Training
from paper.experiments.ledger import Record
from paper.experiments.resources import Scope
from paper.studies.exhibit import Figure
from paper.studies.exhibits import find
from paper.studies.pages import drop_empty_rows

EXHIBIT = find("corpus-size")
QUARTER = Place("laptop", "memnet", 0, share=0.25)


def supervised(place: Place, way: str) -> Training:
    return Training(place, evidence=(Mining(place, way),))


def test_all_of_train_alone_is_no_outcome(tmp_path: Path) -> None:
    whole: dict[Cell, Record] = {Training(replace(QUARTER, share=1.0)): knowing()}
    figure, table = EXHIBIT.show(toy_scope(tmp_path, "memnet"), FakeLookup(whole))
    assert isinstance(figure, Figure)
    assert figure.panels[0][1] == ()
    assert drop_empty_rows([table]) == ["No outcome yet: MN, LAPTOP."]


@pytest.mark.slow
def test_a_part_of_train_is_trained_for_real(tmp_path: Path) -> None:
    resources = tiny_resources(tmp_path)
    found = carried_out([Training(QUARTER)], resources, tmp_path / "out")
    assert found.records[Training(QUARTER)]["instances"] == 10
    _, table = EXHIBIT.show(Scope(resources, 1, ("memnet",)), found)
    assert row_of(table, "25%", "MN")[0] == 1
