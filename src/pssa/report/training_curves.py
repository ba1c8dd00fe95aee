"""Training curves from the record of every epoch: one chart per number, one line per kind of stage.

Stages that do the same work, such as the folds of cross-fitting or the members of an ensemble, share a line through their means.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean
from typing import Any

from pssa.display import percent
from pssa.report.heat_map import ACCENT
from pssa.report.sections import ReportSection, make_section
from pssa.training import EpochRecord

Curve = tuple[str, tuple[tuple[float, float], ...]]  # a name, and the points of the line
_Value = Callable[[EpochRecord], float | None]
_KINDS = {"round": "rounds", "round-fold": "rounds", "initial-fold": "miners", "seed-fold": "judges"}
_FIRST = ("final", "initial", "search")  # the order of lines; others follow
_MAX_LINES = 6
_MAX_ROWS = 400
_CHARTS: tuple[tuple[str, str, _Value], ...] = (
    ("Cross-entropy on the training data", "", lambda record: record.loss),
    ("Accuracy on the training data, dropout on", " %", lambda record: 100 * record.accuracy),
    ("Macro-F1 on the development data", " %", lambda record: record.dev_macro_f1 and 100 * record.dev_macro_f1),
    ("Penalty of the attention, before gamma", "", lambda record: record.penalty or None),
)

_WIDTH, _HEIGHT = 440, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 348, 12, 206  # edges of the plot
_DASHES = ("", "7 3", "2 3", "9 3 2 3", "12 4", "1 2")
_GREYS = ("#222", "#555", "#222", "#777", "#555")
_LETTER = 6.5  # width of a letter in the name of a line, roughly
_NAME_GAP = 13  # least distance between the names of lines


def training_section(history: Sequence[EpochRecord]) -> ReportSection:
    """Show charts, and all their numbers in a table."""
    found = [(title, stage_curves(history, value), unit) for title, unit, value in _CHARTS]
    charts = [lay_out_chart(title, "epoch", curves[:_MAX_LINES], unit) for title, curves, unit in found if curves]
    rows = [
        [
            record.stage,
            record.epoch,
            f"{record.loss:.4f}",
            f"{record.penalty:.4f}",
            percent(record.accuracy),
            "" if record.dev_accuracy is None else percent(record.dev_accuracy),
            "" if record.dev_macro_f1 is None else percent(record.dev_macro_f1),
        ]
        for record in history[:_MAX_ROWS]
    ]
    n_more = len(history) - len(rows)
    caption = f"Every epoch{f'; {n_more} more are in history.jsonl' if n_more > 0 else ''}"
    columns = ("stage", "epoch", "loss", "penalty", "accuracy", "dev accuracy", "dev macro-F1")
    return make_section("training", "Training", charts=charts, epochs=(caption, columns, rows))


def stage_curves(history: Iterable[EpochRecord], value: _Value) -> list[Curve]:
    """Return a curve for each kind of stage that has the value, the last training first.

    A curve is the mean over the stages of its kind at every round and epoch.
    """
    found: dict[str, dict[tuple[int, int], list[float]]] = defaultdict(lambda: defaultdict(list))
    stages: dict[str, set[str]] = defaultdict(set)
    for record in history:
        number = value(record)
        # Losses of a diverged training are not finite.
        if number is not None and math.isfinite(number):
            # `round-2-fold-1` is one of the rounds, `seed-1-fold-2` one of the judges.
            name = re.sub(r"-\d+", "", record.stage)
            kind = _KINDS.get(name, name)
            found[kind][_round(record.stage), record.epoch].append(number)
            stages[kind].add(record.stage)
    curves = []
    for kind in sorted(found, key=lambda kind: (_FIRST.index(kind) if kind in _FIRST else len(_FIRST), kind)):
        points = tuple((float(x), fmean(found[kind][place])) for x, place in enumerate(sorted(found[kind]), start=1))
        n_parallel = len(stages[kind]) // len({_round(stage) for stage in stages[kind]})
        curves.append((f"{kind} ({n_parallel})" if n_parallel > 1 else kind, points))
    return curves


def _round(stage: str) -> int:
    found = re.match(r"round-(\d+)", stage)
    return int(found[1]) if found else 0


def lay_out_chart(title: str, axis: str, curves: Sequence[Curve], unit: str = "") -> dict[str, Any]:
    """Compute the places of everything in a chart, for the template; the first curve has the accent colour."""
    values = [y for _, points in curves for _, y in points]
    ticks = _ticks(min(values), max(values))
    last = max(x for _, points in curves for x, _ in points)

    def x_of(value: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * ((value - 1) / (last - 1) if last > 1 else 0.5)

    def y_of(value: float) -> float:
        return _BOTTOM - (_BOTTOM - _TOP) * (value - ticks[0]) / (ticks[-1] - ticks[0])

    name_places = _spread([y_of(points[-1][1]) for _, points in curves])
    lines = [
        {
            "name": name,
            "colour": _GREYS[(number - 1) % len(_GREYS)] if number else ACCENT,
            "dash": _DASHES[number % len(_DASHES)],
            "points": [(x_of(x), y_of(y), f"{name} {x:.3g}: {_shown(y, unit)}") for x, y in points],
            "name_y": name_places[number],
        }
        for number, (name, points) in enumerate(curves)
    ]
    width = max(_WIDTH, _RIGHT + 26 + round(_LETTER * max(len(name) for name, _ in curves)))
    ends = "; ".join(f"{name} ends at {_shown(points[-1][1], unit)}" for name, points in curves)
    return {
        **{"title": title, "label": f"{title}: {ends}", "axis": axis, "lines": lines},
        **{"width": width, "height": _HEIGHT, "left": _LEFT, "right": _RIGHT, "bottom": _BOTTOM},
        "y_ticks": [(y_of(tick), f"{tick:.4g}{unit}") for tick in ticks],
        "x_ticks": [(x_of(tick), tick) for tick in sorted({1, round((1 + last) / 2), round(last)})],
    }


def _shown(value: float, unit: str) -> str:
    return f"{value:.1f}{unit}" if unit else f"{value:.4g}"


def _ticks(low: float, high: float) -> list[float]:
    """Return round numbers from below the lowest value to above the highest."""
    rough = (high - low or abs(high) or 1.0) / 4
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * times for times in (1, 2, 5, 10) if size * times >= rough)
    first, last = math.floor(low / step), math.ceil(high / step)
    return [step * number for number in range(first, max(last, first + 1) + 1)]


def _spread(places: Sequence[float]) -> list[float]:
    """Move places apart where names would overlap, and up where they would leave the plot."""
    order = sorted(range(len(places)), key=lambda number: places[number])
    spread: list[float] = []
    for number in order:
        spread.append(max(places[number], spread[-1] + _NAME_GAP) if spread else places[number])
    up = max(0.0, spread[-1] - _BOTTOM)
    found = dict(zip(order, spread, strict=True))
    return [found[number] - up for number in range(len(places))]
