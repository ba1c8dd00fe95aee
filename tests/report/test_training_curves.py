"""From the record of every epoch to charts."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.documents import Element, parse

from pssa.report.html import render
from pssa.report.training_curves import Curve, lay_out_chart, stage_curves, training_section
from pssa.training import EpochRecord


def epoch(stage: str, number: int, loss: float, dev: float | None = None, penalty: float = 0.0) -> EpochRecord:
    return EpochRecord(stage, number, loss, penalty, 0.5, dev, dev)


def loss_of(record: EpochRecord) -> float:
    return record.loss


def test_stages_are_lines_the_last_training_first() -> None:
    history = [epoch("search", 1, 3.0), epoch("initial", 1, 2.0), epoch("initial", 2, 1.0), epoch("final", 1, 4.0)]
    assert stage_curves(history, loss_of) == [
        ("final", ((1.0, 4.0),)),
        ("initial", ((1.0, 2.0), (2.0, 1.0))),
        ("search", ((1.0, 3.0),)),
    ]


def test_rounds_follow_one_another() -> None:
    history = [epoch("round-2", 1, 1.0), epoch("round-2", 2, 2.0), epoch("round-10", 1, 4.0), epoch("round-3", 1, 3.0)]
    assert stage_curves(history, loss_of) == [("rounds", ((1.0, 1.0), (2.0, 2.0), (3.0, 3.0), (4.0, 4.0)))]


def test_stages_that_do_the_same_work_are_one_line_through_their_means() -> None:
    history = [
        epoch("initial-fold-1", 1, 1.0),
        epoch("initial-fold-2", 1, 3.0),
        epoch("round-2-fold-1", 1, 5.0),
        epoch("round-2-fold-2", 1, 7.0),
        epoch("seed-1-fold-1", 1, 1.0),
        epoch("seed-1-fold-2", 1, 2.0),
        epoch("seed-2-fold-1", 1, 6.0),
        epoch("member-1", 1, 1.0),
        epoch("member-2", 1, 2.0),
    ]
    assert stage_curves(history, loss_of) == [
        ("judges (3)", ((1.0, 3.0),)),
        ("member (2)", ((1.0, 1.5),)),
        ("miners (2)", ((1.0, 2.0),)),
        ("rounds (2)", ((1.0, 6.0),)),
    ]


def test_what_is_missing_or_no_number_is_not_drawn() -> None:
    history = [epoch("search", 1, float("nan")), epoch("search", 2, 1.0, 0.5)]
    assert stage_curves(history, loss_of) == [("search", ((1.0, 1.0),))]
    assert stage_curves(history, lambda record: record.dev_macro_f1) == [("search", ((1.0, 0.5),))]
    assert stage_curves(history, lambda record: None) == []


def test_the_section_has_a_chart_for_each_number_that_there_is() -> None:
    plain = parse(training_section([epoch("final", 1, 1.0), epoch("final", 2, 0.5)]).html)
    assert len(plain.all("svg")) == 2
    history = [epoch("search", 1, 1.0, 0.25), epoch("final", 1, 0.5, penalty=0.125)]
    full = parse(training_section(history).html)
    assert len(full.all("svg")) == 4
    (numbers,) = full.all("details")
    rows = [[cell.text for cell in row.children] for row in numbers.all("tr")]
    assert rows[1:] == [
        ["search", "1", "1.0000", "0.0000", "50.0 %", "25.0 %", "25.0 %"],
        ["final", "1", "0.5000", "0.1250", "50.0 %", "", ""],
    ]


def test_a_long_history_is_cut_and_says_so() -> None:
    found = training_section([epoch(f"member-{number}", 1, 1.0) for number in range(450)]).html
    assert len(parse(found).all("tr")) == 401
    assert "50 more are in history.jsonl" in found


def draw_chart(title: str, curves: list[Curve], unit: str = "") -> Element:
    chart = lay_out_chart(title, "epoch", curves, unit)
    return parse(render("sections/training.html.jinja", charts=[chart], epochs=("", (), ()))).all("figure")[0]


FALLING = ("final", ((1.0, 1.0), (2.0, 0.5), (3.0, 0.25)))


def test_points_stand_where_their_values_are() -> None:
    (line,) = draw_chart("Loss", [FALLING]).all("polyline")
    # The frame is 300 wide from 48 on; 0.2 to 1.0, the round numbers around the values, are 194 high from 206 up.
    places = [tuple(map(float, point.split(","))) for point in line.attributes["points"].split()]
    assert places == [
        pytest.approx((48, 12)),
        pytest.approx((198, 206 - 194 * 0.3 / 0.8), abs=0.1),
        pytest.approx((348, 206 - 194 * 0.05 / 0.8), abs=0.1),
    ]


def test_lines_differ_by_dashes_and_by_their_names() -> None:
    lines: list[Curve] = [(f"line {number}", ((1.0, float(number)), (2.0, 0.0))) for number in range(1, 5)]
    found = draw_chart("Chart", lines)
    dashes = [line.attributes.get("stroke-dasharray") for line in found.all("polyline")]
    assert dashes[0] is None
    assert len(set(dashes)) == 4
    names = [text for text in found.all("text") if text.text.startswith("line ")]
    places = sorted(float(name.attributes["y"]) for name in names)
    assert len(names) == 4
    # All four end at the same point, and still their names do not overlap or leave the picture.
    assert all(below - above >= 12 for above, below in pairwise(places))
    assert places[-1] < 240


@given(st.lists(st.floats(-1e6, 1e6).map(lambda value: round(value, 6)), min_size=1, max_size=30))
def test_any_values_stay_in_the_picture(values: list[float]) -> None:
    line = ("values", tuple((float(x), y) for x, y in enumerate(values, start=1)))
    found = draw_chart("Chart", [line])
    for point in found.all("circle"):
        assert 47.9 <= float(point.attributes["cx"]) <= 348.1
        assert 11.9 <= float(point.attributes["cy"]) <= 206.1
    assert all(math.isfinite(float(text.attributes["y"])) for text in found.all("text"))
