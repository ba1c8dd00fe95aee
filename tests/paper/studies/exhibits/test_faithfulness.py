"""Faithfulness before and after supervision, on made-up looks."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.paper.experiments.rooms import FakeLookup
from tests.paper.studies.exhibits.looked import judged, look, marked_scope
from tests.paper.studies.exhibits.toys import row_of

from paper.experiments.cells import Cell
from paper.experiments.ledger import Record
from paper.studies.exhibit import Table
from paper.studies.exhibits import find

EXHIBIT = find("faithfulness")
ROWS = ("", "+PG-AS", "+Consensus", "+Human")


def record(comprehensiveness: Record, sufficiency: Record) -> Record:
    """Attention as told; gradients like random order."""
    told = {"comprehensiveness": {"aopc": comprehensiveness}, "sufficiency": {"aopc": sufficiency}}
    random = {measure: {"aopc": judged(0.1, 0.1)} for measure in told}
    ways = {way: {"attention": told, "gradient": random} for way in ("mask", "deletion")}
    return {"found": {"instances": 12, **ways}}


def test_means_stand_beside_random_order(tmp_path: Path) -> None:
    records: dict[Cell, Record] = {
        look("faithfulness", "", 0): record(judged(0.5, 0.1), judged(0.0, 0.3)),
        look("faithfulness", "", 1): record(judged(0.3, 0.1), judged(0.1, 0.2, spread=0.2)),
    }
    deletion, mask = EXHIBIT.show(marked_scope(tmp_path, "memnet", seeds=2), FakeLookup(records))
    for table in (deletion, mask):
        # Comprehensiveness is above chance in both seeds, sufficiency surely below it in one only.
        assert row_of(table, "MN", "attention") == (2, "0.400 +", "0.100", "0.050", "0.250")
        assert row_of(table, "MN", "gradient") == (2, "0.100", "0.100", "0.100", "0.100")
        assert row_of(table, "MN (+Human)", "attention") == (0, None, None, None, None)
    assert isinstance(deletion, Table)
    assert (deletion.name, deletion.title) == ("faithfulness-laptop-deletion", "LAPTOP, words removed by deletion")


@pytest.mark.parametrize(
    ("comprehensiveness", "sufficiency", "fields"),
    [
        (judged(0.0, 0.3), judged(0.0, 0.3), ("0.000 -", "0.000 +")),
        (judged(0.3, 0.0), judged(0.3, 0.0), ("0.300 +", "0.300 -")),
    ],
)
def test_more_is_good_of_one_and_less_of_the_other(
    tmp_path: Path, comprehensiveness: Record, sufficiency: Record, fields: tuple[str, str]
) -> None:
    records: dict[Cell, Record] = {look("faithfulness"): record(comprehensiveness, sufficiency)}
    table, _ = EXHIBIT.show(marked_scope(tmp_path, "memnet"), FakeLookup(records))
    row = row_of(table, "MN", "attention")
    assert (row[1], row[3]) == fields
