"""The rows of the paper's tables, and their scores."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.paper.experiments.rooms import FakeLookup
from tests.paper.studies.exhibits.toys import blind, knowing, toy_scope
from tests.paper.studies.readings import as_read

from paper.experiments.cells import Cell, Place, Training
from paper.experiments.comparison import Gain
from paper.experiments.ledger import Record
from paper.studies.exhibits._rows import (
    METHODS,
    ModelRow,
    Scoreboard,
    format_gain,
)

PLAIN = ModelRow("memnet", METHODS[""])


def test_fields_tell_mean_spread_and_distance_from_the_paper(tmp_path: Path) -> None:
    scope = toy_scope(tmp_path, seeds=2)
    places = [Place("laptop", "memnet", seed) for seed in (0, 1)]
    lookup = FakeLookup({Training(places[0]): blind(), Training(places[1]): knowing()})
    # ExecutionOptions of 1/3 and 1, and of 1/6 and 1; their spreads are the distances over the root of two.
    assert as_read(Scoreboard(scope, lookup).fields(PLAIN, "laptop", (70.0, 60.0))) == (
        *("MN", 2, "66.67 ± 47.14", "58.33 ± 58.93", None),
        *("70.00 / 60.00", "-3.33 / -1.67"),
    )


def test_a_gain_is_of_the_seeds_that_both_have(tmp_path: Path) -> None:
    scope = toy_scope(tmp_path, seeds=2)
    boosted = ModelRow("memnet", METHODS["+Boosting"])
    first, second = (Place("laptop", "memnet", seed) for seed in (0, 1))
    known: dict[Cell, Record] = {
        Training(first): blind(),
        Training(second): knowing(),
        Training(second, "boosting"): knowing(),
    }
    gain = Scoreboard(scope, FakeLookup(known)).gain(boosted, PLAIN, "laptop")
    assert gain is not None
    assert (gain.accuracy, gain.macro_f1, gain.seeds) == (0.0, 0.0, 1)


INTERVAL = {"low macro-F1": -1.5, "high macro-F1": 0.5}


def test_a_gain_is_told_with_stars_and_keeps_its_chances() -> None:
    reading = format_gain(Gain(1.25, -0.5, 0.03, 0.7, 5, -1.5, 0.5))
    assert reading.text == "+1.25* / -0.50"
    assert (
        reading.parts
        == {"accuracy": 1.25, "macro-F1": -0.5, "p accuracy": 0.03, "p macro-F1": 0.7, "seeds": 5} | INTERVAL
    )
    assert (format_gain(None).text, list(format_gain(None).parts)) == ("", list(reading.parts))


def test_a_line_has_the_points_that_were_measured(tmp_path: Path) -> None:
    whole, half = PLAIN, ModelRow("memnet", METHODS[""], share=0.5)
    lookup = FakeLookup({Training(Place("laptop", "memnet", 0)): blind()})
    board = Scoreboard(toy_scope(tmp_path), lookup)
    line = board.line("MN", {50: half, 100: whole}, "laptop")
    assert line is not None
    assert (line.name, line.x, line.spread) == ("MN", (100,), (None,))
    assert line.y == pytest.approx((100 / 6,))
    assert board.line("MN", {50: half}, "laptop") is None


def test_a_point_of_one_seed_has_no_spread_beside_one_of_two(tmp_path: Path) -> None:
    half = ModelRow("memnet", METHODS[""], share=0.5)
    known: dict[Cell, Record] = {Training(Place("laptop", "memnet", seed)): knowing() for seed in (0, 1)}
    known[Training(Place("laptop", "memnet", 0, share=0.5))] = blind()
    line = Scoreboard(toy_scope(tmp_path, seeds=2), FakeLookup(known)).line("MN", {50: half, 100: PLAIN}, "laptop")
    assert line is not None
    # Two seeds that agree do have one: zero.
    assert (line.x, line.spread) == ((50, 100), (None, 0.0))
