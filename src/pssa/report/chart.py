"""A small line chart as inline SVG: lines told apart by dashes and by their names, numbers in titles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pssa.report.markup import Markup, escape
from pssa.report.style import ACCENT

__all__ = ["Line", "draw_chart"]

_WIDE, _HIGH = 440, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 92, 12, 34
_DASHES = ("", "7 3", "2 3", "9 3 2 3", "12 4", "1 2")
_GREYS = ("#222", "#555", "#222", "#777", "#555")
_LEAST_GAP = 13  # between the names of lines


@dataclass(frozen=True)
class Line:
    """A named line through points."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class _Frame:
    """From values to places."""

    lowest: float
    highest: float
    last: float  # on the horizontal axis, which begins at 1

    def x(self, value: float) -> float:
        room = _WIDE - _LEFT - _RIGHT
        return _LEFT + room * ((value - 1) / (self.last - 1) if self.last > 1 else 0.5)

    def y(self, value: float) -> float:
        room = _HIGH - _TOP - _BOTTOM
        return _HIGH - _BOTTOM - room * (value - self.lowest) / (self.highest - self.lowest)


def draw_chart(title: str, axis: str, lines: Sequence[Line], unit: str = "") -> Markup:
    """A figure; the first line has the accent colour.

    :param axis: what the horizontal axis counts.
    :param unit: behind every number, such as `%`.
    """
    values = [y for line in lines for _, y in line.points]
    steps = _steps(min(values), max(values))
    frame = _Frame(steps[0], steps[-1], max(x for line in lines for x, _ in line.points))
    parts = [*_axes(frame, steps, axis, unit), *_drawn(frame, lines, unit)]
    said = "; ".join(f"{line.name} ends at {line.points[-1][1]:.4g}{unit}" for line in lines)
    return Markup(
        f"<figure><figcaption>{escape(title)}</figcaption>\n"
        f'<svg viewBox="0 0 {_WIDE} {_HIGH}" width="{_WIDE}" height="{_HIGH}" role="img" '
        f'aria-label="{escape(f"{title}: {said}")}" font-size="11" fill="#333">\n'
        + "\n".join(parts)
        + "\n</svg></figure>"
    )


def _steps(low: float, high: float) -> list[float]:
    """Round numbers from below the lowest value to above the highest."""
    room = high - low or abs(high) or 1.0
    rough = room / 4
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * times for times in (1, 2, 5, 10) if size * times >= rough)
    first, last = math.floor(low / step), math.ceil(high / step)
    return [step * number for number in range(first, max(last, first + 1) + 1)]


def _axes(frame: _Frame, steps: Sequence[float], axis: str, unit: str) -> list[str]:
    left, right, bottom = _LEFT, _WIDE - _RIGHT, _HIGH - _BOTTOM
    parts = [
        f'<path d="M{left} {frame.y(step):.1f}H{right}" stroke="#ddd"/>'
        f'<text x="{left - 6}" y="{frame.y(step) + 4:.1f}" text-anchor="end">{step:.4g}{unit}</text>'
        for step in steps
    ]
    marks = sorted({1, round((1 + frame.last) / 2), round(frame.last)})
    parts += [f'<text x="{frame.x(mark):.1f}" y="{bottom + 15}" text-anchor="middle">{mark}</text>' for mark in marks]
    return [*parts, f'<text x="{(left + right) / 2:.1f}" y="{bottom + 29}" text-anchor="middle">{escape(axis)}</text>']


def _drawn(frame: _Frame, lines: Sequence[Line], unit: str) -> list[str]:
    parts, taken = [], []
    for number, line in enumerate(lines):
        colour = ACCENT if number == 0 else _GREYS[(number - 1) % len(_GREYS)]
        dash = _DASHES[number % len(_DASHES)]
        style = f'stroke="{colour}" stroke-width="2"' + (f' stroke-dasharray="{dash}"' if dash else "")
        path = " ".join(f"{frame.x(x):.1f},{frame.y(y):.1f}" for x, y in line.points)
        parts.append(f'<polyline points="{path}" fill="none" {style}/>')
        parts += [
            f'<circle cx="{frame.x(x):.1f}" cy="{frame.y(y):.1f}" r="{2.5 if len(line.points) < 12 else 1.5}" '
            f'fill="{colour}"><title>{escape(line.name)} {x:g}: {y:.4g}{unit}</title></circle>'
            for x, y in line.points
        ]
        taken.append((frame.y(line.points[-1][1]), line.name, colour, style))
    return parts + _names(taken)


def _names(taken: Sequence[tuple[float, str, str, str]]) -> list[str]:
    """The lines' names at the right, moved apart where they would overlap, with a sample of the line."""
    x = _WIDE - _RIGHT + 6
    places: list[float] = []
    for wanted, *_ in sorted(taken):
        places.append(max(wanted, places[-1] + _LEAST_GAP) if places else wanted)
    up = max(0.0, places[-1] - (_HIGH - _BOTTOM))
    parts = []
    for place, (_, name, colour, style) in zip(places, sorted(taken), strict=True):
        y = place - up
        parts.append(
            f'<path d="M{x} {y:.1f}h16" {style}/><text x="{x + 20}" y="{y + 4:.1f}" fill="{colour}">{escape(name)}</text>'
        )
    return parts
