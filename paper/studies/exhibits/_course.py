"""The gain of evidence as a long training goes on, from the scores on test after each of its epochs.

Nothing in a training without evidence depends on the number of epochs to come: a control of ten epochs is the first ten of one of
fifty. So one training shows every length, and the lengths are compared within it. Records hold the scores of each epoch but no
labels, so that intervals are over seeds alone, not over test instances.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from paper.experiments.comparison import Gain, Row
from paper.studies.exhibit import Figure, FormattedValue, Part, PlotLine, Table, TableRow, format_interval
from paper.studies.exhibits._rows import format_gain_interval

COURSE = "readings-course"  # the table
MEAN, RISE, FALL = "mean of all", "later less earlier", "controls"
_EPOCHS = 50
# The mean over the epochs of each is less noisy than a single one.
_SPANS = ((1, 5), (6, 10), (11, 20), (21, 35), (36, _EPOCHS))
SPANS = tuple(f"{first} to {last}" for first, last in _SPANS)
# The quantile .975 of Student's t by degrees of freedom, from 1; with more than these the last is a little too wide.
_T = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13, 2.12)


@dataclass(frozen=True)
class Course:
    """A seed: macro-F1 without evidence and what evidence adds to it, in points, by span of epochs."""

    controls: tuple[float, ...]
    gains: tuple[float, ...]

    @property
    def rise(self) -> float:
        """How much higher the gain is in the last two spans than in the first two."""
        return statistics.mean(self.gains[-2:]) - statistics.mean(self.gains[:2])

    @property
    def fall(self) -> float:
        """How much the controls gain from the second span, when they have learnt most, to the last; below zero they lose."""
        return self.controls[-1] - self.controls[1]


def courses_of(ours: Sequence[Row], controls: Sequence[Row]) -> list[Course]:
    """Return the courses of the seeds that all rows have: the mean of ours over the mean of the controls."""
    if not ours or not controls:
        return []
    seeds = set.intersection(*(set(row) for row in (*ours, *controls)))
    found = []
    for seed in sorted(seeds):
        if any(len(row[seed]["curve"]) < _EPOCHS for row in (*ours, *controls)):
            continue
        our, control = (_by_span([row[seed]["curve"] for row in side]) for side in (ours, controls))
        found.append(Course(control, tuple(a - b for a, b in zip(our, control, strict=True))))
    return found


def course_parts(
    found: Mapping[tuple[str, str], Sequence[Course]], last: Mapping[tuple[str, str], Gain | None]
) -> Iterator[Part]:
    """Yield a figure and a table.

    :param found: the courses of the seeds, by name of the settings and of the data set.
    :param last: the gain after the last epoch.
    """
    columns = ("settings", "data set", "seeds", *SPANS, RISE, FALL, f"after {_EPOCHS}")
    rows = [
        (name, data.upper(), *_fields([courses]), format_gain_interval(last[name, data]))
        for (name, data), courses in found.items()
        if courses
    ]
    every = [courses for courses in found.values() if courses]
    if len(every) > 1:
        rows.append((MEAN, "", *_fields(every), None))
    title, axes = "Gain of TNet-ATT as training goes on", ("epochs of the training", "gain in macro-F1, points")
    panels: dict[str, list[PlotLine]] = {data.upper(): [] for _, data in found}
    for (name, data), courses in found.items():
        if courses:
            panels[data.upper()].append(_line(name, courses))
    shown = tuple((data, tuple(lines)) for data, lines in panels.items())
    yield Figure("readings-epochs", title, *axes, shown, zero=True, places=SPANS)
    yield Table(COURSE, "TNet-ATT as training goes on", columns, tuple(rows), _NOTES, ("seeds",))


def estimate(groups: Sequence[Sequence[float]]) -> tuple[float, float | None]:
    """Return the mean of the groups' means and half of its 95 % interval, after Welch; None if a group has one value."""
    mean = statistics.mean(statistics.mean(group) for group in groups)
    if min(map(len, groups)) < 2:
        return mean, None
    parts = [statistics.variance(group) / len(group) for group in groups]
    if not sum(parts):
        return mean, 0.0
    freedom = sum(parts) ** 2 / sum(part**2 / (len(group) - 1) for part, group in zip(parts, groups, strict=True))
    return mean, _T[min(math.floor(freedom + 1e-9), len(_T)) - 1] * math.sqrt(sum(parts)) / len(groups)


def _fields(groups: Sequence[Sequence[Course]]) -> TableRow:
    """Return the number of seeds, the gain in every span, and what changes from the earlier to the later ones."""
    gains = [estimate([[each.gains[span] for each in group] for group in groups]) for span in range(len(SPANS))]
    changes = (
        estimate([[each.rise for each in group] for group in groups]),
        estimate([[each.fall for each in group] for group in groups]),
    )
    return (sum(map(len, groups)), *map(_format, (*gains, *changes)))


def _format(value: tuple[float, float | None]) -> FormattedValue:
    mean, half = value
    if half is None:
        return FormattedValue(f"{mean:+.2f}", {"macro-F1": mean, "low": None, "high": None})
    return format_interval("macro-F1", mean, mean - half, mean + half)


def _line(name: str, courses: Sequence[Course]) -> PlotLine:
    found = [estimate([[each.gains[span] for each in courses]]) for span in range(len(SPANS))]
    means, halves = zip(*found, strict=True)
    return PlotLine(name, tuple(float(place) for place in range(1, len(SPANS) + 1)), means, halves)


def _by_span(curves: Sequence[Sequence[Sequence[float]]]) -> tuple[float, ...]:
    """Return the mean macro-F1 of trainings in every span, in points."""
    return tuple(
        100 * statistics.mean(macro_f1 for curve in curves for _, macro_f1 in curve[first - 1 : last])
        for first, last in _SPANS
    )


_NOTES = (
    f"TNet-ATT with every training of {_EPOCHS} epochs and words mined by attention: `defaults` are ours, `release` the preset, "
    "mean over K = 1 to 5. Gain in macro-F1 over both controls pooled, mean over the epochs of each span. `later less "
    "earlier`: the gain in epochs 21 to 50 less that in epochs 1 to 10. `controls`: macro-F1 without evidence in epochs 36 to 50 "
    "less that in epochs 6 to 10. In brackets and as bands 95 % intervals by Student's t over seeds, not over test instances. "
    "`after 50`: the gain of the finished models, with an interval over seeds and test instances.",
    "Without evidence nothing depends on the number of epochs to come, so that a control of n epochs is the first n of these. "
    "With evidence the words come from a model of 50 epochs, at every length.",
)
