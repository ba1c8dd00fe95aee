"""Strip plots: dots lie where their numbers are, and nobody needs to see them to know these."""

from __future__ import annotations

import re

import pytest
from tests.report.documents import parse

from paper.studies.exhibit import StripPlot, StripRow
from paper.studies.strip_plot import WIDTH, draw_strip_plot

ROWS = (
    StripRow("random words", -0.04, (-1.0, 0.92), kind="control"),
    StripRow("ours & theirs", 2.0, (1.0, 3.0)),
    StripRow("the paper", 4.0, kind="paper"),
)


def test_dots_lie_on_one_scale_and_within_the_drawing() -> None:
    found = parse(draw_strip_plot(StripPlot("points", ROWS)))
    low, high, small_low, small_high, ours = (
        float(each.attributes["cx"]) for each in (*found.all("circle")[:2], *found.all("circle")[3:])
    )
    assert low < small_low < ours < small_high < WIDTH
    assert ours - small_low == pytest.approx((high - low) / 1.92, abs=0.2)  # one point each
    assert len(found.all("path", "paper")) == 1


@pytest.mark.parametrize("values", [(0.0,), (5.0, 5.0), (0.001, 0.002), (-40.0, 3000.0)])
def test_any_numbers_have_ticks_in_order(values: tuple[float, ...]) -> None:
    drawing = draw_strip_plot(StripPlot("x", tuple(StripRow("row", value, error=0.1) for value in values)))
    ticks = [float(x) for x in re.findall(r'<text class="quiet" x="([\d.]+)" y="\d+" text-anchor', drawing)]
    assert len(ticks) >= 2
    assert ticks == sorted(set(ticks))
