"""Cells of several seeds side by side: means, spreads, gains over a baseline and whether they are more than chance.

Significance is the paper's: 1,000 paired bootstrap resamples of the test set, one-sided, here over all seeds that both rows have.
It speaks of other test sets, not of other trainings; `compare_trainings` resamples both.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from pssa.evaluation import paired_bootstrap
from pssa.experiments.cells import Cell, Place
from pssa.experiments.chance import Contest, chance_of_no_gain, chance_on_other_tests, chances_of_standing_still
from pssa.experiments.ledger import Record
from pssa.experiments.reading import Reading, missing
from pssa.experiments.resources import Resources
from pssa.experiments.scope import Findings, Scope

__all__ = [
    "METRICS",
    "Chance",
    "Difference",
    "Gain",
    "Row",
    "average",
    "chance_of_no_gain",
    "chance_on_other_tests",
    "compare",
    "compare_trainings",
    "differ",
    "gather",
    "labels_of",
    "mean_spread",
    "stars",
    "tell_spread",
]

METRICS = ("accuracy", "macro_f1")
Chance = Callable[[Sequence[Contest]], tuple[float, float]]
Row = Mapping[int, Record]  # records of a table's row on one data set, by seed


@dataclass(frozen=True)
class Gain:
    """Mean differences in points, and how likely a resample shows none."""

    accuracy: float
    macro_f1: float
    p_accuracy: float
    p_macro_f1: float
    seeds: int  # of an average, at least


@dataclass(frozen=True)
class Difference:
    """Of macro-F1 between two rows, in points, and how likely resamples of seeds and instances show no rise, or no fall.

    A resample in which both are equal shows neither.
    """

    macro_f1: float
    p_rise: float
    p_fall: float
    seeds: int

    @property
    def p(self) -> float:
        """Of nothing in the direction that there is."""
        return self.p_fall if self.macro_f1 < 0 else self.p_rise


def gather(findings: Findings, cells: Mapping[int, Cell]) -> Row:
    """The outcomes that are there, by seed."""
    found = {seed: findings.of(cell) for seed, cell in cells.items()}
    return {seed: record for seed, record in found.items() if record is not None}


def mean_spread(values: Sequence[float]) -> tuple[float, float | None]:
    """Mean and standard deviation, in points; a single value has no spread."""
    points = [100 * value for value in values]
    return statistics.mean(points), statistics.stdev(points) if len(points) > 1 else None


def tell_spread(values: Sequence[float], sign: str = "") -> Reading:
    """Mean ± standard deviation, in points."""
    if not values:
        return missing("mean", "spread")
    mean, spread = mean_spread(values)
    beside = "" if spread is None else f" ± {spread:.2f}"
    return Reading(f"{mean:{sign}.2f}{beside}", {"mean": mean, "spread": spread})


def compare(scope: Scope, place: Place, ours: Row, theirs: Row) -> Gain | None:
    """The gain of one row over another on the seeds that both have; none where there is no such seed.

    :param place: any of those that the rows were made in, for its data.
    """
    common = sorted(set(ours) & set(theirs))
    if not common:
        return None
    gold = _gold(_Held(scope.resources), place.data, place.stripped)
    drawn = paired_bootstrap(
        gold,
        [labels_of(ours[seed]) for seed in common],
        [labels_of(theirs[seed]) for seed in common],
        tuple(ours[common[0]]["labels"]),
    )
    return Gain(
        100 * drawn.accuracy_difference,
        100 * drawn.macro_f1_difference,
        drawn.p_accuracy,
        drawn.p_macro_f1,
        len(common),
    )


def compare_trainings(scope: Scope, place: Place, ours: Row, theirs: Row) -> Gain | None:
    """The same, with chances of no gain from resamples of seeds and instances together."""
    return average(scope, [(place, ours, theirs)])


def differ(scope: Scope, place: Place, ours: Row, theirs: Row) -> Difference | None:
    """The same of macro-F1 alone, in both directions."""
    if not ours.keys() & theirs.keys():
        return None
    contest = _contest(scope, place, ours, theirs)
    p_rise, p_fall = chances_of_standing_still(contest)
    return Difference(100 * contest.observed[1], p_rise, p_fall, len(contest.ours))


def average(scope: Scope, pairs: Sequence[tuple[Place, Row, Row]], chance: Chance = chance_of_no_gain) -> Gain | None:
    """The mean gain over several data sets.

    :param pairs: a place for its data, our row there and theirs; those without a common seed do not count.
    :param chance: of no gain; usually from resamples of seeds and instances together.
    """
    contests = [_contest(scope, place, ours, theirs) for place, ours, theirs in pairs if ours.keys() & theirs.keys()]
    if not contests:
        return None
    accuracy, macro_f1 = (
        100 * statistics.mean(gains) for gains in zip(*(each.observed for each in contests), strict=True)
    )
    return Gain(accuracy, macro_f1, *chance(contests), min(len(contest.ours) for contest in contests))


def _contest(scope: Scope, place: Place, ours: Row, theirs: Row) -> Contest:
    common = sorted(set(ours) & set(theirs))
    first, second = ([labels_of(row[seed]) for seed in common] for row in (ours, theirs))
    gold = _gold(_Held(scope.resources), place.data, place.stripped)
    return Contest(gold, first, second, tuple(ours[common[0]]["labels"]))


def labels_of(record: Record) -> list[str]:
    """The predicted labels of a training's record."""
    return [record["labels"][int(number)] for number in record["predicted"]]


def stars(p: float) -> str:
    """Two for p < .01, one for p < .05."""
    return "**" if p < 0.01 else "*" if p < 0.05 else ""


class _Held:
    """Resources as a key: they are the same object throughout a run."""

    def __init__(self, resources: Resources) -> None:
        self.resources = resources

    def __hash__(self) -> int:
        return id(self.resources)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Held) and other.resources is self.resources


@cache
def _gold(held: _Held, data: str, stripped: bool) -> tuple[str, ...]:
    _, test = held.resources.corpora(Place(data, "", 0, stripped=stripped))
    return tuple(example.label or "" for example in test)
