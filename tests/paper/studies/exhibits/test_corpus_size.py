"""Smaller training corpora, on toys."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.paper.experiments.rooms import FakeLookup, tiny_resources
from tests.paper.studies.exhibits.toys import ALL_OF_IT, blind, carried_out, knowing, row_of, toy_scope

from paper.experiments.cells import Cell, Mining, Place, Training
from paper.experiments.ledger import Record
from paper.experiments.resources import Scope
from paper.studies.exhibit import Figure
from paper.studies.exhibits import find
from paper.studies.pages import drop_empty_rows
from paper.studies.paper import CORPUS_SIZE

EXHIBIT = find("corpus-size")
QUARTER = Place("laptop", "memnet", 0, share=0.25)


def supervised(place: Place, way: str) -> Training:
    return Training(place, evidence=(Mining(place, way),))


def test_cells_are_two_rows_at_three_sizes(tmp_path: Path) -> None:
    expected = []
    for share in (0.25, 0.5, 1.0):
        place = replace(QUARTER, share=share)
        expected += [Training(place), supervised(place, "pg-as")]
    assert list(EXHIBIT.cells(toy_scope(tmp_path, "memnet"))) == expected


def test_at_most_three_seeds_are_trained(tmp_path: Path) -> None:
    found = list(EXHIBIT.cells(toy_scope(tmp_path, "memnet", seeds=5)))
    assert len(found) == 3 * 2 * 3
    assert {cell.place.seed for cell in found} == {0, 1, 2}


def test_a_gain_is_over_the_same_model_on_the_same_part(tmp_path: Path) -> None:
    whole = replace(QUARTER, share=1.0)
    records: dict[Cell, Record] = {
        Training(QUARTER): blind(),
        supervised(QUARTER, "pg-as"): knowing(),
        Training(whole): knowing(),
    }
    figure, table = EXHIBIT.show(toy_scope(tmp_path, "memnet"), FakeLookup(records))
    assert row_of(table, "25%", "MN (+PG-AS)")[:4] == (1, "100.00", "100.00", ALL_OF_IT)
    assert row_of(table, "50%", "MN (+PG-AS)") == (0, None, None, None, None, None)
    assert isinstance(figure, Figure)
    (panel,) = figure.panels
    plain, guided = panel[1]
    assert (panel[0], plain.name, guided.name) == ("LAPTOP", "MN", "MN (+PG-AS)")
    assert (plain.x, guided.x) == ((25.0, 100.0), (25.0,))
    assert plain.y == pytest.approx((100 / 6, 100))


def test_rows_of_bert_stand_beside_the_paper(tmp_path: Path) -> None:
    part: Cell = Training(replace(QUARTER, model="bertabsa_att"))
    _, table = EXHIBIT.show(toy_scope(tmp_path, "bertabsa_att"), FakeLookup({part: knowing()}))
    for share, printed in ((0.25, "25%"), (0.5, "50%"), (1.0, "100%")):
        accuracy, macro_f1 = CORPUS_SIZE[share]["bertabsa_att", "+PG-AS", "laptop"]
        assert row_of(table, printed, "BERTABSA-ATT (+PG-AS)")[4] == f"{accuracy:.2f} / {macro_f1:.2f}"


def test_all_of_train_alone_is_no_outcome(tmp_path: Path) -> None:
    whole: dict[Cell, Record] = {Training(replace(QUARTER, share=1.0)): knowing()}
    figure, table = EXHIBIT.show(toy_scope(tmp_path, "memnet"), FakeLookup(whole))
    assert isinstance(figure, Figure)
    assert figure.panels[0][1] == ()
    assert drop_empty_rows([table]) == ["No outcome yet: MN, LAPTOP."]


def test_families_that_cannot_be_trained_are_left_out(tmp_path: Path) -> None:
    scope = toy_scope(tmp_path)
    bare = replace(scope, resources=replace(scope.resources, encoder=None))
    assert [getattr(part, "name", "") for part in EXHIBIT.show(bare, FakeLookup())] == [
        "corpus-size-memnet",
        "corpus-size-memnet-laptop",
        "corpus-size-tnet_att",
        "corpus-size-tnet_att-laptop",
    ]


@pytest.mark.slow
def test_a_part_of_train_is_trained_for_real(tmp_path: Path) -> None:
    resources = tiny_resources(tmp_path)
    found = carried_out([Training(QUARTER)], resources, tmp_path / "out")
    assert found.records[Training(QUARTER)]["instances"] == 10
    _, table = EXHIBIT.show(Scope(resources, 1, ("memnet",)), found)
    assert row_of(table, "25%", "MN")[0] == 1
