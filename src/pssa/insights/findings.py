"""Findings: what the counts say about each aspect, with intervals, tests and words, ready to be shown or written as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, TypeVar

from pssa.evaluation.shares import ShareEstimate, ShareEstimator, adjust, fisher_exact, trend, wilson
from pssa.evaluation.significance import SIGNIFICANT
from pssa.insights.aggregate import AspectTally, Survey, Tally, distinctive_words
from pssa.insights.mentions import NEUTRAL, OVERALL, Mention

WHOLE = "all opinions"
_N_WORDS = 6  # drivers of an aspect and a label
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
    tally: Tally
    whole: AspectFinding  # of all aspects
    aspects: tuple[AspectFinding, ...]  # that of the whole first, then the most frequent
    rest: tuple[AspectFinding, ...]  # rare aspects: labels alone
    differences: tuple[GroupDifference, ...]
    changes: tuple[ShareTrend, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the classifier."""
        return self.tally.labels

    @property
    def n_aspects(self) -> int:
        """The number of aspects that texts name."""
        return sum(one.name != OVERALL for one in (*self.aspects, *self.rest))

    def stand_out(self, kind: str, count: int) -> list[AspectFinding]:
        """Return the aspects that people like, or dislike: good opinions outweigh bad ones, or the other way round, by more than
        chance, and the whole sampling interval of their share lies above the share among all opinions.
        """
        return self._unusual(kind, outweighs=True)[:count]

    def contested(self, count: int) -> list[AspectFinding]:
        """Return aspects with more bad opinions than usual that do not outweigh the good ones beyond chance."""
        return self._unusual("bad", outweighs=False)[:count]

    def most_named(self, kind: str, count: int) -> list[AspectFinding]:
        """Return the aspects with most good or bad opinions, whatever their share."""
        named = [one for one in self.aspects if one.name != OVERALL and one.count_of(kind) > 1]
        return sorted(named, key=lambda one: (-one.count_of(kind), one.name))[:count]

    def _unusual(self, kind: str, outweighs: bool) -> list[AspectFinding]:
        """Return aspects with a larger share of good or bad opinions than usual, that with most of them beyond it first."""
        usual = self.whole.of_kind(kind)
        if usual is None:
            return []
        excess: dict[str, float] = {}
        for one in self.aspects:
            found, n_theirs = one.of_kind(kind), one.count_of("bad" if kind == "good" else "good")
            n_ours = one.count_of(kind)
            # The classifier errs alike in both, so the interval is that of the sample.
            if (
                one.name != OVERALL
                and found is not None
                and wilson(found.count, one.total)[1] > usual.share.counted
                and (wilson(n_ours, n_ours + n_theirs)[1] > 0.5) == outweighs
            ):
                excess[one.name] = one.total * (found.share.counted - usual.share.counted)
        chosen = [one for one in self.aspects if one.name in excess]
        return sorted(chosen, key=lambda one: (-excess[one.name], one.name))

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


def find(tally: Tally, estimator: ShareEstimator) -> Findings:
    """Return what the counts of both passes say."""
    counted = tally.aspects
    ranked = sorted(counted, key=lambda one: (one != OVERALL, -counted[one].total, one))
    aspects = {name: _aspect_finding(name, tally, counted[name], estimator) for name in ranked}
    return Findings(
        tally.survey,
        tally,
        _aspect_finding(WHOLE, tally, tally.whole, estimator),
        tuple(found for name, found in aspects.items() if name in tally.detailed),
        tuple(found for name, found in aspects.items() if name not in tally.detailed),
        _find_differences(tally),
        _find_changes(tally),
    )


def _aspect_finding(name: str, tally: Tally, counted: AspectTally, estimator: ShareEstimator) -> AspectFinding:
    # The error rates of a model that does not tell mentions from opinions cover both.
    left_out = [
        counted.n_mentions if tally.survey.is_inferred and label.lower() == NEUTRAL else 0 for label in tally.labels
    ]
    labels = []
    for label, count, share in zip(
        tally.labels, counted.counts, estimator.estimate(counted.counts, left_out), strict=True
    ):
        words = distinctive_words(counted, label, _N_WORDS)
        known = counted.labels.get(label)
        quotations = known.best_quotations(_N_QUOTATIONS, [word for word, _ in words]) if known else ()
        kind = "good" if label.lower() in _GOOD else "bad" if label.lower() in _BAD else "other"
        labels.append(LabelFinding(label, kind, count, share, tuple(words), tuple(quotations)))
    groups, is_whole = tally.groups, counted is tally.whole
    members = [] if is_whole else groups.members.get(name, [name])
    spellings = tuple((one, groups.counts.get(one, 0)) for one in members)
    finding = AspectFinding(name, counted.total, counted.n_mentions, spellings, tuple(labels))
    if not (is_whole or name in tally.detailed):
        return finding
    # Periods and groups of reviews are compared with each other: the classifier errs alike in all of them.
    periods = _parts(tally.periods, tally.rows_by_period(counted))
    return replace(finding, periods=periods, values=_parts(tally.values, tally.rows_by_value(counted)))


def _parts(names: Sequence[str], rows: Sequence[Sequence[int]]) -> tuple[Part, ...]:
    estimator = ShareEstimator()
    return tuple(Part(name, sum(row), tuple(estimator.estimate(row))) for name, row in zip(names, rows, strict=True))


def _compared(tally: Tally) -> list[tuple[str, AspectTally]]:
    """Return all opinions, and each aspect that the page shows."""
    shown = sorted(tally.detailed & tally.aspects.keys())
    return [(WHOLE, tally.whole), *((name, tally.aspects[name]) for name in shown)]


def _find_differences(tally: Tally) -> tuple[GroupDifference, ...]:
    """Test each share of each aspect in each group of reviews against all other groups; of two groups, one against the other,
    since both ways are the same test.
    """
    if len(tally.values) < 2:
        return ()
    tested = tally.values[:1] if len(tally.values) == 2 else tally.values
    found: list[GroupDifference] = []
    for name, counted in _compared(tally):
        rows = tally.rows_by_value(counted)
        whole = [sum(column) for column in zip(*rows, strict=True)]
        for value, row in zip(tested, rows, strict=False):
            rest = [all_ - here for all_, here in zip(whole, row, strict=True)]
            n_here, n_there = sum(row), sum(rest)
            if min(n_here, n_there) < _LEAST_COMPARED:
                continue
            for label, here, there in zip(tally.labels, row, rest, strict=True):
                p = fisher_exact(((here, n_here - here), (there, n_there - there)))
                found.append(GroupDifference(name, value, label, here / n_here, there / n_there, p))
    return tuple(sorted(_significant(found), key=lambda one: (one.p, one.aspect, one.value, one.label)))


def _find_changes(tally: Tally) -> tuple[ShareTrend, ...]:
    """Test whether each share of each aspect rises or falls."""
    found: list[ShareTrend] = []
    for name, counted in _compared(tally) if len(tally.periods) > 2 else ():
        rows = tally.rows_by_period(counted)
        totals = [sum(row) for row in rows]
        if sum(totals) < 2 * _LEAST_COMPARED:
            continue
        # The earlier and the later periods, with about as many opinions each.
        seen = list(accumulate(totals))
        cut = max(1, min(1 + next(place for place, n in enumerate(seen) if 2 * n >= seen[-1]), len(rows) - 1))
        first, last = ([sum(column) for column in zip(*part, strict=True)] for part in (rows[:cut], rows[cut:]))
        for place, label in enumerate(tally.labels):
            _, p = trend([row[place] for row in rows], totals)
            ends = first[place] / max(sum(first), 1), last[place] / max(sum(last), 1)
            found.append(ShareTrend(name, label, *ends, p))
    return tuple(sorted(_significant(found), key=lambda one: (one.p, one.aspect, one.label)))


def _significant(tested: Sequence[TestedT]) -> list[TestedT]:
    """Return what chance does not explain, with its p adjusted for the number of tests."""
    adjusted = adjust([one.p for one in tested])
    return [replace(one, p=p) for one, p in zip(tested, adjusted, strict=True) if p < SIGNIFICANT]
