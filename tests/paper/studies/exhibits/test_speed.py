"""Costs of the methods, on made-up times."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.paper.experiments.rooms import FakeLookup, tiny_resources
from tests.paper.studies.exhibits.toys import row_of, toy_scope

from paper.experiments.cells import Place, Timing
from paper.experiments.ledger import Record
from paper.experiments.work import CellJob, execute_cell
from paper.experiments.workspace import Workspace
from paper.studies.exhibits import find

EXHIBIT = find("speed")
METHODS = ("base", "kt", "boosting", "adaboost", "aw-as", "pg-as", "consensus")
CELL = Timing(Place("laptop", "tnet_att", 0), METHODS)


def timed() -> Record:
    """A search of 6 s and a training of 4 s, with 2 s around them; rounds of 1 s whose extraction takes 0.6 s each."""
    plain = {"train": 12.0, "test": 2.0, "stages": {"search": 6.0, "initial": 4.0}}
    rounds = {f"round-{number}": 1.0 for number in (2, 3, 4, 5)}
    mines = {f"mine-{number}": 0.6 for number in (1, 2, 3, 4, 5)}
    guided = {"train": 23.0, "test": 3.0, "stages": {"search": 6.0, "initial": 4.0, **rounds, **mines, "final": 4.0}}
    members = {f"member-{number}": float(number) for number in (1, 2, 3, 4, 5)}
    boosted = {"train": 24.0, "test": 10.0, "stages": {"search": 6.0, **members}}
    return {"methods": dict.fromkeys(METHODS, plain) | {"aw-as": guided, "boosting": boosted}}


def test_bertabsa_stands_beside_its_own_numbers(tmp_path: Path) -> None:
    cell = Timing(Place("laptop", "bertabsa", 0), ("base", "kt"))
    whole, _ = EXHIBIT.show(toy_scope(tmp_path, "bertabsa"), FakeLookup({cell: timed()}))
    # 3135.45 / 627.09 and 6.53 / 6.56 in the paper.
    assert row_of(whole, "LAPTOP", "BERTABSA (+KT)") == (12.0, 1.0, 2.0, 1.0, 5.0, 1.0)
    assert len(getattr(whole, "rows", ())) == 2


def test_wholes_are_multiples_of_the_plain_model(tmp_path: Path) -> None:
    whole, _ = EXHIBIT.show(toy_scope(tmp_path, "tnet_att"), FakeLookup({CELL: timed()}))
    assert row_of(whole, "LAPTOP", "TNet-ATT") == (12.0, 1.0, 2.0, 1.0, 1.0, 1.0)
    # 4332.37 / 718.32 and 6.43 / 6.36 in the paper.
    assert row_of(whole, "LAPTOP", "TNet-ATT (+AW-AS)") == (23.0, 1.92, 3.0, 1.5, 6.03, 1.01)
    assert row_of(whole, "LAPTOP", "TNet-ATT (+Consensus)") == (12.0, 1.0, 2.0, 1.0, None, None)


def test_parts_are_multiples_of_one_training(tmp_path: Path) -> None:
    _, parts = EXHIBIT.show(toy_scope(tmp_path, "tnet_att"), FakeLookup({CELL: timed()}))
    assert row_of(parts, "LAPTOP", "+AW-AS", "each training between rounds") == (4, 1.0, 0.25, None)
    # 23 less 6 of search, 4 of the final training and 2 around: 11 in five rounds. 721.88 / 718.32 in the paper.
    assert row_of(parts, "LAPTOP", "+AW-AS", "each mining iteration") == (5, 2.2, 0.55, 1.0)
    assert row_of(parts, "LAPTOP", "+AW-AS", "each extraction of words") == (5, 0.6, 0.15, None)
    # 23 less 18 of trainings and 3 of extractions.
    assert row_of(parts, "LAPTOP", "+AW-AS", "outside of these") == (1, 2.0, 0.5, None)
    assert row_of(parts, "LAPTOP", "+AW-AS", "final training") == (1, 4.0, 1.0, 1.01)
    assert row_of(parts, "LAPTOP", "+Boosting", "each member") == (5, 3.0, 0.75, 1.0)
    assert row_of(parts, "LAPTOP", "plain", "search for the number of epochs") == (1, 6.0, 1.5, None)


@pytest.mark.slow
def test_real_times_fall_into_the_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 1)  # other tests are at work
    few = {"epochs": 1, "hidden": 4, "consensus_models": 2, "consensus_folds": 2}
    resources = tiny_resources(tmp_path)
    resources = replace(resources, settings={**resources.settings, **few})
    cell = Timing(Place("laptop", "tnet_att", 0), METHODS)
    record = execute_cell(CellJob(cell, Workspace(tmp_path / "out", resources)))
    _, parts = EXHIBIT.show(toy_scope(tmp_path, "tnet_att"), FakeLookup({CELL: record}))
    found = [(row[1], row[2], row[3]) for row in getattr(parts, "rows", ()) if row[2] != "outside of these"]
    assert found == [
        ("plain", "initial training", 1),
        ("+KT", "initial training", 1),
        ("+KT", "each further training", 4),
        ("+Boosting", "each member", 5),
        ("+Adaboost", "each member", 5),
        *(
            (method, part, number)
            for method in ("+AW-AS", "+PG-AS")
            for part, number in (
                ("initial training", 1),
                ("each training between rounds", 4),
                ("each extraction of words", 5),
                ("final training", 1),
                ("each mining iteration", 5),
            )
        ),
        ("+Consensus", "each judge", 4),
        ("+Consensus", "final training", 1),
    ]
