"""Whether a gain is more than chance, where chance is other trainings as well as another test set.

The paper's bootstrap resamples test instances alone, so that a baseline which is trained a second time with other random numbers
may "gain" significantly. Here each resample also draws the seeds, in pairs as they were trained.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pssa.evaluation.metrics import accuracy_of, cells_of, macro_f1_of

__all__ = ["chance_of_no_gain"]

_RESAMPLES = 1000
# Means of equal scores differ by rounding alone, which is no gain.
_TIE = 1e-12
_Floats = npt.NDArray[np.float64]
Runs = Sequence[Sequence[str]]  # predictions by seed


def chance_of_no_gain(gold: Sequence[str], ours: Runs, theirs: Runs, labels: Sequence[str]) -> tuple[float, float]:
    """Shares of the resamples of seeds and instances in which ours is not better, by accuracy and by macro-F1.

    :param theirs: as many runs as `ours`, by the same seeds.
    """
    generator = np.random.default_rng(0)
    instances = _draw(len(gold), generator)  # (R, n)
    seeds = _draw(len(ours), generator)  # (R, S)
    gains = _scores(gold, ours, labels, instances) - _scores(gold, theirs, labels, instances)
    accuracy, macro_f1 = ((gains * seeds).mean(axis=2) <= _TIE).mean(axis=1).tolist()
    return accuracy, macro_f1


def _draw(number: int, generator: np.random.Generator) -> _Floats:
    """(R, n): how often each of `number` things is drawn in each resample."""
    return generator.multinomial(number, np.full(number, 1 / number), size=_RESAMPLES).astype(np.float64)


def _scores(gold: Sequence[str], runs: Runs, labels: Sequence[str], instances: _Floats) -> _Floats:
    """(2, R, S): accuracy and macro-F1 of every run in every resample."""
    kinds = len(labels)
    cells = np.stack([cells_of(gold, run, labels) for run in runs], axis=1)  # (n, S)
    one_hot = np.eye(kinds**2)[cells].reshape(*cells.shape, kinds, kinds)
    confusion = np.tensordot(instances, one_hot, axes=1)  # (R, S, C, C)
    return np.stack([accuracy_of(confusion), macro_f1_of(confusion)])
