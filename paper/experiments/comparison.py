"""Cells of several seeds side by side: means, standard deviations, gains over a baseline, and whether they exceed chance.

Significance as in the paper: paired bootstrap resamples of the test set, one-sided, here 20,000 instead of 1,000 and over all
seeds that both rows have. It generalises to other test sets, not to other trainings: a baseline trained a second time with
other random numbers may "gain" significantly. `other_trainings` also draws the seeds: of two rows in pairs as they were trained,
of more than two each by itself.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from paper.experiments.cells import Analysis, Cell, Place
from paper.experiments.ledger import Record, RecordLookup
from paper.experiments.resources import DataSource, Resources, Scope
from pssa.evaluation.significance import SIGNIFICANT, TIE, Floats, cells_by_run, scores_by_run

METRICS = ("accuracy", "macro_f1")
Row = Mapping[int, Record]  # records of a table's row on one data set, by seed
Rows = Row | tuple[Row, ...]  # of several rows, such as two controls, the mean counts
RowPair = tuple[Sequence[str], Rows, Rows]  # the labels of a test set, our rows on it, and theirs
Runs = Sequence[Sequence[str]]  # predictions by seed
RESAMPLES = 20_000  # a p of .05 has a Monte Carlo error of .0015
Counts = npt.NDArray[np.uint8]
Integers = npt.NDArray[np.intp]


@dataclass(frozen=True)
class RunPair:
    """Predictions of two rows on one test set."""

    gold: Sequence[str]
    ours: Runs
    theirs: Runs  # as many, with the same seeds
    labels: Sequence[str]
    n_seeds: int = 0  # where ours or theirs are several rows, one after the other: the runs of each; 0: one row each

    @property
    def observed(self) -> tuple[float, float]:
        """Gain in accuracy and macro-F1 on the test set itself, mean over seeds."""
        ours, theirs = self._scores(np.ones((1, len(self.gold))))
        accuracy, macro_f1 = (ours.mean(axis=2) - theirs.mean(axis=2))[:, 0].tolist()
        return accuracy, macro_f1

    def resampled(self, stream: int) -> tuple[Floats, Floats]:
        """Return (2, R, S) of ours and of theirs: accuracy and macro-F1 of every run on every resample of the instances."""
        distinct, order, starts = self._distinct()
        drawn = _draw_instances(len(self.gold), stream, RESAMPLES)[order]  # (n, R)
        return distinct._scores(np.add.reduceat(drawn, starts, axis=0, dtype=np.uint16).T.astype(np.float64))

    def draw_runs(self, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """Return (R, S) of ours and of theirs: how often each resample has each run.

        Two rows are drawn in pairs, as they were trained. Of several rows each is drawn by itself, for runs of one seed are no
        triples; the interval is wider.
        """
        if not self.n_seeds:
            drawn = _draw_seeds(len(self.ours), generator)
            return drawn, drawn
        rows: dict[tuple[tuple[str, ...], ...], Floats] = {}  # a row that occurs twice is drawn once
        sides = []
        for runs in (self.ours, self.theirs):
            keys = [tuple(map(tuple, runs[at : at + self.n_seeds])) for at in range(0, len(runs), self.n_seeds)]
            for key in keys:
                if key not in rows:
                    rows[key] = _draw_seeds(self.n_seeds, generator)
            sides.append(np.concatenate([rows[key] for key in keys], axis=1))
        return sides[0], sides[1]

    def _distinct(self) -> tuple[RunPair, Integers, Integers]:
        """Return one instance for all with the same labels in every run, an order with these side by side, and their starts."""
        table = np.array([self.gold, *self.ours, *self.theirs])
        order = np.lexsort(table)
        changes = (table[:, order[1:]] != table[:, order[:-1]]).any(axis=0)
        starts = np.concatenate([[0], 1 + np.flatnonzero(changes)])
        gold, *runs = table[:, order[starts]].tolist()
        ours, theirs = runs[: len(self.ours)], runs[len(self.ours) :]
        return replace(self, gold=gold, ours=ours, theirs=theirs), order, starts

    def _scores(self, instances: Floats) -> tuple[Floats, Floats]:
        """Return (2, R, S) of ours and of theirs for resamples (R, n)."""
        ours, theirs = (
            scores_by_run(instances, cells_by_run(self.gold, runs, self.labels)) for runs in (self.ours, self.theirs)
        )
        return ours, theirs


# Gives (2, R) for each test set: the gain in accuracy and macro-F1 on every resample.
Resampling = Callable[[Sequence[RunPair]], Iterator[Floats]]


def other_trainings(pairs: Sequence[RunPair]) -> Iterator[Floats]:
    """Resample seeds together with instances."""
    generator = np.random.default_rng(0)
    for pair, (ours, theirs) in zip(pairs, _resample_each(pairs), strict=True):
        our_runs, their_runs = pair.draw_runs(generator)
        yield (ours * our_runs).mean(axis=2) - (theirs * their_runs).mean(axis=2)


def other_tests(pairs: Sequence[RunPair]) -> Iterator[Floats]:
    """Resample instances alone: the same trainings on other test sets."""
    return (ours.mean(axis=2) - theirs.mean(axis=2) for ours, theirs in _resample_each(pairs))


def _resample_each(pairs: Sequence[RunPair]) -> Iterator[tuple[Floats, Floats]]:
    """Yield (2, R, S) of ours and of theirs for each pair; pairs on one test set share its resamples, other sets have others."""
    streams: dict[int, list[Sequence[str]]] = {}
    for pair in pairs:
        known = streams.setdefault(len(pair.gold), [])
        if pair.gold not in known:
            known.append(pair.gold)
        yield pair.resampled(known.index(pair.gold))


@lru_cache(maxsize=8)
def _draw_instances(number: int, stream: int, resamples: int) -> Counts:
    """Return (n, R): how often each of n instances is drawn in each resample; the same for every comparison."""
    generator = np.random.default_rng((number, stream))
    drawn = np.empty((resamples, number), np.uint8)  # more than 255 times the same of n does not happen
    for row in drawn:
        row[:] = np.bincount(generator.integers(number, size=number), minlength=number)
    return np.ascontiguousarray(drawn.T)


def _draw_seeds(number: int, generator: np.random.Generator) -> Floats:
    return generator.multinomial(number, np.full(number, 1 / number), size=RESAMPLES).astype(np.float64)


@dataclass(frozen=True)
class Change:
    """Mean difference of a score in points, with p of no rise and of no fall, and the 95 % interval; equality is neither."""

    points: float
    p_rise: float
    p_fall: float
    low: float
    high: float


@dataclass(frozen=True)
class Gain:
    """What rows gain over others, mean over data sets."""

    accuracy: Change
    macro_f1: Change
    seeds: int  # the least of any data set
    places: int  # models on data sets that have rows to compare


def gather(lookup: RecordLookup, cells: Iterable[Cell]) -> Row:
    """Return the records that exist, by the seed of their cell."""
    found = {cell.place.seed: lookup(cell) for cell in cells}
    return {seed: record for seed, record in found.items() if record is not None}


def gather_found(lookup: RecordLookup, analyses: Iterable[Analysis]) -> Row:
    """Return what the analyses that exist have found, by seed."""
    return {seed: record["found"] for seed, record in gather(lookup, analyses).items()}


def mean_and_std(values: Sequence[float], unit: float = 100) -> tuple[float, float | None]:
    """Return mean and standard deviation, of shares in points; a single value has no deviation."""
    points = [unit * value for value in values]
    return statistics.mean(points), statistics.stdev(points) if len(points) > 1 else None


def average(pairs: Iterable[RowPair], resampling: Resampling = other_trainings) -> Gain | None:
    """Return the mean gain over several data sets; None if no pair has a seed in common.

    :param resampling: what is drawn anew for p and the interval.
    """
    runs = [found for pair in pairs if (found := _runs_of(*pair)) is not None]
    if not runs:
        return None
    observed = zip(*(each.observed for each in runs), strict=True)
    drawn = np.stack(list(resampling(runs))).mean(axis=0)  # (2, R)
    accuracy, macro_f1 = (_change(statistics.mean(each), found) for each, found in zip(observed, drawn, strict=True))
    return Gain(accuracy, macro_f1, min(each.n_seeds or len(each.ours) for each in runs), len(runs))


def _change(observed: float, drawn: Floats) -> Change:
    rise, fall = float((drawn <= TIE).mean()), float((drawn >= -TIE).mean())
    low, high = (100 * np.quantile(drawn, (0.025, 0.975))).tolist()
    return Change(100 * observed, rise, fall, low, high)


def _runs_of(gold: Sequence[str], ours: Rows, theirs: Rows) -> RunPair | None:
    """Return the runs of the seeds that all rows have; None if there is no such seed."""
    sides = [side if isinstance(side, tuple) else (side,) for side in (ours, theirs)]
    common = sorted(set.intersection(*(set(row) for side in sides for row in side)))
    if not common:
        return None
    first, second = ([labels_of(row[seed]) for row in side for seed in common] for side in sides)
    several = any(len(side) > 1 for side in sides)
    return RunPair(gold, first, second, tuple(sides[0][0][common[0]]["labels"]), len(common) if several else 0)


def labels_of(record: Record) -> list[str]:
    """Return the predicted labels of a training."""
    return [record["labels"][int(number)] for number in record["predicted"]]


def stars(p: float) -> str:
    """Return two stars for p < .01, one for p < .05."""
    return "**" if p < 0.01 else "*" if p < SIGNIFICANT else ""


def gold_labels(scope: Scope, data: str, stripped: bool = False) -> tuple[str, ...]:
    """Return the labels of a test corpus."""
    return _gold(scope.resources.sources[data], stripped)


@lru_cache(maxsize=16)
def _gold(source: DataSource, stripped: bool) -> tuple[str, ...]:
    if source.test is None:  # there can be no records either
        return ()
    _, test = Resources({"": source}).corpora(Place("", "", 0, stripped=stripped))
    return tuple(example.label or "" for example in test)
