"""Models in another domain, on made-up records."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.paper.experiments.rooms import FakeLookup
from tests.paper.studies.exhibits.looked import judged
from tests.paper.studies.exhibits.toys import ALL_OF_IT, blind, knowing, row_of, toy_scope

from paper.experiments.cells import Analysis, Cell, Place, Training, settings
from paper.experiments.ledger import Record
from paper.experiments.resources import Scope
from paper.studies.exhibits import find
from paper.studies.exhibits._rows import METHODS

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


def test_random_words_are_trained_as_those_of_the_consensus_are() -> None:
    ours, control = training("+Consensus"), training("+Random")
    assert ours.settings == control.settings
    assert control.evidence[0].needs == ours.evidence
    assert dict(training("+Consensus+Contrast").settings)["augment"] == "contrast"
    assert dict(training("+Consensus, full gamma").settings) == {"gamma": 2.0}


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
