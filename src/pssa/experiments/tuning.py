"""The result of a grid search: how every point did on held-out data, which is best, and how far to trust that.

The best of many settings is optimistic. The bias is measured: the choice is repeated without one seed and evaluated on that
seed, for each seed.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from pssa.experiments.cells import Setting, Training
from pssa.experiments.comparison import Row, gather
from pssa.experiments.grid import GridSearch, Point
from pssa.experiments.ledger import RecordLookup

TIE = 1e-9  # points; means of equal scores differ by rounding alone


@dataclass(frozen=True)
class PointResult:
    """A point of the grid and its records, by seed."""

    point: Point
    scores: Row
    baseline: Row  # of the same place
    place: tuple[Setting, ...] = ()  # settings that the baseline has too

    def mean(self, metric: str, seeds: Iterable[int] | None = None) -> float:
        """Return the mean in points, over these seeds or all."""
        chosen = self.scores if seeds is None else seeds
        return statistics.mean(100 * float(self.scores[seed][metric]) for seed in chosen)

    def gains(self, metric: str) -> dict[int, float]:
        """Return the points above the baseline of the same seed."""
        common = [seed for seed in self.scores if seed in self.baseline]
        return {seed: 100 * (self.scores[seed][metric] - self.baseline[seed][metric]) for seed in common}

    def gain(self, metric: str) -> float:
        """Return the mean of the gains."""
        return statistics.mean(self.gains(metric).values())


@dataclass(frozen=True)
class GridResult:
    """Every point of a grid search, as far as it was evaluated."""

    search: GridSearch
    seeds: int
    points: tuple[PointResult, ...]

    @classmethod
    def of(cls, search: GridSearch, seeds: int, lookup: RecordLookup) -> GridResult:
        """Collect the records of a search."""
        cells = [search.cells(seed) for seed in range(seeds)]
        points = []
        for point in search.points:
            trainings = {seed: found[point] for seed, found in enumerate(cells)}
            baselines = {seed: Training(training.place) for seed, training in trainings.items()}
            rows = gather(lookup, trainings), gather(lookup, baselines)
            points.append(PointResult(point, *rows, trainings[0].place.settings))
        return cls(search, seeds, tuple(points))

    @property
    def metric(self) -> str:
        """The metric that chooses."""
        return self.search.metric

    @property
    def complete(self) -> tuple[PointResult, ...]:
        """Points with a record for every seed; means over fewer seeds could not be compared."""
        return tuple(each for each in self.points if len(each.scores) == len(each.baseline) == self.seeds)

    @property
    def best(self) -> PointResult | None:
        """The point with the best mean; of equals, the first."""
        return _best(self.complete, self.metric, range(self.seeds))

    @property
    def helps(self) -> bool:
        """Whether the best point is better than its baseline."""
        return self.best is not None and self.best.gain(self.metric) > TIE

    @property
    def n_best(self) -> int:
        """Number of points with the mean of the best, itself included."""
        best = self.best
        means = [each.mean(self.metric) for each in self.complete]
        return 0 if best is None else sum(mean > best.mean(self.metric) - TIE for mean in means)

    @property
    def honest_gain(self) -> float | None:
        """Mean gain on a seed of the point that the other seeds choose; None with one seed, or nothing to choose from."""
        if self.seeds < 2 or len(self.complete) < 2:
            return None
        gains = []
        for left_out in range(self.seeds):
            chosen = _best(self.complete, self.metric, [seed for seed in range(self.seeds) if seed != left_out])
            assert chosen is not None
            gains.append(chosen.gains(self.metric)[left_out])
        return statistics.mean(gains)


def _best(points: Iterable[PointResult], metric: str, seeds: Iterable[int]) -> PointResult | None:
    chosen = list(seeds)
    return max(points, key=lambda each: each.mean(metric, chosen), default=None)
