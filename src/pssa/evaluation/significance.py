"""Bootstrap intervals of means, and tests whether one classifier is better than another.

The tests are the paired bootstrap (Koehn 2004), as in the paper, and McNemar's exact test.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import cast

import numpy as np
import numpy.typing as npt

from pssa.errors import InputError
from pssa.evaluation.metrics import accuracy_of, cells_of, macro_f1_of

Floats = npt.NDArray[np.float64]
Predictions = Sequence[str] | Sequence[Sequence[str]]  # of one run, or of several runs (seeds)

SIGNIFICANT = 0.05  # a p below it speaks against chance, wherever we say so
_DRAWS_AT_ONCE = 1 << 20
_INTERVAL_RESAMPLES = 1000
# Means over runs of equal scores differ by rounding alone, which does not count as better.
TIE = 1e-12


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over instances with its interval."""

    mean: float
    low: float  # 95 % interval, by percentiles of the resamples
    high: float


@dataclass(frozen=True, slots=True)
class AgainstChance:
    """A mean, the same for a random control, and the difference, paired by instance."""

    value: Estimate
    control: Estimate
    difference: Estimate  # value minus control


@dataclass(frozen=True)
class Bootstrap:
    """Result of a paired bootstrap; differences are first classifier minus second."""

    p_accuracy: float  # share of resamples in which the first is not strictly better
    p_macro_f1: float
    accuracy_difference: float  # without resampling
    accuracy_interval: tuple[float, float]  # 95 %, by percentiles of the resamples
    macro_f1_difference: float
    macro_f1_interval: tuple[float, float]
    resamples: int

    def as_dict(self) -> dict[str, object]:
        """Return the result as plain values for JSON."""
        return asdict(self)


def estimate(values: Floats, seed: int = 0) -> list[Estimate]:
    """Return the mean of each column of `values` (n, M) with its 95 % interval; all columns share the resamples."""
    if not len(values):
        raise InputError("there are no instances; give at least one")
    if seed < 0:
        raise InputError(f"the seed is {seed}; expected 0 or more")
    generator = np.random.default_rng(seed)
    means = np.empty((_INTERVAL_RESAMPLES, values.shape[1]))
    for row in means:
        times = np.bincount(generator.integers(len(values), size=len(values)), minlength=len(values))
        row[:] = times @ values / len(values)
    low, high = np.quantile(means, (0.025, 0.975), axis=0).tolist()
    return [Estimate(*column) for column in zip(values.mean(axis=0).tolist(), low, high, strict=True)]


def compare_with_control(values: Floats, controls: Floats, seed: int = 0) -> list[AgainstChance]:
    """Return the estimate of each column of `values` (n, M) beside that of the same column of `controls` (n, M)."""
    width = values.shape[1]
    found = estimate(np.concatenate([values, controls, values - controls], axis=1), seed)
    return [AgainstChance(*found[column::width]) for column in range(width)]


def paired_bootstrap(
    gold: Sequence[str],
    first: Predictions,
    second: Predictions,
    labels: Sequence[str],
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> Bootstrap:
    """Compare two classifiers on resampled instances, the same resamples for both classifiers and both metrics.

    The score of a classifier with the predictions of several runs is the mean over them.

    :raises InputError: if lengths differ, a label is not declared, `resamples` is below 1, or `seed` is negative.
    """
    if resamples < 1:
        raise InputError(f"the number of resamples is {resamples}; expected 1 or more")
    if seed < 0:
        raise InputError(f"the seed is {seed}; expected 0 or more")
    ours, theirs = (cells_by_run(gold, runs, labels) for runs in (first, second))
    observed = _differences(np.ones((1, len(gold))), ours, theirs)[:, 0]
    weights = _resample(len(gold), resamples, np.random.default_rng(seed))
    drawn = np.concatenate([_differences(chunk, ours, theirs) for chunk in weights], axis=1)
    p_accuracy, p_macro_f1 = (drawn <= TIE).mean(axis=1).tolist()
    (low_accuracy, low_f1), (high_accuracy, high_f1) = np.quantile(drawn, (0.025, 0.975), axis=1).tolist()
    return Bootstrap(
        p_accuracy=p_accuracy,
        p_macro_f1=p_macro_f1,
        accuracy_difference=float(observed[0]),
        accuracy_interval=(low_accuracy, high_accuracy),
        macro_f1_difference=float(observed[1]),
        macro_f1_interval=(low_f1, high_f1),
        resamples=resamples,
    )


def mcnemar(gold: Sequence[str], first: Sequence[str], second: Sequence[str]) -> float:
    """Return the two-sided exact p of McNemar's test, whether the two err equally often; 1 if they never differ."""
    if not len(gold) == len(first) == len(second):
        counts = f"{len(gold)} gold labels, {len(first)} and {len(second)} predictions"
        raise InputError(f"{counts}; expected the same number of each")
    only_first = sum(a == g != b for g, a, b in zip(gold, first, second, strict=True))
    only_second = sum(b == g != a for g, a, b in zip(gold, first, second, strict=True))
    n, fewer = only_first + only_second, min(only_first, only_second)
    # Binomial(n, 1/2) up to `fewer`, in whole numbers, which do not overflow.
    return min(1.0, 2 * sum(math.comb(n, k) for k in range(fewer + 1)) / (1 << n))


def cells_by_run(gold: Sequence[str], runs: Predictions, labels: Sequence[str]) -> Floats:
    """Return (n, S, C, C): one-hot cell of each instance in the confusion matrix of each of S runs."""
    one = not runs or isinstance(runs[0], str)
    several = cast(Sequence[Sequence[str]], [runs] if one else runs)
    cells = np.stack([cells_of(gold, run, labels) for run in several], axis=1)
    one_hot = np.eye(len(labels) ** 2)[cells]
    return one_hot.reshape(*cells.shape, len(labels), len(labels))


def scores_by_run(weights: Floats, cells: Floats) -> Floats:
    """Return (2, R, S): accuracy and macro-F1 of every run for `weights` (R, n), how often a resample draws an instance."""
    confusion = np.tensordot(weights, cells, axes=1)  # (R, S, C, C), whole numbers, so exact
    return np.stack([accuracy_of(confusion), macro_f1_of(confusion)])


def _resample(n: int, resamples: int, generator: np.random.Generator) -> Iterator[Floats]:
    """Yield (R, n) arrays with `resamples` rows in all: how often each resample draws each instance."""
    at_once = max(1, _DRAWS_AT_ONCE // n)
    for start in range(0, resamples, at_once):
        rows = min(at_once, resamples - start)
        places = generator.integers(n, size=(rows, n)) + n * np.arange(rows)[:, None]
        yield np.bincount(places.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)


def _differences(weights: Floats, ours: Floats, theirs: Floats) -> Floats:
    """Return (2, R): accuracy and macro-F1 of the first minus those of the second, for resamples (R, n)."""
    difference: Floats = scores_by_run(weights, ours).mean(axis=2) - scores_by_run(weights, theirs).mean(axis=2)
    return difference
