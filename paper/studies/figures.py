"""Figures drawn by matplotlib, as SVG and PNG; the same figure always gives the same bytes.

Curves differ in colour, dashes and marks, so that they can be told apart in greyscale. The colours are those of Okabe and Ito,
which people with any common colour vision can tell apart.
"""

from __future__ import annotations

import io
import itertools
import math
from collections.abc import Sequence
from typing import Any

from matplotlib import rc_context, style
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Canvas

from paper.studies.exhibit import Figure, Panel, PlotLine

_COLOURS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9", "#6b7280")
_DASHES = ("-", "--", "-.", ":", (0, (7, 2)), (0, (5, 1, 1, 1, 1, 1)), (0, (3, 1)), (0, (1, 1)))
_MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
_BESIDE = 3  # plots in a row
_FAR_APART = 2.0  # range of all plots, in ranges of the widest one, from which each plot has its own level
_MAX_TICKS = 10  # on the horizontal axis, if all are to be named
_WIDE, _HIGH, _LEGEND = 3.4, 2.7, 0.7  # of a plot and of the legend, in inches
_LEGEND_COLUMNS, _LEGEND_ROW = 4, 0.18  # at most, and the height of a further row, in inches
_SETTINGS = {
    "svg.hashsalt": "pssa",  # names of shapes follow from it; without it they are random
    "svg.fonttype": "none",  # text stays text, which can be searched and read aloud
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Arial", "Helvetica"],
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e5e5e5",
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
}


def draw(figure: Figure) -> tuple[str, bytes]:
    """Return a figure as SVG and PNG."""
    # The style does not depend on the user's configuration of matplotlib.
    with style.context("default", after_reset=True), rc_context(_SETTINGS):
        canvas = _canvas(figure)
        svg, png = io.StringIO(), io.BytesIO()
        canvas.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
        canvas.savefig(png, format="png", dpi=160, metadata={"Software": None})
    return svg.getvalue(), png.getvalue()


def _canvas(figure: Figure) -> Any:
    across = 2 if len(figure.panels) == 4 else min(_BESIDE, max(1, len(figure.panels)))
    down = max(1, math.ceil(len(figure.panels) / across))
    canvas = Canvas(figsize=(_WIDE * across, _HIGH * down + _LEGEND), layout="constrained")
    FigureCanvasAgg(canvas)  # without pyplot there is no global state and no window
    levels = _levels(figure.panels)
    plots = list(canvas.subplots(down, across, sharex=True, sharey=not levels, squeeze=False).flat)
    styles = _styles(figure.panels)
    for plot, panel in zip(plots, figure.panels, strict=False):
        _draw_panel(plot, panel, styles)
        if figure.zero:
            plot.axhline(0, color="#555", linewidth=0.8, zorder=1)
    for plot in plots[len(figure.panels) :]:
        plot.set_axis_off()
    for plot in plots[max(0, len(figure.panels) - across) : len(figure.panels)]:
        plot.tick_params(labelbottom=True)
    _label_ticks(plots[0], figure)
    for place, ends in levels.items():
        plots[place].set_ylim(*ends)
    canvas.supxlabel(_plain(figure.x_label), fontsize=10)
    canvas.supylabel(_plain(figure.y_label), fontsize=10)
    _add_legend(canvas, plots)
    return canvas


def _styles(panels: Sequence[Panel]) -> dict[str, dict[str, Any]]:
    """Return the style of each curve by name, the same in every plot."""
    names = dict.fromkeys(line.name for _, lines in panels for line in lines)
    styles = itertools.cycle(zip(_COLOURS, _DASHES, _MARKS, strict=True))
    named = zip(names, styles, strict=False)
    return {name: {"color": colour, "linestyle": dash, "marker": mark} for name, (colour, dash, mark) in named}


def _draw_panel(plot: Any, panel: Panel, styles: dict[str, dict[str, Any]]) -> None:
    title, lines = panel
    plot.set_title(_plain(title))
    for line in lines:
        x, y, spread = _finite(line)
        if not x:
            continue
        plot.plot(x, y, label=_plain(line.name), **styles[line.name])
        _draw_spread(plot, x, y, spread, styles[line.name]["color"])
    if not plot.lines:
        plot.text(0.5, 0.5, "not measured", transform=plot.transAxes, ha="center", va="center", color="#555")


def _draw_spread(plot: Any, x: Sequence[float], y: Sequence[float], spread: Sequence[float], colour: str) -> None:
    """Draw a band over neighbouring points with a deviation, and a bar where no neighbour has one."""
    low, high = ([value + sign * far for value, far in zip(y, spread, strict=True)] for sign in (-1, 1))
    if any(map(math.isfinite, spread)):
        plot.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
    around = [math.nan, *spread, math.nan]
    alone = [
        place
        for place, (before, own, after) in enumerate(zip(around, spread, around[2:], strict=False))
        if math.isfinite(own) and math.isnan(before) and math.isnan(after)
    ]
    for place in alone:
        plot.plot([x[place]] * 2, [low[place], high[place]], color=colour, alpha=0.3, linewidth=4)


def _finite(line: PlotLine) -> tuple[list[float], list[float], list[float]]:
    """Return the points that were measured; a missing deviation is NaN, which is not drawn."""
    kept = [place for place, y in enumerate(line.y) if math.isfinite(y)]
    given = line.spread or (None,) * len(line.y)
    spread = [math.nan if far is None else far for far in given]
    return [line.x[place] for place in kept], [line.y[place] for place in kept], [spread[place] for place in kept]


def _levels(panels: Sequence[Panel]) -> dict[int, tuple[float, float]]:
    """Return the ends of the vertical axis of plots that lie far apart, all of the same length; nothing if they share one."""
    ends = {place: _ends(lines) for place, (_, lines) in enumerate(panels) if any(_finite(line)[0] for line in lines)}
    widest = max((high - low for low, high in ends.values()), default=0.0)
    low, high = (pick(end[side] for end in ends.values()) if ends else 0.0 for side, pick in enumerate((min, max)))
    if high - low <= _FAR_APART * widest:
        return {}
    half = 0.55 * (widest or 1.0)
    return {place: (sum(end) / 2 - half, sum(end) / 2 + half) for place, end in ends.items()}


def _ends(lines: Sequence[PlotLine]) -> tuple[float, float]:
    """Return the lowest and the highest point of curves, with their deviations."""
    points = [(y, 0.0 if math.isnan(far) else far) for line in lines for _, y, far in zip(*_finite(line), strict=True)]
    return min(y - far for y, far in points), max(y + far for y, far in points)


def _label_ticks(plot: Any, figure: Figure) -> None:
    """Label the measured places of the axis, if there are not too many; the other plots share it."""
    places = sorted({x for _, lines in figure.panels for line in lines for x in _finite(line)[0]})
    if 0 < len(places) <= _MAX_TICKS:
        plot.set_xticks(places, [_plain(figure.tick_label(place)) for place in places])


def _add_legend(canvas: Any, plots: Sequence[Any]) -> None:
    """Draw one legend above all plots."""
    named: dict[str, Any] = {}
    for plot in plots:
        for handle, name in zip(*plot.get_legend_handles_labels(), strict=True):
            named.setdefault(name, handle)
    # As many columns as fit: long names need a line of their own.
    for n_columns in range(min(_LEGEND_COLUMNS, len(named)), 0, -1):
        legend = canvas.legend(named.values(), named.keys(), loc="outside upper center", ncols=n_columns, frameon=False)
        if n_columns == 1 or legend.get_window_extent().width <= canvas.bbox.width:
            more_rows = math.ceil(len(named) / n_columns) - math.ceil(len(named) / _LEGEND_COLUMNS)
            canvas.set_figheight(canvas.get_figheight() + more_rows * _LEGEND_ROW)
            return
        legend.remove()


def _plain(text: str) -> str:
    """Escape dollars, which would begin a formula."""
    return text.replace("$", r"\$")
