"""Shares of labels among many predictions: intervals that count a classifier's own errors, and tests between shares.

A classifier that confuses labels distorts their shares. If `M[g, p]` is the probability that it answers `p` where `g` is right,
and `q` the shares of its answers, the true shares `pi` satisfy `q = pi M`. The matrix method solves this for `pi` (Rogan and
Gladen 1978 for two labels; Buonaccorsi 2010, chapter 3). Its interval is that of a parametric bootstrap over both samples: the
answers counted here, and the held-out data behind `M`.

The method assumes that the classifier errs here as on held-out data. Where it does not, the corrected share can be far off and
look certain: more answers than `M` allows for give 100 %. Where `M` cannot be inverted safely, since a label is hardly ever
answered, the shares follow from how often each answer is right on held-out data: `pi = q P`, where `P[p, g]` is the probability
that `g` is right where the answer is `p`. This assumes that labels are about as frequent here as there. In between, the interval
spans both methods. An interval here always spans Wilson's interval of the counted share as well: it reaches from no correction to
the full one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from pssa.errors import InputError

Floats = npt.NDArray[np.float64]

_N_DRAWS = 1000
_MAX_KNOWN = 1 << 16  # estimates that are kept: rare aspects have the same counts
_JEFFREYS = 0.5  # prior count of each cell
_LEAST_HELD_OUT = 10  # instances of each label
_LEAST_ANSWERS, _RARE = 30, 0.05  # held-out answers that tell how often a label is right; share of answers without
_LEAST_GAIN = 0.05  # accuracy above that of the commonest label, for answers that tell something
# Condition of M: beyond the first, small changes of the answers change the true shares much (chosen on held-out reviews), so M
# widens intervals alone; beyond the second, without measure.
_MAX_CONDITION, _MAX_OF_INTERVALS = 5.0, 10.0
_Z = 1.959963984540054  # of a 95 % interval
_TIE = 1e-7  # relative: tables as likely as the observed one but for rounding


@dataclass(frozen=True, slots=True)
class ShareEstimate:
    """The share of a label."""

    counted: float  # among the classifier's answers
    corrected: float  # for its errors; the same where they are not known
    low: float  # 95 % interval, which contains both
    high: float


class ShareEstimator:
    """Estimates the shares of labels from counted answers; without a confusion matrix, with sampling intervals alone.

    :param confusion: (C, C) counts on held-out data, gold label by predicted label.
    :raises InputError: for a matrix that is not square or has a negative count.
    """

    def __init__(self, confusion: Sequence[Sequence[int]] | None = None, seed: int = 0) -> None:
        self.seed = seed
        self.reason = ""  # why errors are not corrected, if a matrix was given and is of no use
        self.uses_predictive_values = False  # where the matrix cannot be inverted safely
        self._n_answered: list[int] = []  # held-out answers of each label
        self._map: Floats | None = None  # (C, C), from answers to true labels
        self._maps: Floats | None = None  # (R, C, C), drawn
        self._estimate_once = lru_cache(_MAX_KNOWN)(self._estimate)
        if confusion is None:
            return
        counts = np.asarray(confusion, dtype=np.float64)
        if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or (counts < 0).any():
            raise InputError("a confusion matrix has a row and a column for each label, and counts of 0 or more")
        self._n_answered = counts.sum(axis=0).astype(int).tolist()
        self.reason = _find_weakness(counts)
        if self.reason:
            return
        generator, condition = np.random.default_rng(seed), _condition(counts)

        def draw(rows: Floats, n_draws: int) -> Floats:
            return np.stack([generator.dirichlet(row + _JEFFREYS, size=n_draws) for row in rows], axis=1)

        if condition <= _MAX_CONDITION:
            self._map = np.asarray(np.linalg.inv(counts / counts.sum(axis=1, keepdims=True)))
            self._maps = np.asarray(np.linalg.inv(draw(counts, _N_DRAWS)))
            return
        self.uses_predictive_values = True
        answered = counts.T + _JEFFREYS
        self._map = answered / answered.sum(axis=1, keepdims=True)
        self._maps = draw(counts.T, _N_DRAWS)
        if condition <= _MAX_OF_INTERVALS:  # either method may be right here
            self._maps = np.concatenate([self._maps[_N_DRAWS // 2 :], np.linalg.inv(draw(counts, _N_DRAWS // 2))])

    @property
    def is_corrected(self) -> bool:
        """Whether estimates account for the classifier's errors."""
        return self._map is not None

    def covers(self, counts: Sequence[int]) -> bool:
        """Whether the labels that are hardly answered on held-out data are hardly answered here either."""
        answered = zip(counts, self._n_answered, strict=False)
        rare = sum(count for count, n_known in answered if n_known < _LEAST_ANSWERS)
        return rare <= _RARE * sum(counts)

    def estimate(self, counts: Sequence[int], left_out: Sequence[int] = ()) -> list[ShareEstimate]:
        """Return the share of each label; the same counts always give the same numbers.

        :param left_out: answers of each label that are not counted, though the confusion matrix covers such answers.
        """
        return self._estimate_once(tuple(map(int, counts)), tuple(map(int, left_out)) or (0,) * len(counts))

    def _estimate(self, counts: tuple[int, ...], left_out: tuple[int, ...]) -> list[ShareEstimate]:
        observed = np.asarray(counts, dtype=np.float64)
        sampled = [wilson(count, sum(counts)) for count in counts]
        if self._map is None or self._maps is None or not observed.sum():
            return [ShareEstimate(share, share, low, high) for share, low, high in sampled]
        whole = observed + left_out
        kept = (observed + _JEFFREYS) / (whole + _JEFFREYS)
        answers = np.random.default_rng([self.seed, *counts]).dirichlet(whole + _JEFFREYS, size=_N_DRAWS)
        drawn = np.einsum("rp,rpg->rg", answers, self._maps)
        # The first row is the estimate, the others show its spread; of each label the part that is counted.
        shares = _project(np.concatenate([(whole / whole.sum())[None] @ self._map, drawn])) * kept
        corrected, *spread = shares / shares.sum(axis=1, keepdims=True)
        lows, highs = np.quantile(spread, (0.025, 0.975), axis=0).tolist()
        return [
            ShareEstimate(share, point, min(low, point, least), max(high, point, most))
            for (share, least, most), point, low, high in zip(sampled, corrected.tolist(), lows, highs, strict=True)
        ]


def wilson(count: int, total: int) -> tuple[float, float, float]:
    """Return a share with the ends of Wilson's 95 % interval, which accounts for sampling alone."""
    if not total:
        return 0.0, 0.0, 1.0
    share, weight = count / total, _Z * _Z / total
    centre = (share + weight / 2) / (1 + weight)
    reach = _Z * math.sqrt(share * (1 - share) / total + weight / (4 * total)) / (1 + weight)
    return share, max(0.0, min(share, centre - reach)), min(1.0, max(share, centre + reach))


def fisher_exact(table: Sequence[Sequence[int]]) -> float:
    """Return the two-sided p of Fisher's exact test of a 2 by 2 table: the share of tables that are as unlikely."""
    (a, b), (c, d) = table
    row, column, total = a + b, a + c, a + b + c + d
    least, most = max(0, row + column - total), min(row, column)
    if least == most:
        return 1.0
    values = np.arange(least, most + 1, dtype=np.float64)
    cells = (values, row - values, column - values, total - row - column + values)
    logs = -sum(np.array([math.lgamma(count + 1) for count in cell]) for cell in cells)
    likelihood = np.exp(logs - np.max(logs))
    observed = likelihood[a - least] * (1 + _TIE)
    return min(1.0, float(likelihood[likelihood <= observed].sum() / likelihood.sum()))


def trend(counts: Sequence[int], totals: Sequence[int]) -> tuple[float, float]:
    """Return slope and two-sided p of a Cochran-Armitage test of a share at equally spaced times.

    :param counts: of the label, by time.
    :param totals: of all labels, by time.
    """
    parts, wholes = np.asarray(counts, dtype=np.float64), np.asarray(totals, dtype=np.float64)
    total = wholes.sum()
    share = parts.sum() / total if total else 0.0
    times = np.arange(len(wholes), dtype=np.float64)
    centred = times - (times @ wholes) / total if total else times
    spread = float(wholes @ centred**2)
    variance = share * (1 - share) * spread
    if variance <= 0:
        return 0.0, 1.0
    covered = float(parts @ centred)
    return covered / spread, math.erfc(abs(covered) / math.sqrt(2 * variance))


def adjust(p_values: Sequence[float]) -> list[float]:
    """Return the p values adjusted by Benjamini and Hochberg (1995): below 0.05, one in twenty marks is false, on average."""
    values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(-values, kind="stable")  # the greatest first
    ranks = np.arange(len(values), 0, -1)
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum.accumulate(np.minimum(values[order] * len(values) / ranks, 1.0))
    return [float(each) for each in adjusted]


def _find_weakness(counts: Floats) -> str:
    """Return why a confusion matrix cannot correct shares; empty if it can."""
    fewest = int(counts.sum(axis=1).min())
    if fewest < _LEAST_HELD_OUT:
        return f"a label has {fewest} held-out instances, and {_LEAST_HELD_OUT} are needed"
    is_informed = (np.trace(counts) - counts.sum(axis=1).max()) / counts.sum() > _LEAST_GAIN
    if _condition(counts) > _MAX_CONDITION and not is_informed:
        return "the classifier confuses labels too often on held-out data"
    return ""


def _condition(counts: Floats) -> float:
    return float(np.linalg.cond(counts / counts.sum(axis=1, keepdims=True)))


def _project(points: Floats) -> Floats:
    """Return the nearest shares, not negative and with sum one, of each row (R, C) (Duchi et al. 2008)."""
    ordered = -np.sort(-points, axis=1)
    excess = (np.cumsum(ordered, axis=1) - 1) / np.arange(1, points.shape[1] + 1)
    n_kept = (ordered > excess).sum(axis=1)
    projected: Floats = np.maximum(points - excess[np.arange(len(points)), n_kept - 1][:, None], 0.0)
    return projected
