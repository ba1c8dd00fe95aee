"""Means with 95 % intervals, by a bootstrap over instances, and the same beside a control on the same instances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pssa.errors import InputError

__all__ = ["AgainstChance", "Estimate", "estimate", "judge"]

Floats = npt.NDArray[np.float64]

_RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over instances and how far it can be trusted."""

    mean: float
    low: float  # 95 % interval, by percentiles of the resamples
    high: float


@dataclass(frozen=True, slots=True)
class AgainstChance:
    """A number, what chance gives in its place, and the difference, paired by instance."""

    value: Estimate
    control: Estimate
    difference: Estimate  # value less control


def estimate(values: Floats, seed: int = 0) -> list[Estimate]:
    """The mean of each column of `values` (n, M); every column is drawn from the same resamples.

    :raises InputError: if there is no instance, or `seed` is negative.
    """
    if not len(values):
        raise InputError("there is no instance to take a mean of; give at least one")
    if seed < 0:
        raise InputError(f"the seed is {seed}; expected 0 or more")
    generator = np.random.default_rng(seed)
    means = np.empty((_RESAMPLES, values.shape[1]))
    for row in means:
        times = np.bincount(generator.integers(len(values), size=len(values)), minlength=len(values))
        row[:] = times @ values / len(values)
    low, high = np.quantile(means, (0.025, 0.975), axis=0).tolist()
    return [Estimate(*column) for column in zip(values.mean(axis=0).tolist(), low, high, strict=True)]


def judge(values: Floats, controls: Floats, seed: int = 0) -> list[AgainstChance]:
    """Each column of `values` (n, M) beside the same column of `controls` (n, M)."""
    width = values.shape[1]
    found = estimate(np.concatenate([values, controls, values - controls], axis=1), seed)
    return [AgainstChance(*found[column::width]) for column in range(width)]
