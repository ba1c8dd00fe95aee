"""Gains by how rare opinion words are, on made-up looks."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.paper.experiments.rooms import FakeLookup
from tests.paper.studies.exhibits.looked import look, marked_scope
from tests.paper.studies.exhibits.toys import row_of

from paper.experiments.cells import Cell
from paper.experiments.ledger import Record
from paper.studies.exhibit import Figure
from paper.studies.exhibits import find

EXHIBIT = find("rare-words")
BUCKETS = ("0", "1-2", "3-10", "11-50", "> 50")


def record(*right: int, mass: float = 0.0) -> Record:
    """Ten instances in each bucket, but none in the last; `mass` is the mean attention."""
    found = {
        bucket: {"instances": 10, "right": hits, "mass": 10 * mass, "even": 1.0}
        for bucket, hits in zip(BUCKETS, right, strict=False)
    }
    return {"found": found | {"> 50": {"instances": 0, "right": 0, "mass": 0.0, "even": 0.0}}}


def test_gains_are_told_of_rare_and_of_common_words(tmp_path: Path) -> None:
    # Of thirty rare instances 12 are right and then 18 and 15: gains of 20 and 10 points over two seeds.
    records: dict[Cell, Record] = {
        look("rare_words", "", 0): record(2, 4, 6, 8, mass=0.25),
        look("rare_words", "", 1): record(2, 4, 6, 8, mass=0.25),
        look("rare_words", "+PG-AS", 0): record(6, 6, 6, 7, mass=0.5),
        look("rare_words", "+PG-AS", 1): record(5, 4, 6, 7, mass=0.5),
    }
    gains, *_ = EXHIBIT.show(marked_scope(tmp_path, "memnet", seeds=2), FakeLookup(records))
    assert row_of(gains, "MN (+PG-AS)", "LAPTOP") == (
        *(2, "+15.00 ± 7.07", "-10.00 ± 0.00"),
        *("+25.00 ± 0.00", "+25.00 ± 0.00"),
    )
    assert row_of(gains, "MN (+Human)", "LAPTOP") == (0, None, None, None, None)


def test_a_single_seed_has_no_spread(tmp_path: Path) -> None:
    records: dict[Cell, Record] = {
        look("rare_words"): record(2, 4, 6, 8),
        look("rare_words", "+Human"): record(3, 4, 6, 8),
    }
    gains, _, accuracy, _ = EXHIBIT.show(marked_scope(tmp_path, "memnet"), FakeLookup(records))
    assert row_of(gains, "MN (+Human)", "LAPTOP")[1] == "+3.33"
    assert isinstance(accuracy, Figure)
    assert [line.spread for line in accuracy.panels[0][1]] == [(None,) * 4, (None,) * 4]


def test_buckets_tell_accuracy_and_attention_of_every_method(tmp_path: Path) -> None:
    records: dict[Cell, Record] = {
        look("rare_words"): record(2, 4, 6, 8, mass=0.25),
        look("rare_words", "+Human"): record(9, 9, 9, 9),
    }
    _, table, *_ = EXHIBIT.show(marked_scope(tmp_path, "memnet"), FakeLookup(records))
    assert row_of(table, "0") == (10, 20.0, None, None, 90.0, 25.0, None, None, 0.0, 10.0)
    assert row_of(table, "> 50") == (0, *[None] * 9)


def test_lines_leave_out_buckets_without_instances(tmp_path: Path) -> None:
    records: dict[Cell, Record] = {
        look("rare_words", "", seed): record(2 + seed, 4, 6, 8, mass=0.25) for seed in range(2)
    }
    *_, accuracy, attention = EXHIBIT.show(marked_scope(tmp_path, "memnet", seeds=2), FakeLookup(records))
    assert isinstance(accuracy, Figure)
    assert isinstance(attention, Figure)
    (line,) = accuracy.panels[0][1]
    assert (accuracy.name, attention.name) == ("rare-words-accuracy", "rare-words-attention")
    assert (line.name, line.x) == ("plain", (1.0, 2.0, 3.0, 4.0))
    assert line.y == pytest.approx((25.0, 40.0, 60.0, 80.0))
    assert line.spread == pytest.approx((7.0710678, 0.0, 0.0, 0.0))
    assert attention.panels[0][1][0].y == pytest.approx((25.0,) * 4)
