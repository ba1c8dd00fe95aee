"""Cells of several seeds side by side: means, standard deviations, gains over a baseline, and whether they exceed chance.

Significance as in the paper: 1,000 paired bootstrap resamples of the test set, one-sided, here over all seeds that both rows
have. It generalises to other test sets, not to other trainings: a baseline trained a second time with other random numbers may
"gain" significantly. `average` and `differ` also draw the seeds, in pairs as they were trained.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from pssa.evaluation import paired_bootstrap
from pssa.evaluation.significance import TIE, Floats, cells_by_run, scores_by_run
from pssa.experiments.cells import Cell, Place
from pssa.experiments.ledger import Record, RecordLookup
from pssa.experiments.resources import DataSource, Resources, Scope

METRICS = ("accuracy", "macro_f1")
Row = Mapping[int, Record]  # records of a table's row on one data set, by seed
Runs = Sequence[Sequence[str]]  # predictions by seed
_RESAMPLES = 1000


@dataclass(frozen=True)
class RunPair:
    """Predictions of two rows on one test set."""

    gold: Sequence[str]
    ours: Runs
    theirs: Runs  # as many, with the same seeds
    labels: Sequence[str]

    @property
    def observed(self) -> tuple[float, float]:
        """Gain in accuracy and macro-F1 on the test set itself, mean over seeds."""
        accuracy, macro_f1 = self._gains(np.ones((1, len(self.gold))))[:, 0].mean(axis=1).tolist()
        return accuracy, macro_f1

    def resampled(self, generator: np.random.Generator) -> Floats:
        """Return (2, R, S): the gain in accuracy and macro-F1 of every seed on every resample of the instances."""
        return self._gains(_draw(len(self.gold), generator))

    def _gains(self, instances: Floats) -> Floats:
        """Return (2, R, S) for resamples (R, n)."""
        ours, theirs = (
            scores_by_run(instances, cells_by_run(self.gold, runs, self.labels)) for runs in (self.ours, self.theirs)
        )
        return ours - theirs


def chance_of_no_gain(pairs: Sequence[RunPair]) -> tuple[float, float]:
    """Return p of no gain in accuracy and in macro-F1, from resamples of seeds and instances; several test sets are averaged."""
    generator = np.random.default_rng(0)
    drawn = [(pair.resampled(generator) * _draw(len(pair.ours), generator)).mean(axis=2) for pair in pairs]
    return _share_without_gain(drawn)


def chances_of_no_change(pair: RunPair) -> tuple[float, float]:
    """Return p of no rise and of no fall in macro-F1, from resamples of seeds and instances."""
    generator = np.random.default_rng(0)
    _, gains = (pair.resampled(generator) * _draw(len(pair.ours), generator)).mean(axis=2)
    return float((gains <= TIE).mean()), float((gains >= -TIE).mean())


def chance_on_other_tests(pairs: Sequence[RunPair]) -> tuple[float, float]:
    """Return p of no gain with these trainings on other test sets: resamples of instances alone."""
    generator = np.random.default_rng(0)
    return _share_without_gain([pair.resampled(generator).mean(axis=2) for pair in pairs])


def _share_without_gain(gains: Sequence[Floats]) -> tuple[float, float]:
    accuracy, macro_f1 = (np.mean(gains, axis=0) <= TIE).mean(axis=1).tolist()
    return accuracy, macro_f1


def _draw(number: int, generator: np.random.Generator) -> Floats:
    """Return (R, n): how often each of n things is drawn in each resample."""
    return generator.multinomial(number, np.full(number, 1 / number), size=_RESAMPLES).astype(np.float64)


Chance = Callable[[Sequence[RunPair]], tuple[float, float]]


@dataclass(frozen=True)
class Gain:
    """Mean differences in points, and p of no gain."""

    accuracy: float
    macro_f1: float
    p_accuracy: float
    p_macro_f1: float
    seeds: int  # of an average: the least of any data set


@dataclass(frozen=True)
class Difference:
    """Difference in macro-F1 between two rows, in points, with p of no rise and of no fall; equality is neither."""

    macro_f1: float
    p_rise: float
    p_fall: float
    seeds: int

    @property
    def p(self) -> float:
        """The p of the observed direction."""
        return self.p_fall if self.macro_f1 < 0 else self.p_rise


def gather(lookup: RecordLookup, cells: Mapping[int, Cell]) -> Row:
    """Return the records that exist, by seed."""
    found = {seed: lookup(cell) for seed, cell in cells.items()}
    return {seed: record for seed, record in found.items() if record is not None}


def mean_and_std(values: Sequence[float]) -> tuple[float, float | None]:
    """Return mean and standard deviation in points; a single value has no deviation."""
    points = [100 * value for value in values]
    return statistics.mean(points), statistics.stdev(points) if len(points) > 1 else None


def compare(scope: Scope, place: Place, ours: Row, theirs: Row) -> Gain | None:
    """Return the gain of one row over another on the seeds that both have; None if there is no such seed.

    :param place: any place of the rows, for its test data.
    """
    if not ours.keys() & theirs.keys():
        return None
    pair = _pair(scope, place, ours, theirs)
    drawn = paired_bootstrap(pair.gold, pair.ours, pair.theirs, pair.labels)
    differences = 100 * drawn.accuracy_difference, 100 * drawn.macro_f1_difference
    return Gain(*differences, drawn.p_accuracy, drawn.p_macro_f1, len(pair.ours))


def differ(scope: Scope, place: Place, ours: Row, theirs: Row) -> Difference | None:
    """Return the difference in macro-F1, with p from resamples of seeds and instances together."""
    if not ours.keys() & theirs.keys():
        return None
    pair = _pair(scope, place, ours, theirs)
    p_rise, p_fall = chances_of_no_change(pair)
    return Difference(100 * pair.observed[1], p_rise, p_fall, len(pair.ours))


def average(scope: Scope, pairs: Sequence[tuple[Place, Row, Row]], chance: Chance = chance_of_no_gain) -> Gain | None:
    """Return the mean gain over several data sets.

    :param pairs: a place for its test data, our row there and theirs; those without a common seed do not count.
    :param chance: computes p of no gain.
    """
    pairs_of_runs = [_pair(scope, place, ours, theirs) for place, ours, theirs in pairs if ours.keys() & theirs.keys()]
    if not pairs_of_runs:
        return None
    accuracy, macro_f1 = (
        100 * statistics.mean(gains) for gains in zip(*(each.observed for each in pairs_of_runs), strict=True)
    )
    return Gain(accuracy, macro_f1, *chance(pairs_of_runs), min(len(pair.ours) for pair in pairs_of_runs))


def _pair(scope: Scope, place: Place, ours: Row, theirs: Row) -> RunPair:
    common = sorted(set(ours) & set(theirs))
    first, second = ([labels_of(row[seed]) for seed in common] for row in (ours, theirs))
    gold = _gold(scope.resources.sources[place.data], place.stripped)
    return RunPair(gold, first, second, tuple(ours[common[0]]["labels"]))


def labels_of(record: Record) -> list[str]:
    """Return the predicted labels of a training."""
    return [record["labels"][int(number)] for number in record["predicted"]]


def stars(p: float) -> str:
    """Return two stars for p < .01, one for p < .05."""
    return "**" if p < 0.01 else "*" if p < 0.05 else ""


@lru_cache(maxsize=16)
def _gold(source: DataSource, stripped: bool) -> tuple[str, ...]:
    """Return the labels of the test corpus."""
    _, test = Resources({"": source}).corpora(Place("", "", 0, stripped=stripped))
    return tuple(example.label or "" for example in test)
