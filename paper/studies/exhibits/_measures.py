"""Claims of the paper as something that can be measured: the cells that a claim needs, and the number that decides it.

Differences of scores are tested against other trainings and other test sets. For other numbers, a claim is decided where all
seeds agree.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from paper.experiments.cells import Cell, Place
from paper.experiments.comparison import Change, Gain, Row, average, gather, gold_labels, stars
from paper.experiments.ledger import Record, RecordLookup
from paper.experiments.mining_stats import count_round
from paper.experiments.resources import Scope
from paper.studies.exhibit import SWEEP, FormattedValue, PlainValue
from pssa.evaluation.significance import SIGNIFICANT

_MARKS = {True: "", False: " (no)", None: " (?)"}
_EQUAL = 1.0  # points of macro-F1 that a claim of no difference must rule out
_UNCORRELATED = 0.5  # mean rank correlation below which two saliencies disagree
_FEW = 2  # seeds without which chance is unknown


@dataclass(frozen=True)
class CellQuery:
    """Cells of one kind, one for each seed."""

    cell: Callable[[Place], Cell]
    seeds: int = 3  # at most; 0: all
    model: str = ""  # another than the claim's
    held_out: bool = False
    on_small_encoder: bool = True  # of sweeps; rows of the overall results have the encoder
    is_tried: Callable[[str, str], bool] = lambda model, data: True
    needs_marks: bool = False  # only where people marked words

    def cells(self, scope: Scope, model: str, data: str) -> list[Cell]:
        """Return the cells by seed; none if the model is not in scope, or not tried on this data set."""
        if not self.is_tried(self.model or model, data) or (self.needs_marks and not scope.has_opinion_words(data)):
            return []
        if self.on_small_encoder:
            scope = SWEEP.within(scope)
        places = scope.places(self.model or model, data, self.seeds, held_out=self.held_out)
        return [self.cell(place) for place in places]


@dataclass(frozen=True)
class ClaimRecords:
    """The records of a claim for one model on one data set, by name of the query and seed."""

    scope: Scope
    model: str
    data: str
    rows: Mapping[str, Row]

    def records(self, name: str) -> list[Record]:
        """Return the records of a query."""
        return list(self.rows[name].values())

    @property
    def seeds(self) -> list[int]:
        """The seeds that every query has."""
        return sorted(set.intersection(*(set(row) for row in self.rows.values()))) if self.rows else []

    def only(self, seed: int) -> ClaimRecords:
        """Return the records of one seed."""
        return replace(self, rows={name: {seed: row[seed]} for name, row in self.rows.items()})

    def gain(self, ours: str = "ours", theirs: str = "theirs") -> Gain | None:
        """Return the gain of one query over another."""
        return average([(gold_labels(self.scope, self.data), self.rows[ours], self.rows[theirs])])


@dataclass(frozen=True)
class ClaimResult:
    """Numbers, and whether the claim holds by them."""

    text: str
    holds: bool | None  # None: chance explains the numbers, or seeds disagree
    numbers: tuple[float | None, ...]  # in the order of the text
    chances: tuple[float, ...] = ()  # p of each, if they are differences that were tested
    intervals: tuple[tuple[float, float], ...] = ()  # 95 % interval of each, likewise
    seeds: int = 0

    @property
    def field(self) -> FormattedValue:
        """The field of a table."""
        parts: dict[str, PlainValue] = {"holds": self.holds}
        parts |= {f"number {place}": number for place, number in enumerate(self.numbers, start=1)}
        parts |= {f"p {place}": p for place, p in enumerate(self.chances, start=1)}
        for place, (low, high) in enumerate(self.intervals, start=1):
            parts |= {f"low {place}": low, f"high {place}": high}
        return FormattedValue(self.text + _MARKS[self.holds], parts)


Measure = Callable[[ClaimRecords], ClaimResult | None]
Numbers = Callable[[ClaimRecords], tuple[float, ...]]  # empty: not measured


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, and the rule by which it holds."""

    says: str
    rule: str
    measure: Measure
    queries: Mapping[str, CellQuery]
    models: tuple[str, ...]  # empty: it is about the data alone
    about: str = "scores"  # or "attention"; "mechanical": what follows from how words are mined; "control": ours

    def models_in(self, scope: Scope) -> tuple[str, ...]:
        """Return the models in scope to measure with; an empty name if the claim is about the data."""
        return tuple(model for model in self.models if scope.has(model)) if self.models else ("",)

    def evaluate(self, scope: Scope, lookup: RecordLookup, model: str, data: str) -> ClaimResult | None:
        """Measure the claim; None if records are missing."""
        rows = {name: gather(lookup, query.cells(scope, model, data)) for name, query in self.queries.items()}
        found = ClaimRecords(scope, model, data, rows)
        result = self.measure(found) if all(rows.values()) else None
        return result and replace(result, seeds=len(found.seeds))


def verdict(results: Sequence[ClaimResult | None]) -> str:
    """Return whether a claim holds: on every data set that was measured, or not if one of them says the contrary."""
    known = [each.holds for each in results if each is not None]
    if not known:
        return "not measured"
    if False in known:
        return "does not hold"
    return "undecided" if None in known else "holds"


def gains_throughout(found: ClaimRecords) -> ClaimResult | None:
    """Measure whether macro-F1 rises in each of several pairs, named `ours ...` and `theirs ...`, or falls in one."""
    pairs = [(name, f"theirs{name.removeprefix('ours')}") for name in found.rows if name.startswith("ours")]
    between = [each for ours, theirs in pairs if (each := found.gain(ours, theirs)) is not None]
    if len(between) < len(pairs):
        return None
    risen = [_rises(each.macro_f1) if _is_tested(each) else None for each in between]
    return _tested(between, False if False in risen else None if None in risen else True)


def _gaps(found: ClaimRecords) -> tuple[float, ...]:
    """Return macro-F1 of active words less that of misleading ones, mean of both saliencies, for the model and MN."""

    def macro_f1(name: str) -> float:
        return 100 * statistics.mean(float(record["macro_f1"]) for record in found.records(name))

    return tuple(
        statistics.mean(macro_f1(f"{who} {way}_a") - macro_f1(f"{who} {way}_m") for way in ("AW", "PG"))
        for who in ("own", "MN")
    )


def _frequencies(found: ClaimRecords) -> tuple[float, ...]:
    records = found.records("mined")
    numbers = sorted({int(number) for record in records for number in record["rounds"]})
    return tuple(mean for number in numbers if (mean := mean_frequency(records, number)) is not None)


def mean_frequency(records: Sequence[Record], number: int) -> float | None:
    """Return the geometric mean training frequency of a round's active words."""
    rounds = [record["rounds"][str(number)] for record in records if str(number) in record["rounds"]]
    words = sum(each["active"] for each in rounds)
    return math.exp(sum(each["log_frequency"] for each in rounds) / words) if words else None


def _opinion_frequencies(found: ClaimRecords, other: str) -> tuple[float, ...]:
    """Return the geometric mean frequency of opinion words of the first round, and of others; empty if there are none."""
    opinion = [record["opinion"] for record in found.records("mined") if "opinion" in record]
    sums = [
        (sum(each[name]["log_frequency"] for each in opinion), sum(each[name]["words"] for each in opinion))
        for name in ("first", other)
    ]
    return tuple(math.exp(total / words) for total, words in sums) if all(words for _, words in sums) else ()


def _kinds(found: ClaimRecords) -> tuple[int, ...]:
    rounds = [each for record in found.records("mined") for each in record["rounds"].values()]
    return tuple(sum(each[kind] for each in rounds) for kind in ("active", "misleading"))


def _words_by_query(found: ClaimRecords) -> tuple[int, ...]:
    return tuple(
        sum(each["active"] + each["misleading"] for record in found.records(name) for each in record["rounds"].values())
        for name in found.rows
    )


def _marked_shares(found: ClaimRecords) -> tuple[float, ...]:
    """Return the share of the first round's words that people marked, by query; empty if one is unknown."""
    shares = [count_round(found.records(name), 1).precision for name in found.rows]
    return () if None in shares else tuple(share for share in shares if share is not None)


def _mean_tau(found: ClaimRecords) -> tuple[float, ...]:
    """Return Kendall's tau of attention and gradients, over the seeds that have one."""
    pairs = [record["found"]["correlation"][0]["kendall"] for record in found.records("analysed")]
    known = [pair["mean"] for pair in pairs if pair is not None]
    return (statistics.mean(known),) if known else ()


def attention_spreads(found: ClaimRecords) -> ClaimResult | None:
    """Measure whether supervision raises attention on the active words of later rounds."""
    first = _attention(found, "active", (1,))
    later = _by_seed(partial(_attention, kind="active", numbers=range(2, 100)), "{:.3f}", " → ", _last_is_higher)(found)
    if later is None:
        return None
    text = f"first {first[0]:.3f} → {first[1]:.3f}, later {later.text}" if first else f"later {later.text}"
    return replace(later, text=text, numbers=(*(first or (None, None)), *later.numbers))


def _attention(found: ClaimRecords, kind: str, numbers: Collection[int] = ()) -> tuple[float, ...]:
    """Return attention before and after supervision; empty if one is unknown."""
    before, after = (attention_on(found.records(name), kind, numbers) for name in ("before", "after"))
    return () if before is None or after is None else (before, after)


def attention_on(records: Sequence[Record], kind: str, numbers: Collection[int] = ()) -> float | None:
    """Return the mean attention on the words of a kind, in some rounds or, if none is named, in all."""
    analysed = [pair for record in records for pair in record["found"].items()]
    rounds = [row for number, row in analysed if not numbers or int(number) in numbers]
    words = sum(each[kind]["words"] for each in rounds)
    return sum(each[kind]["attention"] for each in rounds) / words if words else None


def word_is_always_positive(found: ClaimRecords) -> ClaimResult | None:
    """Measure whether `huge` occurs in positive training instances of LAPTOP only."""
    source = found.scope.resources.sources[found.data]
    if found.data != "laptop" or source.test is None:
        return None
    train, _ = found.scope.resources.corpora(Place(found.data, "", 0))
    counts = Counter(example.label for example in train if "huge" in (word.lower() for word in example.words))
    if not counts:
        return None
    text = ", ".join(f"{counts[label]} {label}" for label in train.labels)
    return ClaimResult(text, set(counts) == {"positive"}, tuple(counts[label] for label in train.labels))


def _last_is_lower(numbers: Sequence[float]) -> bool | None:
    """Return whether the last is below the first; None if they are equal or there are no two."""
    return None if len(numbers) < 2 or numbers[0] == numbers[-1] else numbers[-1] < numbers[0]


def _last_is_higher(numbers: Sequence[float]) -> bool | None:
    return _last_is_lower(numbers[::-1])


def _by_seed(
    numbers: Numbers,
    form: str,
    between: str = "",
    holds: Callable[[Sequence[float]], bool | None] = _last_is_lower,
    least: int = _FEW,
) -> Measure:
    """Return a measure that is decided where all seeds agree, if there are enough of them; None without numbers."""

    def measure(found: ClaimRecords) -> ClaimResult | None:
        values, seeds = numbers(found), found.seeds
        if not values:
            return None
        said = {holds(numbers(found.only(seed))) for seed in seeds}
        agreed = said.pop() if len(seeds) >= least and len(said) == 1 else None
        return ClaimResult(between.join(map(form.format, values)), agreed, values)

    return measure


def _by_test(holds: Callable[[Change], bool | None]) -> Measure:
    """Return a measure of the difference in macro-F1 between `ours` and `theirs`; None without common seeds."""

    def measure(found: ClaimRecords) -> ClaimResult | None:
        gain = found.gain()
        return None if gain is None else _tested([gain], holds(gain.macro_f1) if _is_tested(gain) else None)

    return measure


def _tested(gains: Sequence[Gain], holds: bool | None) -> ClaimResult:
    """Return differences in macro-F1, with their stars and intervals if they were tested."""
    tested = [gain.macro_f1 for gain in gains if _is_tested(gain)]
    return ClaimResult(
        ", ".join(map(_gain_text, gains)),
        holds,
        tuple(gain.macro_f1.points for gain in gains),
        tuple(map(_p_of, tested)),
        tuple((each.low, each.high) for each in tested),
    )


def _gain_text(gain: Gain) -> str:
    change = gain.macro_f1
    if not _is_tested(gain):
        return f"{change.points:+.2f}"
    return f"{change.points:+.2f}{stars(_p_of(change))} [{change.low:+.1f}, {change.high:+.1f}]"


def _is_tested(gain: Gain) -> bool:
    # Other trainings are drawn from those that there are.
    return gain.seeds >= _FEW


def _p_of(change: Change) -> float:
    """Return the p of the observed direction."""
    return change.p_fall if change.points < 0 else change.p_rise


def _rises(change: Change) -> bool | None:
    return change.points > 0 if _p_of(change) < SIGNIFICANT else None


def _falls(change: Change) -> bool | None:
    return change.points <= 0 if _p_of(change) < SIGNIFICANT else None


def _is_no_rise(change: Change) -> bool | None:
    return False if change.p_rise < SIGNIFICANT else change.high < _EQUAL or None


def _is_no_change(change: Change) -> bool | None:
    # Both directions share the level.
    if min(change.p_rise, change.p_fall) < SIGNIFICANT / 2:
        return False
    return (change.low > -_EQUAL and change.high < _EQUAL) or None  # None: the interval has room for a difference


MEASURES: dict[str, Measure] = {
    "is_better": _by_test(_rises),
    "is_worse": _by_test(_falls),
    "is_no_better": _by_test(_is_no_rise),
    "is_no_different": _by_test(_is_no_change),
    "gains_throughout": gains_throughout,
    "gap_is_larger": _by_seed(_gaps, "{:+.2f}", " against "),
    "frequency_by_round": _by_seed(_frequencies, "{:.1f}", " → "),
    "common_first": _by_seed(partial(_opinion_frequencies, other="missed"), "{:.1f}", " against "),
    "later_is_rarer": _by_seed(partial(_opinion_frequencies, other="later"), "{:.1f}", " against "),
    "mostly_active": _by_seed(_kinds, "{:,}", " : ", least=1),
    "rises_with_epsilon": _by_seed(
        _words_by_query, "{:,}", " → ", lambda numbers: list(numbers) == sorted(numbers), least=1
    ),
    "noise_helps": _by_seed(_marked_shares, "{:.3f}", ", ", _last_is_higher),
    "rank_correlation": _by_seed(_mean_tau, "tau {:.2f}", holds=lambda tau: tau[0] < _UNCORRELATED if tau else None),
    "attention_spreads": attention_spreads,
    "attention_leaves": _by_seed(partial(_attention, kind="misleading"), "{:.3f}", " → "),
    "word_is_always_positive": word_is_always_positive,
}
