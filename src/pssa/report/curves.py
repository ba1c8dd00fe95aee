"""Curves of training, from the record of every epoch: one chart for each number, one line for each kind of stage.

Stages that do the same work, such as the folds of cross-fitting or the members of an ensemble, are one line through their means.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean

from pssa.report.chart import Line, draw_chart
from pssa.report.markup import Cell, Markup, join, table
from pssa.report.subject import Section
from pssa.training import EpochRecord

__all__ = ["show_training", "stage_lines"]

_Value = Callable[[EpochRecord], float | None]
_FIRST = ("final", "initial", "search")  # the order of lines; others follow
_MOST_LINES = 6
_MOST_ROWS = 400
_CHARTS: tuple[tuple[str, str, _Value], ...] = (
    ("Cross-entropy on the training data", "", lambda record: record.loss),
    ("Accuracy on the training data, dropout on", "%", lambda record: 100 * record.accuracy),
    ("Macro-F1 on the development data", "%", lambda record: _percent(record.dev_macro_f1)),
    ("Penalty of the attention, before gamma", "", lambda record: record.penalty or None),
)


def show_training(history: Sequence[EpochRecord]) -> Section:
    """Charts, and all their numbers in a table."""
    charts = []
    for title, unit, value in _CHARTS:
        lines = stage_lines(history, value)
        if lines:
            charts.append(draw_chart(title, "epoch", lines[:_MOST_LINES], unit))
    parts = [Markup('<div class="beside">'), *charts, Markup("</div>"), _numbers(history)]
    return Section("training", "Training", join(parts))


def stage_lines(history: Iterable[EpochRecord], value: _Value) -> list[Line]:
    """A line for each kind of stage that has the value, the last training first."""
    found: dict[str, dict[str, dict[tuple[int, int], list[float]]]] = defaultdict(dict)
    for record in history:
        number = value(record)
        # A training that went astray has losses that are no numbers.
        if number is not None and math.isfinite(number):
            kind, place = _kind(record.stage), (_round(record.stage), record.epoch)
            found[kind].setdefault(record.stage, {}).setdefault(place, []).append(number)
    order = sorted(found, key=lambda kind: (_FIRST.index(kind) if kind in _FIRST else len(_FIRST), kind))
    return [_line(kind, found[kind]) for kind in order]


def _line(kind: str, stages: dict[str, dict[tuple[int, int], list[float]]]) -> Line:
    """The means over the stages at every place, one after the other."""
    values: dict[tuple[int, int], list[float]] = defaultdict(list)
    for places in stages.values():
        for place, numbers in places.items():
            values[place] += numbers
    points = tuple((float(x), fmean(values[place])) for x, place in enumerate(sorted(values), start=1))
    beside = len(stages) // len({_round(stage) for stage in stages})
    return Line(f"{kind} ({beside})" if beside > 1 else kind, points)


def _kind(stage: str) -> str:
    """What a stage does: `round-2-fold-1` is of the rounds, `seed-1-fold-2` of the judges."""
    name = re.sub(r"-\d+", "", stage)
    return {"round": "rounds", "round-fold": "rounds", "initial-fold": "miners", "seed-fold": "judges"}.get(name, name)


def _round(stage: str) -> int:
    found = re.match(r"round-(\d+)", stage)
    return int(found[1]) if found else 0


def _numbers(history: Sequence[EpochRecord]) -> Markup:
    rows: list[list[Cell]] = [
        [
            record.stage,
            record.epoch,
            f"{record.loss:.4f}",
            f"{record.penalty:.4f}",
            f"{100 * record.accuracy:.2f}",
            "" if record.dev_accuracy is None else f"{100 * record.dev_accuracy:.2f}",
            "" if record.dev_macro_f1 is None else f"{100 * record.dev_macro_f1:.2f}",
        ]
        for record in history[:_MOST_ROWS]
    ]
    columns = ("stage", "epoch", "loss", "penalty", "accuracy %", "dev accuracy %", "dev macro-F1 %")
    more = len(history) - len(rows)
    rest = f"; {more} more are in history.jsonl" if more > 0 else ""
    numbers = table(f"Every epoch{rest}", columns, rows)
    return Markup(f"<details><summary>The numbers of every epoch</summary>\n{numbers.source}\n</details>")


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share
