"""The sweep of the entropy threshold, on toys."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.paper.experiments.rooms import FakeLookup
from tests.paper.studies.exhibits.toys import blind, knowing, row_of, toy_scope

from paper.experiments.cells import Cell, Mining, Place, Training, settings
from paper.experiments.ledger import Record
from paper.studies.exhibit import Figure
from paper.studies.exhibits import find

EXHIBIT = find("epsilon")
PLACE = Place("laptop", "memnet", 0, held_out=True)
EPSILONS = (1.0, 2.0, 3.0, 4.0, 5.0)


def mining(epsilon: float, place: Place = PLACE) -> Mining:
    return Mining(place, "pg-as", settings(epsilon=epsilon))


def training(epsilon: float, place: Place = PLACE) -> Training:
    return Training(place, evidence=(mining(epsilon, place),))


def mined(active: tuple[int, ...], misleading: tuple[int, ...], with_active: int) -> Record:
    """Of a mining in ten instances; a number for each round."""
    rounds = {
        str(number): {"active": right, "misleading": wrong}
        for number, (right, wrong) in enumerate(zip(active, misleading, strict=True), start=1)
    }
    return {"instances": 10, "with_active": with_active, "rounds": rounds}


def test_numbers_tell_scores_gains_and_words(tmp_path: Path) -> None:
    records: dict[Cell, Record] = {Training(PLACE): blind(), training(3.0): knowing()}
    records[mining(3.0)] = mined((6, 3), (1, 0), 7)
    *_, table = EXHIBIT.show(toy_scope(tmp_path, "memnet"), FakeLookup(records))
    assert row_of(table, "MN (+PG-AS)", "LAPTOP", 3.0) == (
        *(1, "100.00", "100.00", "+66.67 / +83.33"),
        *(0.9, 0.1, "70.0%"),
    )
    assert row_of(table, "MN (+PG-AS)", "LAPTOP", 4.0) == (0, *[None] * 6)
    assert len(getattr(table, "rows", ())) == 5


def test_curves_have_the_points_that_were_measured(tmp_path: Path) -> None:
    other = replace(PLACE, seed=1)
    records: dict[Cell, Record] = {training(2.0): knowing(), training(5.0): blind()}
    records |= {mining(2.0): mined((4,), (2,), 4), mining(2.0, place=other): mined((8,), (2,), 8)}
    records[mining(5.0)] = mined((9,), (1,), 9)
    scores, words, *_ = EXHIBIT.show(toy_scope(tmp_path, "memnet", seeds=2), FakeLookup(records))
    assert isinstance(scores, Figure)
    assert isinstance(words, Figure)
    assert [title for title, _ in scores.panels] == ["MN (+PG-AS)"]
    ((_, (curve,)),) = scores.panels
    assert (curve.name, curve.x) == ("LAPTOP", (2.0, 5.0))
    assert curve.y == pytest.approx((100, 100 / 6))
    assert curve.spread == (None, None)  # one seed has none
    # 6 and 10 words in ten instances: 0.6 and 1.0.
    (counted,) = words.panels[0][1]
    assert counted.x == (2.0, 5.0)
    assert counted.y == pytest.approx((0.8, 1.0))
    assert counted.spread[0] == pytest.approx(0.2 * 2**0.5)
    assert counted.spread[1:] == (None,)
    assert "MN (+AW-AS) 3, " in scores.notes[0]


def test_the_best_threshold_is_the_lowest_of_equals(tmp_path: Path) -> None:
    records: dict[Cell, Record] = {training(epsilon): blind() for epsilon in EPSILONS}
    records |= {training(epsilon): knowing() for epsilon in (4.0, 5.0)}
    _, _, chosen, _ = EXHIBIT.show(toy_scope(tmp_path, "memnet"), FakeLookup(records))
    assert row_of(chosen, "MN (+PG-AS)") == (3.0, 4.0, 4.0)


def test_thresholds_are_compared_over_the_seeds_that_all_have(tmp_path: Path) -> None:
    records: dict[Cell, Record] = {training(epsilon): blind() for epsilon in EPSILONS}
    other = replace(PLACE, seed=1)
    records |= {training(2.0): knowing(), training(2.0, place=other): blind()}
    # A better mean, but only since the other seed is an easy one.
    records |= {training(5.0): blind(macro_f1=0.5), training(5.0, place=other): knowing()}
    _, _, chosen, _ = EXHIBIT.show(toy_scope(tmp_path, "memnet", seeds=2), FakeLookup(records))
    assert row_of(chosen, "MN (+PG-AS)") == (3.0, 2.0, 2.0)


def test_a_sweep_with_gaps_chooses_nothing(tmp_path: Path) -> None:
    records: dict[Cell, Record] = {training(epsilon): knowing() for epsilon in EPSILONS[:-1]}
    _, _, chosen, _ = EXHIBIT.show(toy_scope(tmp_path, "memnet"), FakeLookup(records))
    assert row_of(chosen, "MN (+PG-AS)") == (3.0, None, None)
