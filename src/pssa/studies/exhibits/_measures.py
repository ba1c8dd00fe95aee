"""Claims of the paper as something that can be measured: the cells that a claim needs, and the number that decides it.

Differences of scores are tested against other trainings and other test sets. For other numbers, a claim is decided where all
seeds agree.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pssa.experiments.cells import Cell, Place
from pssa.experiments.comparison import Difference, Row, differ, gather, stars
from pssa.experiments.ledger import Record, RecordLookup
from pssa.experiments.mining_stats import count_round
from pssa.experiments.resources import Scope
from pssa.studies.exhibit import FormattedValue, PlainValue
from pssa.studies.exhibits._rows import ATTENDING

_SAID = {True: "", False: " (no)", None: " (?)"}


@dataclass(frozen=True)
class CellQuery:
    """Cells of one kind, one for each seed."""

    cell: Callable[[Place], Cell]
    seeds: int = 3  # at most; 0: all
    model: str = ""  # another than the claim's
    held_out: bool = False

    def cells(self, scope: Scope, model: str, data: str) -> dict[int, Cell]:
        """By seed; none where the model is not in scope."""
        places = scope.places(self.model or model, data, self.seeds, held_out=self.held_out)
        return {place.seed: self.cell(place) for place in places}


@dataclass(frozen=True)
class ClaimRecords:
    """What came of a claim's cells for one model on one data set."""

    scope: Scope
    model: str
    data: str
    rows: Mapping[str, Row]

    def records(self, name: str) -> list[Record]:
        """Of what was asked for under a name."""
        return list(self.rows[name].values())

    @property
    def seeds(self) -> list[int]:
        """Those that everything was asked for with."""
        return sorted(set.intersection(*(set(row) for row in self.rows.values()))) if self.rows else []

    def only(self, seed: int) -> ClaimRecords:
        """The same of one seed."""
        return replace(self, rows={name: {seed: row[seed]} for name, row in self.rows.items()})

    def difference(self, ours: str = "ours", theirs: str = "theirs") -> Difference | None:
        """Of one row to another."""
        return differ(self.scope, Place(self.data, self.model, 0), self.rows[ours], self.rows[theirs])


@dataclass(frozen=True)
class ClaimResult:
    """Numbers, and whether the claim holds by them."""

    text: str
    holds: bool | None  # None: chance explains what there is, or seeds do not agree
    numbers: tuple[float | None, ...]  # in the order in which the text tells them
    chances: tuple[float, ...] = ()  # p of each, where they are differences that were tested
    seeds: int = 0  # that it is of

    @property
    def reading(self) -> FormattedValue:
        """As a field of a table."""
        parts: dict[str, PlainValue] = {"holds": self.holds}
        parts |= {f"number {place}": number for place, number in enumerate(self.numbers, start=1)}
        parts |= {f"p {place}": p for place, p in enumerate(self.chances, start=1)}
        return FormattedValue(self.text + _SAID[self.holds], parts)


@dataclass(frozen=True)
class Claim:
    """What the paper says, and when we say that it holds."""

    says: str
    rule: str
    measure: Callable[[ClaimRecords], ClaimResult | None]
    asked: Mapping[str, CellQuery] = field(default_factory=dict)
    models: tuple[str, ...] = ATTENDING  # none: it is about the data alone

    def subjects(self, scope: Scope) -> tuple[str, ...]:
        """The models in scope that it is measured with; an empty name where it is about the data."""
        return tuple(model for model in self.models if scope.has(model)) if self.models else ("",)

    def cells(self, scope: Scope) -> Iterator[Cell]:
        """All that it needs."""
        for model in self.subjects(scope):
            for data in scope.data:
                for asked in self.asked.values():
                    yield from asked.cells(scope, model, data).values()

    def look(self, scope: Scope, lookup: RecordLookup, model: str, data: str) -> ClaimResult | None:
        """Measure it; nothing where records are missing."""
        rows = {name: gather(lookup, asked.cells(scope, model, data)) for name, asked in self.asked.items()}
        found = ClaimRecords(scope, model, data, rows)
        measured = self.measure(found) if all(rows.values()) else None
        return measured and replace(measured, seeds=len(found.seeds))


def verdict(measured: Sequence[ClaimResult | None]) -> str:
    """A claim holds if it does on every data set that was measured, and does not if one of them says the contrary."""
    known = [each.holds for each in measured if each is not None]
    if not known:
        return "not measured"
    if False in known:
        return "does not hold"
    return "undecided" if None in known else "holds"


_SIGNIFICANT = 0.05
_LATER = range(2, 100)
_UNCORRELATED = 0.5  # mean rank correlation below which two saliencies are said to disagree
_FEW = 2  # seeds without which chance is unknown


def is_better(found: ClaimRecords) -> ClaimResult | None:
    """Whether macro-F1 rises from `theirs` to `ours`, or falls, by more than chance."""
    return _judge(found, _rises)


def is_worse(found: ClaimRecords) -> ClaimResult | None:
    """Whether macro-F1 falls from `theirs` to `ours`, or rises, by more than chance."""
    return _judge(found, lambda between: None if (rises := _rises(between)) is None else not rises)


def is_no_better(found: ClaimRecords) -> ClaimResult | None:
    """Whether chance explains what macro-F1 gains, if anything."""
    return _judge(found, lambda between: between.p_rise >= _SIGNIFICANT if _is_tested(between) else None)


def is_no_different(found: ClaimRecords) -> ClaimResult | None:
    """Whether chance explains what macro-F1 gains or loses; both directions share the level."""
    return _judge(
        found,
        lambda between: min(between.p_rise, between.p_fall) >= _SIGNIFICANT / 2 if _is_tested(between) else None,
    )


def gains_throughout(found: ClaimRecords) -> ClaimResult | None:
    """Whether macro-F1 rises in each of several pairs, named `ours ...` and `theirs ...`, or falls in one."""
    pairs = [(name, f"theirs{name.removeprefix('ours')}") for name in found.rows if name.startswith("ours")]
    between = [each for ours, theirs in pairs if (each := found.difference(ours, theirs)) is not None]
    if len(between) < len(pairs):
        return None
    risen = [_rises(each) for each in between]
    return _measured(between, False if False in risen else None if None in risen else True)


def gap_is_larger(found: ClaimRecords) -> ClaimResult:
    """Whether active words help more than misleading ones by a wider gap than in MN, over both saliencies."""
    own, other = _gaps(found)
    return ClaimResult(f"{own:+.2f} against {other:+.2f}", _agreed(found, lambda one: _falls(_gaps(one))), (own, other))


def frequency_by_round(found: ClaimRecords) -> ClaimResult:
    """Whether the words of the last round are rarer in training than those of the first."""
    means = _frequencies(found)
    told = " → ".join(f"{mean:.1f}" for mean in means)
    return ClaimResult(told, _agreed(found, lambda one: _falls(_frequencies(one))), means)


def mean_frequency(records: Sequence[Record], number: int) -> float | None:
    """Geometric mean, over a round's active words, of how often the word stands in train."""
    rounds = [record["rounds"][str(number)] for record in records if str(number) in record["rounds"]]
    words = sum(each["active"] for each in rounds)
    return math.exp(sum(each["log_frequency"] for each in rounds) / words) if words else None


def common_first(found: ClaimRecords) -> ClaimResult | None:
    """Whether the opinion words that the first round finds are more common than those that no round does."""
    return _compare_opinion(found, "missed")


def later_is_rarer(found: ClaimRecords) -> ClaimResult | None:
    """Whether the opinion words of later rounds are rarer than those of the first."""
    return _compare_opinion(found, "later")


def mostly_active(found: ClaimRecords) -> ClaimResult:
    """Whether more active words are found than misleading ones."""
    active, misleading = _kinds(found)
    holds = _agreed(found, lambda one: _falls(_kinds(one)), least=1)
    return ClaimResult(f"{active:,} : {misleading:,}", holds, (active, misleading))


def rises_with_epsilon(found: ClaimRecords) -> ClaimResult:
    """Whether a higher threshold never finds fewer words."""
    counts = _words_by_row(found)
    holds = _agreed(found, lambda one: _words_by_row(one) == tuple(sorted(_words_by_row(one))), least=1)
    return ClaimResult(" → ".join(f"{count:,}" for count in counts), holds, counts)


def noise_helps(found: ClaimRecords) -> ClaimResult | None:
    """Whether the words of the first round are opinion words more often with the noise of ten samples than without any."""
    shares = _shares_of_marked(found)
    if not shares:
        return None
    holds = _agreed(found, lambda one: _falls(_shares_of_marked(one)[::-1]))
    return ClaimResult(", ".join(f"{share:.3f}" for share in shares), holds, shares)


def rank_correlation(found: ClaimRecords) -> ClaimResult | None:
    """Whether attention and gradients put words in different orders."""
    mean = _mean_tau(found)
    if mean is None:
        return None
    return ClaimResult(f"tau {mean:.2f}", _agreed(found, _is_uncorrelated), (mean,))


def attention_spreads(found: ClaimRecords) -> ClaimResult | None:
    """Whether supervision raises attention on the active words of later rounds."""
    first, later = (_moved(found, "active", numbers) for numbers in ((1,), _LATER))
    if not later:
        return None
    told = f"later {later[0]:.3f} → {later[1]:.3f}"
    told = f"first {first[0]:.3f} → {first[1]:.3f}, {told}" if first else told
    holds = _agreed(found, lambda one: _falls(_moved(one, "active", _LATER)[::-1]))
    return ClaimResult(told, holds, (*(first or (None, None)), *later))


def attention_leaves(found: ClaimRecords) -> ClaimResult | None:
    """Whether supervision lowers attention on misleading words."""
    moved = _moved(found, "misleading", ())
    if not moved:
        return None
    holds = _agreed(found, lambda one: _falls(_moved(one, "misleading", ())))
    return ClaimResult(f"{moved[0]:.3f} → {moved[1]:.3f}", holds, moved)


def attention_on(records: Sequence[Record], kind: str, numbers: Collection[int] = ()) -> float | None:
    """Mean attention on the words of a kind, of some rounds or, where none is named, of all."""
    looked = [pair for record in records for pair in record["found"].items()]
    rounds = [row for number, row in looked if not numbers or int(number) in numbers]
    words = sum(each[kind]["words"] for each in rounds)
    return sum(each[kind]["attention"] for each in rounds) / words if words else None


def word_is_always_positive(found: ClaimRecords) -> ClaimResult | None:
    """Whether `huge` stands in positive training instances of LAPTOP only."""
    source = found.scope.resources.sources[found.data]
    if found.data != "laptop" or source.test is None:
        return None
    train, _ = found.scope.resources.corpora(Place(found.data, "", 0))
    counts = Counter(example.label for example in train if "huge" in (word.lower() for word in example.words))
    if not counts:
        return None
    told = ", ".join(f"{counts[label]} {label}" for label in train.labels)
    return ClaimResult(told, set(counts) == {"positive"}, tuple(counts[label] for label in train.labels))


def _compare_opinion(found: ClaimRecords, other: str) -> ClaimResult | None:
    """Frequencies of opinion words that the first round found, and of others."""
    means = _opinion_frequencies(found, other)
    if not means:
        return None
    holds = _agreed(found, lambda one: _falls(_opinion_frequencies(one, other)))
    return ClaimResult(f"{means[0]:.1f} against {means[1]:.1f}", holds, means)


def _agreed(found: ClaimRecords, holds: Callable[[ClaimRecords], bool | None], least: int = _FEW) -> bool | None:
    """What all seeds say, where there are enough of them; nothing where they do not say the same."""
    said = {holds(found.only(seed)) for seed in found.seeds}
    return said.pop() if len(found.seeds) >= least and len(said) == 1 else None


def _falls(numbers: Sequence[float]) -> bool | None:
    """Whether the last is below the first; neither where they are equal, or there are no two."""
    if len(numbers) < 2 or numbers[0] == numbers[-1]:
        return None
    return numbers[-1] < numbers[0]


def _gaps(found: ClaimRecords) -> tuple[float, float]:
    """Macro-F1 of active words less that of misleading ones, mean of both saliencies, of the model and of MN."""
    own, other = (
        statistics.mean(_macro_f1(found, f"{who} {way}_a") - _macro_f1(found, f"{who} {way}_m") for way in ("AW", "PG"))
        for who in ("own", "MN")
    )
    return own, other


def _frequencies(found: ClaimRecords) -> tuple[float, ...]:
    """By round, how common its active words are."""
    records = found.records("mined")
    numbers = sorted({int(number) for record in records for number in record["rounds"]})
    return tuple(mean for number in numbers if (mean := mean_frequency(records, number)) is not None)


def _kinds(found: ClaimRecords) -> tuple[int, int]:
    """Active and misleading words of all rounds."""
    rounds = [each for record in found.records("mined") for each in record["rounds"].values()]
    active, misleading = (sum(each[kind] for each in rounds) for kind in ("active", "misleading"))
    return active, misleading


def _words_by_row(found: ClaimRecords) -> tuple[int, ...]:
    """All words, by what was asked for."""
    return tuple(
        sum(each["active"] + each["misleading"] for record in found.records(name) for each in record["rounds"].values())
        for name in found.rows
    )


def _shares_of_marked(found: ClaimRecords) -> tuple[float, ...]:
    """Of the first round's words, by what was asked for; nothing where one is unknown."""
    shares = [count_round(found.records(name), 1).precision for name in found.rows]
    return () if None in shares else tuple(share for share in shares if share is not None)


def _mean_tau(found: ClaimRecords) -> float | None:
    """Kendall's tau of attention and gradients, over the seeds that have one."""
    pairs = [record["found"]["correlation"][0]["kendall"] for record in found.records("looked")]
    known = [pair["mean"] for pair in pairs if pair is not None]
    return statistics.mean(known) if known else None


def _is_uncorrelated(found: ClaimRecords) -> bool | None:
    mean = _mean_tau(found)
    return None if mean is None else mean < _UNCORRELATED


def _moved(found: ClaimRecords, kind: str, numbers: Collection[int]) -> tuple[float, ...]:
    """Attention before and after; nothing where one is unknown."""
    before, after = (attention_on(found.records(name), kind, numbers) for name in ("before", "after"))
    return () if before is None or after is None else (before, after)


def _opinion_frequencies(found: ClaimRecords, other: str) -> tuple[float, ...]:
    """Geometric means, of the opinion words that the first round found and of others; nothing where there are none."""
    opinion = [record["opinion"] for record in found.records("mined") if "opinion" in record]
    sums = [
        (sum(each[name]["log_frequency"] for each in opinion), sum(each[name]["words"] for each in opinion))
        for name in ("first", other)
    ]
    return tuple(math.exp(total / words) for total, words in sums) if all(words for _, words in sums) else ()


def _macro_f1(found: ClaimRecords, name: str) -> float:
    return 100 * statistics.mean(float(record["macro_f1"]) for record in found.records(name))


def _is_tested(between: Difference) -> bool:
    # Another training of the same is drawn from those that there are.
    return between.seeds >= _FEW


def _rises(between: Difference) -> bool | None:
    if not _is_tested(between) or between.p >= _SIGNIFICANT:
        return None
    return between.macro_f1 > 0


def _judge(found: ClaimRecords, holds: Callable[[Difference], bool | None]) -> ClaimResult | None:
    between = found.difference()
    return None if between is None else _measured([between], holds(between))


def _measured(between: Sequence[Difference], holds: bool | None) -> ClaimResult:
    """Differences in macro-F1, with their stars where they were tested."""
    told = ", ".join(f"{each.macro_f1:+.2f}{stars(each.p) if _is_tested(each) else ''}" for each in between)
    chances = tuple(each.p for each in between if _is_tested(each))
    return ClaimResult(told, holds, tuple(each.macro_f1 for each in between), chances)
