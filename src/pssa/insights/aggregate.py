"""Aggregation of mentions in bounded memory: two passes over the scored rows.

`Survey` counts spellings, groups of reviews and dates. With these known, `Tally` counts labels by aspect, by group of reviews and
by period, adds up driver words, and keeps the best quotations. Both leave mentions out whose label is a guess, and count those
without an opinion apart. What they hold does not grow with the number of reviews.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pssa.insights.dates import DateColumn, read_date
from pssa.insights.grouping import Groups
from pssa.insights.mentions import IS_MENTION, OVERALL, EmptyReview, Mention
from pssa.runs.input_profile import InputProfile, is_unfounded

_MAX_SPELLINGS = 50_000
_MAX_VALUES = 10_000  # of the column that divides reviews into groups
_MAX_DRIVERS = 2_000  # of an aspect and a label, while counting
_MAX_QUOTED = 300  # characters of a quotation
_BEST_LENGTH = range(40, 180)
_TELLING, _ENOUGH = 0.2, 3  # least share of a driver that is seen once, where so many are not seen more often
_N_OWN = 20  # frequent spellings of a group, and frequent groups, whose words drive nothing
_MAX_QUOTATIONS = 30  # of an aspect and a label, while counting
_MAX_ASPECTS = 50  # on the page; the table has all
_FEW_ASPECTS = 12  # that the page shows however rare they are
_MAX_COMPARED = 12  # groups of reviews

OTHERS = "other rare aspects"  # the name of what the first pass forgot, since there are too many spellings


class BoundedCounter(Counter[str]):
    """A counter that forgets its rarest keys when it has twice as many as it may keep; the same order, the same keys."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most
        self.n_forgotten = 0  # counts of keys that were forgotten

    def add(self, key: str, count: Any = 1) -> None:
        """Add to the count of a key."""
        self[key] += count
        if len(self) > 2 * self.most:
            kept = sorted(self.items(), key=lambda item: (-item[1], item[0]))
            for name, forgotten in kept[self.most :]:
                self.n_forgotten += forgotten
                del self[name]


@dataclass
class Survey:
    """What the first pass finds."""

    by: str | None = None  # column that divides reviews into groups
    dates: DateColumn | None = None
    spellings: BoundedCounter = field(default_factory=lambda: BoundedCounter(_MAX_SPELLINGS))
    values: BoundedCounter = field(default_factory=lambda: BoundedCounter(_MAX_VALUES))  # of `by`, by opinion
    profile: InputProfile | None = None  # of the training texts
    n_reviews: int = 0
    n_empty: int = 0  # reviews without an aspect
    n_unknown: int = 0  # reviews in a language that the model does not know
    n_blank: int = 0  # rows without a text, which are no reviews
    n_mentions: int = 0  # of aspects, without an opinion
    n_aspects: int = 0  # named, whatever is said of them and in whatever language
    n_words: int = 0  # of all reviews, if there is a profile
    n_known_words: int = 0  # of them, those of the training texts
    is_inferred: bool = False  # whether the model does not say which mentions are opinions
    notes: Counter[str] = field(default_factory=Counter)  # mentions in texts unlike the training data, by kind
    empty_notes: Counter[str] = field(default_factory=Counter)  # the same of reviews without an aspect

    def add(self, mention: Mention | EmptyReview) -> None:
        """Count a mention, or a review without one."""
        if isinstance(mention, EmptyReview):
            self.n_blank += mention.is_blank
            if not mention.is_blank:
                self._add_words(mention.text)
                self.n_reviews, self.n_empty = self.n_reviews + 1, self.n_empty + 1
                self.n_unknown += any(map(is_unfounded, mention.notes))
                self.empty_notes.update(mention.notes)
            return
        self.n_reviews += mention.is_first
        self.n_aspects += not mention.is_overall
        self.is_inferred |= mention.fields.get(IS_MENTION) is None
        if mention.is_first:
            self._add_words(mention.text)
        self.notes.update(mention.notes)
        if mention.is_unfounded:
            self.n_unknown += mention.is_first
            return
        if not mention.is_opinion:
            self.n_mentions += 1
            return
        if mention.spelling:
            self.spellings.add(mention.spelling)
        if self.by is not None:
            self.values.add(value_of(mention, self.by))
        if self.dates is not None:
            self.dates.add(mention.fields.get(self.dates.name))

    def _add_words(self, text: str) -> None:
        if self.profile is not None:
            n_known, n_words = self.profile.count_known(text)
            self.n_known_words, self.n_words = self.n_known_words + n_known, self.n_words + n_words


def value_of(mention: Mention, column: str) -> str:
    """Return the group of a mention's review: the value of a column as text."""
    value = mention.fields.get(column)
    return " ".join(str(value).split())[:60] if value is not None else ""


@dataclass
class LabelTally:
    """What is said of an aspect under one label."""

    drivers: BoundedCounter = field(default_factory=lambda: BoundedCounter(_MAX_DRIVERS))  # sums of shares
    n_driven: BoundedCounter = field(default_factory=lambda: BoundedCounter(_MAX_DRIVERS))  # mentions
    quotations: dict[str, tuple[float, Mention]] = field(
        default_factory=dict
    )  # the best by its first driver; its score

    def add(self, mention: Mention, own: frozenset[str]) -> None:
        """Add up the drivers of a mention, except the words of its aspect's group, and quote it if it is the best."""
        drivers = [(word, share) for word, share in mention.drivers if word not in own]
        for word, share in drivers:
            self.drivers.add(word, share)
            self.n_driven.add(word)
        length = len(mention.sentence)
        if not drivers or length > _MAX_QUOTED or not mention.words:
            return
        # The surer its label, the better; less where it is short or long.
        score = mention.probability / (1 + max(_BEST_LENGTH.start - length, length - _BEST_LENGTH.stop, 0) / 40)
        first, _ = drivers[0]
        known = self.quotations.get(first)
        is_better = known is None or (known[0], known[1].text) < (score, mention.sentence)
        if is_better and mention.is_plain is not False:  # its words say what its label says
            self.quotations[first] = score, mention.alone()
        if len(self.quotations) > 2 * _MAX_QUOTATIONS:
            kept = sorted(self.quotations, key=lambda word: (-self.drivers[word], word))[:_MAX_QUOTATIONS]
            self.quotations = {word: self.quotations[word] for word in kept}

    def best_quotations(self, count: int, words: Sequence[str] = ()) -> list[Mention]:
        """Return quotations of different sentences: those that these words drive, the most confident first, then others."""
        place = {word: number for number, word in enumerate(words)}

        def rank(word: str) -> tuple[bool, float, int, str]:
            return word not in place, -self.quotations[word][0], place.get(word, 0), word

        chosen: dict[str, Mention] = {}
        for word in sorted(self.quotations, key=rank):
            _, mention = self.quotations[word]
            chosen.setdefault(mention.text, mention)
        return list(chosen.values())[:count]


@dataclass
class AspectTally:
    """What is said of one aspect: counts by label, whole and divided."""

    counts: list[int]
    n_mentions: int = 0  # without an opinion
    by_value: dict[str, list[int]] = field(default_factory=dict)
    by_period: dict[int, list[int]] = field(default_factory=dict)
    labels: dict[str, LabelTally] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """The number of opinions."""
        return sum(self.counts)


class Tally:
    """What the second pass counts: the aspects of the survey, in the groups of reviews and the periods that are compared."""

    def __init__(self, survey: Survey, labels: tuple[str, ...], groups: Groups) -> None:
        self.survey, self.labels, self.groups = survey, labels, groups
        self.detailed = select_aspects(groups.totals)  # aspects of which more than their labels is kept
        self.values = select_values(survey.values)  # groups of reviews; all others are left out
        # None if no date can be read.
        self.calendar = survey.dates.calendar if survey.dates is not None and survey.dates.n_read else None
        self.aspects: dict[str, AspectTally] = {}
        self.whole = AspectTally([0] * len(labels))
        self.n_undated = 0
        self.n_left_out = 0  # opinions about aspects that the user's groups leave out
        self._date_format = survey.dates.format if survey.dates is not None and self.calendar is not None else ""
        self._own: dict[str, frozenset[str]] = {}

    def add(self, mention: Mention | EmptyReview) -> None:
        """Count an opinion, or a mention of an aspect that there are opinions about; not one whose label is a guess."""
        if isinstance(mention, EmptyReview) or mention.is_unfounded:
            return
        name = OVERALL if mention.is_overall else self.groups.of(mention.aspect)
        if not mention.is_opinion:
            self.whole.n_mentions += 1
            if name in self.groups.totals:
                self._of(name).n_mentions += 1
            return
        if not name:
            self.n_left_out += 1
            return
        if not mention.is_overall and mention.spelling not in self.groups.by_spelling:
            name = OTHERS
        place, period = self.labels.index(mention.label), self._period(mention)
        self.n_undated += self.survey.dates is not None and period is None
        value = value_of(mention, self.survey.by) if self.survey.by is not None else ""
        aspect = self._of(name)
        for tally in (aspect, self.whole):
            tally.counts[place] += 1
            if tally is aspect and name not in self.detailed:
                continue
            if value in self.values:
                tally.by_value.setdefault(value, [0] * len(self.labels))[place] += 1
            if period is not None:
                tally.by_period.setdefault(period, [0] * len(self.labels))[place] += 1
        if name in self.detailed:
            aspect.labels.setdefault(mention.label, LabelTally()).add(mention, self._words_of(name))

    @property
    def periods(self) -> tuple[str, ...]:
        """The names of the periods."""
        return () if self.calendar is None else tuple(map(self.calendar.name, range(self.calendar.n_periods)))

    def rows_by_value(self, aspect: AspectTally) -> list[list[int]]:
        """Return the counts of labels in each group of reviews."""
        return [aspect.by_value.get(value, [0] * len(self.labels)) for value in self.values]

    def rows_by_period(self, aspect: AspectTally) -> list[list[int]]:
        """Return the counts of labels in each period."""
        return [aspect.by_period.get(place, [0] * len(self.labels)) for place in range(len(self.periods))]

    def _of(self, name: str) -> AspectTally:
        return self.aspects.setdefault(name, AspectTally([0] * len(self.labels)))

    def _period(self, mention: Mention) -> int | None:
        if self.survey.dates is None or self.calendar is None:
            return None
        day = read_date(mention.fields.get(self.survey.dates.name), self._date_format)
        return None if day is None else self.calendar.place(day)

    def _words_of(self, name: str) -> frozenset[str]:
        """Return words that are no reason: those of a group's frequent spellings, and the names of frequent groups."""
        if name not in self._own:
            members = self.groups.members.get(name, [])[:_N_OWN]
            frequent = [group for group, _ in self.groups.totals.most_common(_N_OWN) if " " not in group]
            spellings = {
                spelling for group in frequent for spelling in self.groups.members[group] if " " not in spelling
            }
            own = {word for spelling in (name, *members) for word in spelling.split()}
            self._own[name] = frozenset(own | spellings)
        return self._own[name]


def select_aspects(totals: Mapping[str, int]) -> frozenset[str]:
    """Return the aspects that the page shows: the most frequent; after the first few, none that is rare among many."""
    least = max(2, min(5, sum(totals.values()) // 200))
    ranked = sorted((name for name in totals if name), key=lambda one: (-totals[one], one))
    shown = [name for place, name in enumerate(ranked) if place < _FEW_ASPECTS or totals[name] >= least]
    return frozenset((OVERALL, *shown[:_MAX_ASPECTS]))


def select_values(totals: Mapping[str, int]) -> tuple[str, ...]:
    """Return the groups of reviews that are compared: those with most opinions, in the order of their names."""
    ranked = sorted((value for value in totals if value), key=lambda one: (-totals[one], one))
    return tuple(sorted(ranked[:_MAX_COMPARED]))


def distinctive_words(aspect: AspectTally, label: str, count: int) -> list[tuple[str, int]]:
    """Return the driver words of an aspect and a label that tell it from other labels, with their mentions.

    A word counts by the sum of its shares, and less the more of it belongs to other labels. One that is seen once counts where
    there are few mentions, if it drives much.
    """
    if label not in aspect.labels:
        return []
    ours = aspect.labels[label]
    others = [one.drivers for name, one in aspect.labels.items() if name != label]

    def weight(word: str) -> float:
        mass = ours.drivers[word]
        return mass * (mass + 0.1) / (mass + sum(drivers.get(word, 0.0) for drivers in others) + 0.2)

    ranked = sorted(ours.drivers, key=lambda word: (-weight(word), word))
    known = [(word, ours.n_driven.get(word, 1)) for word in ranked]
    frequent = [pair for pair in known if pair[1] > 1]
    if len(frequent) < _ENOUGH:
        frequent = [pair for pair in known if pair[1] > 1 or ours.drivers[pair[0]] >= _TELLING]
    return frequent[:count]
