"""Claims of the paper with their verdicts, on made-up records."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.paper.experiments.rooms import FakeLookup
from tests.paper.studies.exhibits.toys import row_of, toy_scope

from paper.studies.exhibits import find
from paper.studies.exhibits._measures import ClaimResult, verdict

EXHIBIT = find("claims")


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ((), "not measured"),
        ((None, None), "not measured"),
        ((None, True), "holds"),
        ((True, True), "holds"),
        ((True, "chance"), "undecided"),
        ((False, "chance"), "does not hold"),
        ((True, False), "does not hold"),
    ],
)
def test_one_contrary_denies_a_claim_and_one_doubt_leaves_it_open(
    found: tuple[bool | str | None, ...], expected: str
) -> None:
    measured = [
        None if each is None else ClaimResult("", None if each == "chance" else bool(each), ()) for each in found
    ]
    assert verdict(measured) == expected


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
