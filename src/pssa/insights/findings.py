"""Findings: what the counts say about each aspect, with intervals, tests and words, ready to be shown or written as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, TypeVar

from pssa.evaluation.shares import ShareEstimate, ShareEstimator, adjust, fisher_exact, trend, wilson
from pssa.evaluation.significance import SIGNIFICANT
from pssa.insights.aggregate import AspectTally, Survey, Tally, counts_by, distinctive_words
from pssa.insights.dates import Calendar
from pssa.insights.mentions import NEUTRAL, OVERALL, Mention

WHOLE = "all opinions"
N_WORDS = 6  # drivers of an aspect and a label
MAX_ASPECTS = 50  # on the page; the table has all
_FEW_ASPECTS = 12  # that the page shows however rare they are
MAX_VALUES = 12  # groups of reviews that are compared
_N_QUOTATIONS = 3
_LEAST_COMPARED = 5  # opinions of an aspect in a group of reviews
_GOOD, _BAD = ("positive", "pos", "good"), ("negative", "neg", "bad")


@dataclass(frozen=True)
class LabelFinding:
    """How often an aspect has one label, and why."""

    label: str
    kind: str  # good, bad or other: its colour and its place in a bar
    count: int  # opinions that the classifier gave the label
    share: ShareEstimate
    drivers: tuple[tuple[str, int], ...]  # words with their mentions
    quotations: tuple[Mention, ...]


@dataclass(frozen=True)
class Part:
    """An aspect in one period, or in one group of reviews."""

    name: str
    total: int
    shares: tuple[ShareEstimate, ...]  # by label


@dataclass(frozen=True)
class GroupDifference:
    """A share that differs between one group of reviews and all others, more than chance would make it."""

    aspect: str
    value: str
    label: str
    share: float
    elsewhere: float
    p: float  # adjusted

    @property
    def is_higher(self) -> bool:
        """Whether the share is higher than elsewhere."""
        return self.share > self.elsewhere


@dataclass(frozen=True)
class ShareTrend:
    """A share that rises or falls over time, more than chance would make it."""

    aspect: str
    label: str
    first: float  # share in the first half of the opinions
    last: float  # and in the second
    p: float  # adjusted


TestedT = TypeVar("TestedT", GroupDifference, ShareTrend)


@dataclass(frozen=True)
class AspectFinding:
    """What is said of one aspect."""

    name: str
    total: int  # opinions
    n_mentions: int  # without an opinion
    spellings: tuple[tuple[str, int], ...]
    labels: tuple[LabelFinding, ...]
    periods: tuple[Part, ...] = ()
    values: tuple[Part, ...] = ()

    def of_kind(self, kind: str) -> LabelFinding | None:
        """Return the finding of the good or the bad label, if the classifier has one."""
        return next((one for one in self.labels if one.kind == kind), None)

    def count_of(self, kind: str) -> int:
        """Return the number of good or of bad opinions."""
        return sum(one.count for one in self.labels if one.kind == kind)


@dataclass(frozen=True)
class Findings:
    """What a whole set of reviews says."""

    survey: Survey
    labels: tuple[str, ...]
    whole: AspectFinding  # of all aspects
    aspects: tuple[AspectFinding, ...]  # that of the whole first, then the most frequent
    rest: tuple[AspectFinding, ...]  # rare aspects: labels alone
    values: tuple[str, ...]
    periods: tuple[str, ...]
    period_kind: str
    differences: tuple[GroupDifference, ...]
    changes: tuple[ShareTrend, ...]
    n_undated: int
    n_left_out: int

    @property
    def n_aspects(self) -> int:
        """The number of aspects that texts name."""
        return sum(one.name != OVERALL for one in (*self.aspects, *self.rest))

    def stand_out(self, kind: str, count: int) -> list[AspectFinding]:
        """Return the aspects that people like, or dislike: good opinions outweigh bad ones, or the other way round, by more than
        chance, and the whole sampling interval of their share lies above the share among all opinions.
        """
        chosen = [one for one in self._unusual(kind) if self._outweighs(one, kind)]
        return sorted(chosen, key=lambda one: (-one.total * self._excess(one, kind), one.name))[:count]

    def contested(self, count: int) -> list[AspectFinding]:
        """Return aspects with more bad opinions than usual that do not outweigh the good ones beyond chance."""
        chosen = [one for one in self._unusual("bad") if not self._outweighs(one, "bad")]
        return sorted(chosen, key=lambda one: (-one.total * self._excess(one, "bad"), one.name))[:count]

    def most_named(self, kind: str, count: int) -> list[AspectFinding]:
        """Return the aspects with most good or bad opinions, whatever their share."""
        named = [one for one in self.aspects if one.name != OVERALL and one.count_of(kind) > 1]
        return sorted(named, key=lambda one: (-one.count_of(kind), one.name))[:count]

    def _unusual(self, kind: str) -> list[AspectFinding]:
        usual = self.whole.of_kind(kind)
        if usual is None:
            return []
        named = [(one, found) for one in self.aspects if one.name != OVERALL and (found := one.of_kind(kind))]
        # The classifier errs alike in both, so the interval is that of the sample.
        return [one for one, found in named if wilson(found.count, one.total)[1] > usual.share.counted]

    def _outweighs(self, aspect: AspectFinding, kind: str) -> bool:
        n_ours, n_theirs = aspect.count_of(kind), aspect.count_of({"good": "bad", "bad": "good"}[kind])
        return wilson(n_ours, n_ours + n_theirs)[1] > 0.5

    def _excess(self, aspect: AspectFinding, kind: str) -> float:
        """Return how far the share of the good or the bad label is above that of all aspects; 0 without such a label."""
        usual, found = self.whole.of_kind(kind), aspect.of_kind(kind)
        return found.share.counted - usual.share.counted if found is not None and usual is not None else 0.0

    def table(self, most: int | None = None) -> Iterator[Sequence[Any]]:
        """Yield a table of all aspects, or of the `most` frequent: a header, and a line for each aspect and label."""
        yield ("aspect", "label", "opinions", "labelled", "share", "corrected", "low", "high", "drivers", "spellings")
        for aspect in (*self.aspects, *self.rest)[:most]:
            spellings = "; ".join(spelling for spelling, _ in aspect.spellings)
            for one in aspect.labels:
                numbers = (one.share.counted, one.share.corrected, one.share.low, one.share.high)
                share = (f"{number:.4f}" for number in numbers)
                drivers = "; ".join(word for word, _ in one.drivers)
                yield aspect.name, one.label, aspect.total, one.count, *share, drivers, spellings


def label_kind(label: str) -> str:
    """Return whether a label is good, bad or something else, by its name."""
    return "good" if label.lower() in _GOOD else "bad" if label.lower() in _BAD else "other"


def select_aspects(totals: Mapping[str, int]) -> frozenset[str]:
    """Return the aspects that the page shows: the most frequent; after the first few, none that is rare among many."""
    least = max(2, min(5, sum(totals.values()) // 200))
    ranked = sorted((name for name in totals if name), key=lambda one: (-totals[one], one))
    shown = [name for place, name in enumerate(ranked) if place < _FEW_ASPECTS or totals[name] >= least]
    return frozenset((OVERALL, *shown[:MAX_ASPECTS]))


def select_values(totals: Mapping[str, int]) -> tuple[str, ...]:
    """Return the groups of reviews that are compared: those with most opinions, in the order of their names."""
    ranked = sorted((value for value in totals if value), key=lambda one: (-totals[one], one))
    return tuple(sorted(ranked[:MAX_VALUES]))


@dataclass(frozen=True)
class Analyst:
    """Draws findings from the counts of both passes."""

    survey: Survey
    tally: Tally
    estimator: ShareEstimator
    values: tuple[str, ...] = ()
    calendar: Calendar | None = None

    def find(self) -> Findings:
        """Return all findings."""
        aspects_of = self.tally.aspects
        ranked = sorted(aspects_of, key=lambda one: (one != OVERALL, -aspects_of[one].total, one))
        aspects = tuple(self._aspect(name) for name in ranked if name in self.tally.detailed)
        rest = tuple(self._aspect(name) for name in ranked if name not in self.tally.detailed)
        return Findings(
            survey=self.survey,
            labels=self.tally.labels,
            whole=self._finding(WHOLE, self.tally.whole),
            aspects=aspects,
            rest=rest,
            values=self.values,
            periods=self._periods(),
            period_kind=self.calendar.kind if self.calendar is not None else "",
            differences=self._differences(),
            changes=self._changes(),
            n_undated=self.tally.n_undated,
            n_left_out=self.tally.n_left_out,
        )

    def _aspect(self, name: str) -> AspectFinding:
        groups = self.tally.groups
        spellings = tuple((one, groups.counts.get(one, 0)) for one in groups.members.get(name, [name]))
        return self._finding(name, self.tally.aspects[name], spellings)

    def _finding(self, name: str, tally: AspectTally, spellings: tuple[tuple[str, int], ...] = ()) -> AspectFinding:
        # The error rates of a model that does not tell mentions from opinions cover both.
        left_out = [
            tally.n_mentions if self.survey.is_inferred and label.lower() == NEUTRAL else 0
            for label in self.tally.labels
        ]
        shares = self.estimator.estimate(tally.counts, left_out)
        labels = []
        for label, count, share in zip(self.tally.labels, tally.counts, shares, strict=True):
            words = distinctive_words(tally, label, N_WORDS)
            known = tally.labels.get(label)
            quotations = known.best_quotations(_N_QUOTATIONS, [word for word, _ in words]) if known else ()
            labels.append(LabelFinding(label, label_kind(label), count, share, tuple(words), tuple(quotations)))
        is_detailed = name in self.tally.detailed or tally is self.tally.whole
        n_periods = self.calendar.n_periods if self.calendar is not None else 0
        if not is_detailed:
            return AspectFinding(name, tally.total, tally.n_mentions, spellings, tuple(labels))
        # Periods and groups of reviews are compared with each other: the classifier errs alike in all of them.
        counted = counts_by(tally.by_period, range(n_periods), len(self.tally.labels))
        periods = _parts(self._periods(), counted)
        values = _parts(self.values, counts_by(tally.by_value, self.values, len(self.tally.labels)))
        return AspectFinding(name, tally.total, tally.n_mentions, spellings, tuple(labels), periods, values)

    def _periods(self) -> tuple[str, ...]:
        return () if self.calendar is None else tuple(map(self.calendar.name, range(self.calendar.n_periods)))

    def _compared(self) -> list[tuple[str, AspectTally]]:
        """Return all opinions, and each aspect that the page shows."""
        shown = sorted(self.tally.detailed & self.tally.aspects.keys())
        return [(WHOLE, self.tally.whole), *((name, self.tally.aspects[name]) for name in shown)]

    def _differences(self) -> tuple[GroupDifference, ...]:
        """Test each share of each aspect in each group of reviews against all other groups; of two groups, one against the
        other, since both ways are the same test.
        """
        if len(self.values) < 2:
            return ()
        tested = self.values[:1] if len(self.values) == 2 else self.values
        found: list[GroupDifference] = []
        for name, tally in self._compared():
            rows = counts_by(tally.by_value, self.values, len(self.tally.labels))
            whole = [sum(column) for column in zip(*rows, strict=True)]
            for value, row in zip(tested, rows, strict=False):
                rest = [all_ - here for all_, here in zip(whole, row, strict=True)]
                n_here, n_there = sum(row), sum(rest)
                if min(n_here, n_there) < _LEAST_COMPARED:
                    continue
                for label, here, there in zip(self.tally.labels, row, rest, strict=True):
                    p = fisher_exact(((here, n_here - here), (there, n_there - there)))
                    found.append(GroupDifference(name, value, label, here / n_here, there / n_there, p))
        return tuple(sorted(_significant(found), key=lambda one: (one.p, one.aspect, one.value, one.label)))

    def _changes(self) -> tuple[ShareTrend, ...]:
        """Test whether each share of each aspect rises or falls."""
        if self.calendar is None or self.calendar.n_periods < 3:
            return ()
        found: list[ShareTrend] = []
        for name, tally in self._compared():
            rows = counts_by(tally.by_period, range(self.calendar.n_periods), len(self.tally.labels))
            totals = [sum(row) for row in rows]
            if sum(totals) < 2 * _LEAST_COMPARED:
                continue
            # The earlier and the later periods, with about as many opinions each.
            seen = list(accumulate(totals))
            cut = max(1, min(1 + next(place for place, n in enumerate(seen) if 2 * n >= seen[-1]), len(rows) - 1))
            first, last = ([sum(column) for column in zip(*part, strict=True)] for part in (rows[:cut], rows[cut:]))
            for place, label in enumerate(self.tally.labels):
                _, p = trend([row[place] for row in rows], totals)
                ends = first[place] / max(sum(first), 1), last[place] / max(sum(last), 1)
                found.append(ShareTrend(name, label, *ends, p))
        return tuple(sorted(_significant(found), key=lambda one: (one.p, one.aspect, one.label)))


def _significant(tested: Sequence[TestedT]) -> list[TestedT]:
    """Return what chance does not explain, with its p adjusted for the number of tests."""
    adjusted = adjust([one.p for one in tested])
    return [replace(one, p=p) for one, p in zip(tested, adjusted, strict=True) if p < SIGNIFICANT]


def _parts(names: Sequence[str], rows: Sequence[Sequence[int]]) -> tuple[Part, ...]:
    estimator = ShareEstimator()
    return tuple(Part(name, sum(row), tuple(estimator.estimate(row))) for name, row in zip(names, rows, strict=True))
