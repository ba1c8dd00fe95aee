"""Models in another domain, on made-up records."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.paper.experiments.rooms import FakeLookup
from tests.paper.studies.exhibits.looked import judged
from tests.paper.studies.exhibits.toys import ALL_OF_IT, blind, knowing, row_of, toy_scope

from paper.experiments.cells import Analysis, Cell, Place, Training, settings, with_needs
from paper.experiments.ledger import Record
from paper.experiments.resources import Scope
from paper.studies.exhibits import find
from paper.studies.exhibits._rows import METHODS, TRANSFER_ROWS

EXHIBIT = find("transfer")


@pytest.fixture
def scope(tmp_path: Path) -> Scope:
    """LAPTOP and REST, which are the same, with MN; people marked words in both."""
    scope = toy_scope(tmp_path, "memnet", seeds=5)
    source = replace(scope.resources.sources["laptop"], opinion_words=tmp_path)
    return replace(scope, resources=replace(scope.resources, sources={"laptop": source, "rest": source}))


def training(name: str, seed: int = 0) -> Training:
    return METHODS[name].training_in(Place("laptop", "memnet", seed))


def scores(name: str, seed: int = 0) -> Analysis:
    return Analysis(training(name, seed), "scores", on="rest")


def test_a_training_is_one_cell_for_all_test_sets(scope: Scope) -> None:
    found = with_needs(EXHIBIT.cells(scope))
    assert len(found) == len(set(found))
    trainings = [cell for cell in found if isinstance(cell, Training)]
    assert len(trainings) == 2 * 5 * len(TRANSFER_ROWS)
    assert sum(isinstance(cell, Analysis) and cell.what == "scores" for cell in found) == len(trainings)


def test_random_words_are_trained_as_those_of_the_consensus_are() -> None:
    ours, control = training("+Consensus"), training("+Random")
    assert ours.settings == control.settings
    assert control.evidence[0].needs == ours.evidence
    assert dict(training("+Consensus+Contrast").settings)["augment"] == "contrast"
    assert dict(training("+Consensus, full gamma").settings) == {"gamma": 2.0}


def test_gains_are_over_a_second_training_and_count_at_home_apart(scope: Scope) -> None:
    records: dict[Cell, Record] = {}
    for seed in range(2):
        records |= {scores(name, seed): {"found": blind()} for name in TRANSFER_ROWS}
        records |= {training(name, seed): knowing() for name in ("", "again", "+Consensus")}
        records[scores("+Consensus", seed)] = {"found": knowing()}
    aim, gains, there, *_ = EXHIBIT.show(scope, FakeLookup(records))
    assert row_of(aim, "+Consensus") == (
        *("1 of 2", 1, 1, "+83.33", 1, "+83.33"),
        *("+83.33 [+73.33, +94.87]", "+0.00"),
    )
    assert row_of(aim, "+Random")[:3] == ("1 of 2", 0, None)
    row = row_of(gains, "MN", "LAPTOP", "REST")
    assert ALL_OF_IT in row
    assert row_of(there, "MN (+Consensus)")[:4] == (2, "100.00 ± 0.00", "100.00 ± 0.00", "100.00 ± 0.00")


def test_a_pair_counts_once_all_rows_are_measured_and_one_seed_has_no_stars(scope: Scope) -> None:
    records: dict[Cell, Record] = {scores("again"): {"found": blind()}, scores("+Consensus"): {"found": knowing()}}
    aim, gains, *_ = EXHIBIT.show(scope, FakeLookup(records))
    assert row_of(aim, "+Consensus")[0] == "0 of 2"
    assert ALL_OF_IT.replace("*", "") in row_of(gains, "MN", "LAPTOP", "REST")


def test_attention_is_told_apart_on_words_that_training_never_saw(scope: Scope) -> None:
    sums = {"instances": 10, "right": 5, "mass": 2.0, "even": 1.0}
    found = {"0": {**sums, "right": 8}, "1-2": sums, "> 50": {**sums, "mass": 4.0}}
    aopc = {measure: {"aopc": judged(0.5, 0.1)} for measure in ("comprehensiveness", "sufficiency")}
    records: dict[Cell, Record] = {
        Analysis(training(""), "rare_words", on="rest"): {"found": found},
        Analysis(training(""), "faithfulness", settings(limit=100), on="rest"): {
            "found": {"deletion": {"attention": aopc}}
        },
    }
    *_, attention, faithfulness = EXHIBIT.show(scope, FakeLookup(records))
    assert row_of(attention, "MN", "LAPTOP", "REST", "plain") == (
        *(1, 10, 20, "80.00", "50.00", "20.00", "30.00", "10.00", "10.00"),
    )
    assert row_of(faithfulness, "MN", "LAPTOP", "REST", "plain") == (1, "0.500", "0.100", "0.500", "0.100")
