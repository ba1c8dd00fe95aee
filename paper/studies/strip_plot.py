"""Strip plots: small drawings for the first page of results, each a few rows of dots on one axis, as SVG.

The drawing brings its own background in a light and a dark look, so it is legible on any page. Kinds of rows differ in shape as
well as in colour, and every mean is also written as a number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paper.studies.exhibit import StripPlot
from pssa.report.heat_map import clean
from pssa.report.html import make_environment
from pssa.report.svg import text_width

WIDTH = 380
_MARGIN, _LINE, _HEAD, _FOOT = 10, 18, 28, 20  # of the edge, a row, the title and the axis
_SIZE, _SMALL = 12, 11  # of letters
_GAP = 8  # between name, plot and number
_N_TICKS = 4  # about as many on the axis

_ENVIRONMENT = make_environment(Path(__file__).parent / "templates")


def draw_strip_plot(plot: StripPlot) -> str:
    """Return the drawing as SVG, as high as its rows need."""
    axis, is_signed = _Axis.of(plot), plot.form.startswith("{:+")
    bottom = _HEAD + _LINE * len(plot.rows)
    return _ENVIRONMENT.get_template("strip_plot.svg.jinja").render(
        axis=plot.axis,
        label=describe(plot),
        rows=[_row(plot, axis, number) for number in range(len(plot.rows))],
        ticks=[(axis.place(tick), f"{tick:+g}" if is_signed and tick else f"{tick:g}") for tick in axis.ticks],
        origin=axis.place(plot.origin),
        size=(WIDTH, bottom + _FOOT),
        letters=(_SIZE, _SMALL),
        box=(_MARGIN, _HEAD, WIDTH - _MARGIN, bottom),
    )


def describe(plot: StripPlot) -> str:
    """Return the plot in words, for people who cannot see it."""
    return f"{plot.axis}: {'; '.join(f'{row.name} {plot.number(row)}' for row in plot.rows)}"


@dataclass(frozen=True)
class _Axis:
    """The axis: its ends in numbers and on the drawing, and its ticks."""

    low: float
    high: float
    left: float
    right: float
    ticks: tuple[float, ...]

    @classmethod
    def of(cls, plot: StripPlot) -> _Axis:
        far = [row.error or 0.0 for row in plot.rows]
        ends = (
            spot for row, error in zip(plot.rows, far, strict=True) for spot in (row.mean - error, row.mean + error)
        )
        spots = [plot.origin, *ends, *(value for row in plot.rows for value in row.values)]
        low, high = min(spots), max(spots)
        step = _step((high - low) or 1.0)
        first, last = math.floor(low / step + 0.1), math.ceil(high / step - 0.1)
        names = max((text_width(clean(row.name), _SIZE) for row in plot.rows), default=0)
        numbers = max((text_width(plot.number(row), _SIZE, bold=True) for row in plot.rows), default=0)
        return cls(
            min(low, first * step),
            max(high, last * step),
            _MARGIN + names + 2 * _GAP,
            WIDTH - _MARGIN - numbers - 2 * _GAP,
            tuple(round(place * step, 9) for place in range(first, last + 1)),
        )

    def place(self, value: float) -> float:
        """Return where a value lies on the drawing."""
        share = (value - self.low) / ((self.high - self.low) or 1.0)
        return round(self.left + share * (self.right - self.left), 1)


def _step(spread: float) -> float:
    """Return a round distance between ticks: 1, 2 or 5 times a power of ten."""
    rough = spread / _N_TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    return float(power * min((factor for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999), default=10))


def _row(plot: StripPlot, axis: _Axis, number: int) -> dict[str, Any]:
    """Return what the template draws for one row."""
    row = plot.rows[number]
    far = row.error or 0.0
    return {
        "name": row.name,
        "kind": row.kind,
        "x": axis.place(row.mean),
        "y": _HEAD + _LINE * number + _LINE // 2,
        "dots": [axis.place(value) for value in row.values],
        "bar": (axis.place(row.mean - far), axis.place(row.mean + far)) if far else None,
        "number": plot.number(row),
    }
