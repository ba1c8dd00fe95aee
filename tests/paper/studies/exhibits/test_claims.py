"""Claims of the paper with their verdicts, on made-up records."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.paper.experiments.rooms import FakeLookup
from tests.paper.studies.exhibits.looked import one_round, plain
from tests.paper.studies.exhibits.toys import blind, knowing, row_of, toy_scope

from paper.experiments.cells import Analysis, Cell, Mining, Place, Training, settings
from paper.experiments.ledger import Record
from paper.experiments.resources import Scope
from paper.studies.exhibit import Table
from paper.studies.exhibits import find
from paper.studies.exhibits._measures import ClaimResult, verdict

EXHIBIT = find("claims")
PLACE = Place("laptop", "memnet", 0)
PG = Mining(PLACE, "pg-as")
AW = Mining(PLACE, "aw-as")
TWIN = Training(PLACE, evidence=(AW,), settings=settings(gamma=0.0))


def two_data_sets(scope: Scope) -> Scope:
    source = scope.resources.sources["laptop"]
    return replace(scope, resources=replace(scope.resources, sources={"laptop": source, "rest": source}))


@pytest.mark.parametrize(
    ("measured", "told"),
    [
        ((), "not measured"),
        ((None, None), "not measured"),
        ((None, ClaimResult("1", True, (1,))), "holds"),
        ((ClaimResult("1", True, (1,)), ClaimResult("2", True, (2,))), "holds"),
        ((ClaimResult("1", True, (1,)), ClaimResult("2", False, (2,))), "does not hold"),
    ],
)
def test_a_claim_holds_where_all_that_was_measured_says_so(measured: tuple[ClaimResult | None, ...], told: str) -> None:
    assert verdict(measured) == told


def test_tnet_is_trained_to_be_compared_with(tmp_path: Path) -> None:
    assert plain(model="tnet") in set(EXHIBIT.cells(toy_scope(tmp_path, "tnet", "tnet_att")))
    records: dict[Cell, Record] = {plain(seed, "tnet"): knowing() for seed in (0, 1)}
    records |= {plain(seed, "tnet_att"): blind() for seed in (0, 1)}
    counts, table, _ = EXHIBIT.show(toy_scope(tmp_path, "tnet", "tnet_att", seeds=2), FakeLookup(records))
    assert row_of(counts, "scores", "yes") == (1, 1, 0, 0)
    row = row_of(table, "scores", "TNet-ATT is slightly inferior to TNet", "TNet-ATT")
    assert str(row[0]).startswith("-83.33** [")
    assert row[1:] == ("2", 1, "holds", "macro-F1 is below TNet's, p < .05")
    assert isinstance(table, Table)
    assert table.notes[-1].startswith("Differences tested here: 1.")


def test_numbers_and_verdicts_stand_beside_each_claim(tmp_path: Path) -> None:
    records: dict[Cell, Record] = {}
    for data, before, after in (("laptop", blind(), knowing()), ("rest", knowing(), blind())):
        for place in (Place(data, "memnet", seed) for seed in (0, 1)):
            records |= {Training(place): before, Training(place, evidence=(Mining(place, "pg-as"),)): after}
    _, table, _ = EXHIBIT.show(two_data_sets(toy_scope(tmp_path, "memnet", seeds=2)), FakeLookup(records))
    assert isinstance(table, Table)
    assert table.columns == (
        *("about", "claim", "model", "LAPTOP", "REST"),
        *("seeds", "tested", "verdict", "holds when"),
    )
    says = "Partial gradients: supervision significantly enhances all models"
    laptop, rest, *others = row_of(table, "scores", says, "MN")
    assert (str(laptop)[:8], str(rest)[:8], str(rest)[-6:]) == ("+83.33**", "-83.33**", "] (no)")
    assert others[:3] == ["2, 2", 2, "does not hold"]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ((True, True), "holds"),
        ((True, None), "holds"),
        ((True, "chance"), "undecided"),
        ((False, "chance"), "does not hold"),
        ((True, False), "does not hold"),
        ((None, None), "not measured"),
    ],
)
def test_one_contrary_denies_a_claim_and_one_doubt_leaves_it_open(
    found: tuple[bool | str | None, ...], expected: str
) -> None:
    measured = [
        None if each is None else ClaimResult("", None if each == "chance" else bool(each), ()) for each in found
    ]
    assert verdict(measured) == expected


def test_doubt_is_shown() -> None:
    assert ClaimResult("+0.10", None, (0.1,)).field.text == "+0.10 (?)"


def test_what_was_measured_keeps_its_numbers_in_the_order_of_the_text() -> None:
    reading = ClaimResult("+0.50*, -0.25", False, (0.5, -0.25), (0.04, 0.6)).field
    assert reading.text == "+0.50*, -0.25 (no)"
    assert reading.parts == {"holds": False, "number 1": 0.5, "number 2": -0.25, "p 1": 0.04, "p 2": 0.6}


def test_data_alone_can_decide(tmp_path: Path) -> None:
    scope = toy_scope(tmp_path, "memnet")
    scope.resources.sources["laptop"].train.write_text("a huge screen/p\na huge mouse/n\n")
    _, table, _ = EXHIBIT.show(scope, FakeLookup())
    row = row_of(table, "mechanical", "`huge` always occurs in sentences with positive sentiment", None)
    assert row[:4] == ("1 positive, 1 negative, 0 neutral (no)", None, None, "does not hold")


def test_rounds_tell_words_and_attention(tmp_path: Path) -> None:
    def looked(attention: float) -> Record:
        words = {"active": {"words": 4, "attention": attention}, "misleading": {"words": 0, "attention": 0.0}}
        return {"found": {"1": words}}

    records: dict[Cell, Record] = {
        AW: {"rounds": {"1": one_round(4, 2, seen_once=1)}},
        Analysis(TWIN, "round_attention"): looked(1.0),
        Analysis(Training(PLACE, evidence=(AW,)), "round_attention"): looked(2.0),
    }
    *_, table = EXHIBIT.show(toy_scope(tmp_path, "memnet"), FakeLookup(records))
    assert row_of(table, "MN", "LAPTOP", "AW", 1) == (4, 2, 1.0, 0.25, 0.25, 0.5, None, None)
    assert row_of(table, "MN", "LAPTOP", "AW", 2) == (None,) * 8
    assert row_of(table, "MN", "LAPTOP", "PG", 1) == (None,) * 8
