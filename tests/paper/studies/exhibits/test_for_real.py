"""Cells of some exhibits carried out for real, in miniature: what they record is what the exhibit reads."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.paper.experiments.rooms import marked_resources, tiny_resources
from tests.paper.studies.exhibits.toys import carried_out, row_of

from paper.experiments.cells import Mining, Place, Training
from paper.experiments.resources import Scope
from paper.studies.exhibits import correction, find


@pytest.mark.slow
def test_corrections_are_trained_and_measured_for_real(tmp_path: Path) -> None:
    resources = marked_resources(tmp_path)
    scope = Scope(resources, 1, ("memnet",))
    (place,) = scope.places("memnet", "laptop")
    trainings = [correction._training(place, count, order) for count, order in ((0, "random"), (25, "useful"))]
    cells = [measure.cell(training) for training in trainings for measure in correction._MEASURES]
    lookup = carried_out(cells, resources, tmp_path / "out")
    assert set(lookup.records) == set(cells)
    stress = lookup(cells[-1])
    assert stress is not None
    assert stress["found"]["instances"] == 20 == len(stress["found"]["right"])


@pytest.mark.slow
def test_damaged_files_are_mined_and_trained_for_real(tmp_path: Path) -> None:
    resources = tiny_resources(tmp_path)
    place = Place("laptop", "memnet", 0, stripped=True)
    row = Training(place, evidence=Mining(place, "pg-as"))
    found = carried_out([row, *row.needs], resources, tmp_path / "out")
    _, table = find("strip-bug").show(Scope(resources, 1, ("memnet",)), found)
    assert row_of(table, "MN (+PG-AS)")[0] == 1
    assert row_of(table, "MN (+PG-AS)")[-1] is not None
