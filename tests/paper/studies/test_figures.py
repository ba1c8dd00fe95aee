"""Figures and strip plots: what is drawn, and always the same bytes."""

from __future__ import annotations

import math
import re

import pytest
from defusedxml import ElementTree
from tests.report.documents import parse

from paper.studies.exhibit import Figure, Panel, PlotLine, StripPlot, StripRow
from paper.studies.figures import _canvas, _levels, draw
from paper.studies.strip_plot import WIDTH, draw_strip_plot

FIGURE = Figure(
    "sweep",
    "A sweep",
    "epsilon, $bits$",
    "macro-F1",
    (
        (
            "MN",
            (PlotLine("LAPTOP", (1.0, 2.0, 4.0), (60.0, 61.0, math.nan), (0.5, 1.0, 0.0)), PlotLine("REST", (), ())),
        ),
        ("nothing yet", (PlotLine("LAPTOP", (1.0,), (math.nan,)),)),
    ),
)


@pytest.fixture(scope="module")
def drawn() -> tuple[str, bytes]:
    return draw(FIGURE)


def texts(drawn: tuple[str, bytes]) -> list[str]:
    found = ElementTree.fromstring(drawn[0], forbid_dtd=False).iter("{http://www.w3.org/2000/svg}text")
    return ["".join(element.itertext()).strip() for element in found]


@pytest.mark.slow
def test_a_figure_says_what_is_in_it(drawn: tuple[str, bytes]) -> None:
    said = texts(drawn)
    for text in ("MN", "nothing yet", "LAPTOP", "macro-F1", "epsilon, $bits$"):
        assert said.count(text) == 1
    # Only where something was measured.
    assert [text for text in said if text in ("1", "2", "4")] == ["1", "2"] * 2
    # A line without points has no name; a plot without points says so.
    assert "REST" not in said
    assert said.count("not measured") == 1


@pytest.mark.slow
def test_a_figure_has_no_date_and_no_version(drawn: tuple[str, bytes]) -> None:
    assert drawn[1].startswith(b"\x89PNG")
    assert not re.search(r"dc:date|dc:creator|matplotlib.org", drawn[0])
    assert b"atplotlib" not in drawn[1]


def test_points_without_a_spread_are_outside_of_the_band() -> None:
    line = PlotLine("l", (1.0, 2.0, 3.0, 4.0, 5.0), (1.0,) * 5, (0.5, 0.5, None, 0.5, None))
    svg = draw(Figure("f", "F", "x", "y", (("p", (line,)),)))[0]
    (band,) = re.findall(r'PolyCollection_1">(.*?)</g>', svg, re.DOTALL)
    across = set(re.findall(r"[ML] (\S+)", band))
    assert len(across) == 3  # the first two points, and the fourth alone
    assert svg.count("stroke-opacity: 0.3") == 1  # which is a bar, since a band has no width there


@pytest.mark.slow
def test_the_same_figure_gives_the_same_bytes_whatever_the_user_has_set_up(drawn: tuple[str, bytes]) -> None:
    import matplotlib

    with matplotlib.rc_context({"axes.facecolor": "red", "svg.hashsalt": "other"}):
        assert draw(FIGURE) == drawn
        assert matplotlib.rcParams["axes.facecolor"] == "red"
        assert matplotlib.rcParams["svg.hashsalt"] == "other"


def test_plots_far_apart_have_their_own_levels_of_the_same_length() -> None:
    def panel(low: float, high: float) -> Panel:
        return ("plot", (PlotLine("l", (1.0, 2.0), (low, high), (None, 1.0)),))

    assert _levels([panel(10.0, 13.0), panel(12.0, 15.0), ("empty", ())]) == {}
    assert _levels([("empty", ())]) == {}
    near, far = _levels([panel(10.0, 13.0), panel(60.0, 60.0)]).values()
    assert near[0] < 10 < 14 < near[1] < far[0] < 59 < 61 < far[1]
    assert near[1] - near[0] == pytest.approx(far[1] - far[0])


@pytest.mark.parametrize("name", ["MN {}", "a model with a long name, {}", "{} " + "very " * 40 + "long"])
def test_the_legend_stays_within_the_figure_if_a_name_can(name: str) -> None:
    lines = tuple(PlotLine(name.format(number), (1.0, 2.0), (0.5, 0.6)) for number in range(7))
    canvas = _canvas(Figure("curves", "Curves", "x", "y", (("LAPTOP", lines), ("REST", lines))))
    canvas.draw_without_rendering()
    (legend,) = canvas.legends
    box, columns = legend.get_window_extent(), legend._ncols
    assert columns == 1 or box.width <= canvas.bbox.width
    assert box.y0 >= canvas.axes[0].get_window_extent().y1  # above the plots
    assert columns == {"M": 4, "a": 2, "{": 1}[name[0]]


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
