"""Whether a gain is more than chance, where chance is other trainings as well as another test set.

The paper's bootstrap resamples test instances alone, so that a baseline which is trained a second time with other random numbers
may "gain" significantly. Here each resample also draws the seeds, in pairs as they were trained.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pssa.evaluation.significance import TIE, Floats, cells_by_run, scores_by_run

__all__ = ["Contest", "chance_of_no_gain", "chance_on_other_tests", "chances_of_standing_still"]

_RESAMPLES = 1000
Runs = Sequence[Sequence[str]]  # predictions by seed


@dataclass(frozen=True)
class Contest:
    """Two rows on one test set."""

    gold: Sequence[str]
    ours: Runs
    theirs: Runs  # as many, by the same seeds
    labels: Sequence[str]

    @property
    def observed(self) -> tuple[float, float]:
        """What ours gains in accuracy and macro-F1 on the instances as they are, mean over seeds."""
        accuracy, macro_f1 = self._gains(np.ones((1, len(self.gold))))[:, 0].mean(axis=1).tolist()
        return accuracy, macro_f1

    def resampled(self, generator: np.random.Generator) -> Floats:
        """(2, R, S): what every seed gains in accuracy and macro-F1 on every resample of the instances."""
        return self._gains(_draw(len(self.gold), generator))

    def _gains(self, instances: Floats) -> Floats:
        """(2, R, S) for resamples (R, n)."""
        ours, theirs = (
            scores_by_run(instances, cells_by_run(self.gold, runs, self.labels)) for runs in (self.ours, self.theirs)
        )
        return ours - theirs


def chance_of_no_gain(contests: Sequence[Contest]) -> tuple[float, float]:
    """Shares of the resamples of seeds and instances in which ours is not better, by accuracy and by macro-F1.

    Of several test sets the average counts.
    """
    generator = np.random.default_rng(0)
    drawn = [(contest.resampled(generator) * _draw(len(contest.ours), generator)).mean(axis=2) for contest in contests]
    return _share_without_gain(drawn)


def chances_of_standing_still(contest: Contest) -> tuple[float, float]:
    """Shares of the resamples of seeds and instances in which macro-F1 does not rise, and in which it does not fall."""
    generator = np.random.default_rng(0)
    _, gains = (contest.resampled(generator) * _draw(len(contest.ours), generator)).mean(axis=2)
    return float((gains <= TIE).mean()), float((gains >= -TIE).mean())


def chance_on_other_tests(contests: Sequence[Contest]) -> tuple[float, float]:
    """The same of the trainings as they are, on other test sets of their kind: resamples of instances alone."""
    generator = np.random.default_rng(0)
    return _share_without_gain([contest.resampled(generator).mean(axis=2) for contest in contests])


def _share_without_gain(gains: Sequence[Floats]) -> tuple[float, float]:
    accuracy, macro_f1 = (np.mean(gains, axis=0) <= TIE).mean(axis=1).tolist()
    return accuracy, macro_f1


def _draw(number: int, generator: np.random.Generator) -> Floats:
    """(R, n): how often each of `number` things is drawn in each resample."""
    return generator.multinomial(number, np.full(number, 1 / number), size=_RESAMPLES).astype(np.float64)
