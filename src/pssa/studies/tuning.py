"""What a study found: how every point of its grid did on held-out data, which is best, and how far to believe that.

The best of many settings is optimistic by itself. What choosing adds is measured: the choice is made again without one seed and
judged on that one, for each seed.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pssa.experiments.cells import Setting, Training
from pssa.experiments.comparison import METRICS, Row, gather, tell_spread
from pssa.experiments.grid import Point, Study, bare_name
from pssa.experiments.reading import count_of, missing
from pssa.experiments.scope import Findings
from pssa.studies.exhibit import Table, Value

__all__ = ["NAMES", "Judged", "Tuning"]

_TIE = 1e-9  # points; means of equal scores differ by rounding alone
NAMES = {"accuracy": "accuracy", "macro_f1": "macro-F1"}  # of the metrics


@dataclass(frozen=True)
class Judged:
    """A point of the grid and how it did, by seed."""

    point: Point
    scores: Row
    baseline: Row  # of the same place
    place: tuple[Setting, ...] = ()  # settings that the baseline has too

    def mean(self, metric: str, seeds: Iterable[int] | None = None) -> float:
        """In points, over these seeds or all that there are."""
        chosen = self.scores if seeds is None else seeds
        return statistics.mean(100 * float(self.scores[seed][metric]) for seed in chosen)

    def gains(self, metric: str) -> dict[int, float]:
        """Points above the baseline of the same seed."""
        common = [seed for seed in self.scores if seed in self.baseline]
        return {seed: 100 * (self.scores[seed][metric] - self.baseline[seed][metric]) for seed in common}

    def gain(self, metric: str) -> float:
        """The mean of the gains."""
        return statistics.mean(self.gains(metric).values())


@dataclass(frozen=True)
class Tuning:
    """Every point of a study, as far as it was judged."""

    study: Study
    seeds: int
    judged: tuple[Judged, ...]

    @classmethod
    def of(cls, study: Study, seeds: int, findings: Findings) -> Tuning:
        """What is known of a study."""
        cells = [study.cells(seed) for seed in range(seeds)]
        judged = []
        for point in study.points:
            trainings = {seed: found[point] for seed, found in enumerate(cells)}
            plain = {seed: Training(training.place) for seed, training in trainings.items()}
            rows = gather(findings, trainings), gather(findings, plain)
            judged.append(Judged(point, *rows, trainings[0].place.settings))
        return cls(study, seeds, tuple(judged))

    @property
    def metric(self) -> str:
        """What chooses."""
        return self.study.metric

    @property
    def whole(self) -> tuple[Judged, ...]:
        """Those with an outcome for every seed; means over fewer could not be compared."""
        return tuple(each for each in self.judged if len(each.scores) == len(each.baseline) == self.seeds)

    @property
    def best(self) -> Judged | None:
        """The one with the best mean; of equals, the one that was named first."""
        return _best(self.whole, self.metric, range(self.seeds))

    @property
    def helps(self) -> bool:
        """Whether the best is better than its baseline."""
        return self.best is not None and self.best.gain(self.metric) > _TIE

    @property
    def equals(self) -> int:
        """How many have the mean of the best, itself included."""
        best = self.best
        means = [each.mean(self.metric) for each in self.whole]
        return 0 if best is None else sum(mean > best.mean(self.metric) - _TIE for mean in means)

    @property
    def honest_gain(self) -> float | None:
        """The mean gain on a seed of what the others would choose; none where there is one seed, or nothing to choose."""
        if self.seeds < 2 or len(self.whole) < 2:
            return None
        gains = []
        for left_out in range(self.seeds):
            chosen = _best(self.whole, self.metric, [seed for seed in range(self.seeds) if seed != left_out])
            assert chosen is not None
            gains.append(chosen.gains(self.metric)[left_out])
        return statistics.mean(gains)

    def told(self) -> str:
        """What came out, and how far to believe it, in words."""
        tried = f"{len(self.judged)} settings were" if len(self.judged) > 1 else "One setting was"
        how = (
            f"{tried} tried with {self.seeds} {'seed' if self.seeds == 1 else 'seeds'} and judged on a fifth of train, held out "
            "by sentence, another fifth for each seed; no test file was opened."
        )
        best = self.best
        if best is None:
            return f"{how} None of them has an outcome for every seed."
        score = tell_spread([record[self.metric] for record in best.scores.values()])
        gains = best.gains(self.metric).values()
        found = (
            f"Best by {NAMES[self.metric]}: {_said(best.point)}, {score}, {best.gain(self.metric):+.2f} over "
            f"the baseline, better than it with {sum(gain > 0 for gain in gains)} of {len(gains)} seeds."
        )
        return " ".join([how, found, *self._equality(), *self._doubts()])

    def _equality(self) -> list[str]:
        """What the best does not beat."""
        equal = f"{self.equals} settings share this mean."
        nothing = all(each.gain(self.metric) <= _TIE for each in self.whole)
        return [
            *([equal] if self.equals > 1 else []),
            *(["No setting beats its baseline on average."] if nothing else []),
        ]

    def _doubts(self) -> list[str]:
        if self.honest_gain is None:
            return ["One seed decides little." if self.seeds == 1 else "Test it before you believe it."]
        return [
            "The best of many is optimistic by itself: chosen without one seed and judged on that one, the gain is "
            f"{self.honest_gain:+.2f} on average. Only a test set says what is left of it."
        ]

    def table(self) -> Table:
        """The baselines, then every point, the best first and what is incomplete last."""
        whole = sorted(self.whole, key=lambda each: -each.mean(self.metric))
        others = [each for each in self.judged if each not in whole]
        places = {each.place: each for each in self.judged}
        rows = [self._row(each.place, each.baseline, None) for each in places.values()]
        rows += [self._row(each.point, each.scores, each) for each in (*whole, *others)]
        columns = (*self.study.axes, "seeds", *(NAMES[metric] for metric in METRICS), "gain", "better with")
        note = (
            f"Mean ± standard deviation over the seeds, in points. `gain`: of {NAMES[self.metric]} over the baseline of the same "
            "seeds; `better with`: seeds with a gain. An empty field of a setting: its default."
        )
        return Table("settings", "Settings", ("", *columns), tuple(rows), (note,))

    def _row(self, point: Point, scores: Row, judged: Judged | None) -> tuple[Value, ...]:
        chosen = dict(point)
        axes = map(bare_name, self.study.axes)
        values = (_text(chosen[axis]) if axis in chosen else None for axis in axes)
        means = [tell_spread([record[metric] for record in scores.values()]) for metric in METRICS]
        gains = list(judged.gains(self.metric).values()) if judged else []
        better = count_of(sum(gain > 0 for gain in gains), len(gains)) if gains else missing("count", "of")
        name = ("best" if judged is self.best else "") if judged else "baseline"
        return (name, *values, len(scores), *means, tell_spread([gain / 100 for gain in gains], "+"), better)


def _said(point: Point) -> str:
    """The point as a person would type it."""
    return " ".join(f"{name}={_text(value)}" for name, value in point)


def _text(value: Any) -> str:
    """A setting's value for people."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "+".join(map(str, value)) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _best(judged: Iterable[Judged], metric: str, seeds: Iterable[int]) -> Judged | None:
    chosen = list(seeds)
    return max(judged, key=lambda each: each.mean(metric, chosen), default=None)
