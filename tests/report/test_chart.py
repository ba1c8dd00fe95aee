"""Line charts as inline SVG."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.documents import parse

from pssa.report.chart import Line, draw_chart

FALLING = Line("final", ((1.0, 1.0), (2.0, 0.5), (3.0, 0.25)))


def test_points_stand_where_their_values_are() -> None:
    (line,) = parse(draw_chart("Loss", "epoch", [FALLING]).source).all("polyline")
    # The frame is 300 wide from 48 on; 0.2 to 1.0, the round numbers around the values, are 194 high from 206 up.
    places = [tuple(map(float, point.split(","))) for point in line.attributes["points"].split()]
    assert places == [
        pytest.approx((48, 12)),
        pytest.approx((198, 206 - 194 * 0.3 / 0.8), abs=0.1),
        pytest.approx((348, 206 - 194 * 0.05 / 0.8), abs=0.1),
    ]


def test_every_point_has_its_number_in_a_title_and_the_last_is_said() -> None:
    found = parse(draw_chart("Loss <of> it", "epoch", [FALLING], "%").source)
    assert [title.text for title in found.all("title")] == ["final 1: 1%", "final 2: 0.5%", "final 3: 0.25%"]
    (drawing,) = found.all("svg")
    assert (drawing.attributes["role"], drawing.attributes["aria-label"]) == (
        "img",
        "Loss <of> it: final ends at 0.25%",
    )
    assert found.all("figcaption")[0].text == "Loss <of> it"


def test_lines_differ_by_dashes_and_by_their_names() -> None:
    lines = [Line(f"line {number}", ((1.0, float(number)), (2.0, 0.0))) for number in range(1, 5)]
    found = parse(draw_chart("Chart", "epoch", lines).source)
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
    line = Line("values", tuple((float(x), y) for x, y in enumerate(values, start=1)))
    found = parse(draw_chart("Chart", "epoch", [line]).source)
    for point in found.all("circle"):
        assert 47.9 <= float(point.attributes["cx"]) <= 348.1
        assert 11.9 <= float(point.attributes["cy"]) <= 206.1
    assert all(math.isfinite(float(text.attributes["y"])) for text in found.all("text"))
