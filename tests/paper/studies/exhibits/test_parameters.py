"""Trained parameters and settings."""

from __future__ import annotations

from pathlib import Path

from tests.paper.experiments.rooms import FakeLookup
from tests.paper.studies.exhibits.toys import knowing, row_of, toy_scope

from paper.experiments.cells import Place, Training
from paper.studies.exhibits import find

EXHIBIT = find("parameters")


def test_a_baseline_of_any_seed_tells_the_count(tmp_path: Path) -> None:
    lookup = FakeLookup({Training(Place("laptop", "tnet", 1)): knowing(parameters=261_253)})
    counts, _ = EXHIBIT.show(toy_scope(tmp_path, "tnet", "memnet", seeds=2), lookup)
    assert getattr(counts, "rows", None) == (("MN", None), ("TNet", 261_253))


def test_settings_stand_side_by_side(tmp_path: Path) -> None:
    _, table = EXHIBIT.show(toy_scope(tmp_path), FakeLookup())
    assert row_of(table, "learning_rate", "BERTABSA-ATT") == ("2e-05", "2e-05", "2e-05")
    assert row_of(table, "learning_rate", "MN") == ("0.001", "0.01", "0.001")
    assert row_of(table, "epsilon of AW-AS", "BERTABSA-ATT") == ("5", "4", "5")
    assert row_of(table, "epochs", "BERTABSA-ATT") == (None, "6, best on test", "6")
    assert row_of(table, "epochs", "TNet-ATT") == (None, "50, best on test", "searched, at most 40")
    assert row_of(table, "expected of an active word", "TNet-ATT") == ("1 / number", "1", "1 / number")
    assert row_of(table, "train_embeddings", "MN") == (None, "yes", "yes")


def test_a_setting_that_a_model_has_not_has_no_row(tmp_path: Path) -> None:
    _, table = EXHIBIT.show(toy_scope(tmp_path), FakeLookup())
    assert [row[1] for row in getattr(table, "rows", ()) if row[0] == "hidden"] == ["TNet-ATT"]
