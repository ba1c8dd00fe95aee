"""Few labels, on toys and on records as scripts leave them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.paper.experiments.rooms import FakeLookup, tiny_resources
from tests.paper.studies.exhibits.toys import knowing, row_of, toy_scope

from paper.experiments.resources import Scope
from paper.studies.exhibit import Figure
from paper.studies.exhibits import few_labels, find

EXHIBIT = find("few-labels")


def test_a_run_that_a_training_starts_from_is_a_part_of_its_key(tmp_path: Path) -> None:
    scope = Scope(tiny_resources(tmp_path))
    starting, plain = few_labels.ROWS[0], few_labels.ROWS[3]
    keys = [scope.resources.files_of(row.trainings(scope, "laptop", 16)[0]) for row in (starting, plain)]
    assert "start" in keys[0]
    assert "start" not in keys[1]


def test_ours_stand_beside_the_best_that_setfit_reaches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"name": "SetFit PolarityModel", "encoder": "minilm", "data": "laptop", "size": 16}
    others = tuple(
        {**known, "seed": seed, "max_steps": steps, "test": {"accuracy": 0.5, "macro_f1": f1}}
        for steps, f1 in ((0, 0.25), (400, 0.5))
        for seed in range(2)
    )
    monkeypatch.setattr(few_labels, "_read_others", lambda: others)
    scope = toy_scope(tmp_path, "memnet")
    row = few_labels.ROWS[-1]
    record = {**knowing(), "held_out": {"accuracy": 0.75, "macro_f1": 0.75}}
    cell = row.trainings(scope, "laptop", 16)[0]
    aim, figure, scores, _ = EXHIBIT.show(scope, FakeLookup({cell: record}))
    scores_of_mn = ("MN", "100.00 / 100.00", "+50.00 / +50.00")
    assert row_of(aim, "LAPTOP", 16) == ("50.00 / 50.00", None, None, *scores_of_mn)
    assert str(row_of(scores, "SetFit PolarityModel on minilm, 400 steps")[1]) == "50.00 / 50.00"
    assert isinstance(figure, Figure)
    ((name, lines),) = figure.panels
    assert (name, [line.name for line in lines]) == (
        "LAPTOP",
        ["MN", "SetFit PolarityModel on minilm", "SetFit PolarityModel on minilm, 400 steps"],
    )


def test_the_records_of_others_are_complete() -> None:
    for record in few_labels._read_others():
        assert record["size"] in few_labels.SIZES
        assert set(record["test"]) == {"accuracy", "macro_f1"}
