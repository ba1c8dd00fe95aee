"""The numbers that decide claims, each from the records of one model on one data set.

Differences of scores are tested against other trainings and other test sets. Of other numbers every seed has its say: a claim is
decided where all of them say the same.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Collection, Sequence

from pssa.experiments.cells import Place
from pssa.experiments.comparison import Difference, stars
from pssa.experiments.ledger import Record
from pssa.studies.exhibits._claim import Found, Measured
from pssa.studies.exhibits._tally import tally_round

__all__ = [
    "attention_leaves",
    "attention_on",
    "attention_spreads",
    "common_first",
    "frequency_by_round",
    "gains_throughout",
    "gap_is_larger",
    "is_better",
    "is_no_better",
    "is_no_different",
    "is_worse",
    "later_is_rarer",
    "mean_frequency",
    "mostly_active",
    "noise_helps",
    "rank_correlation",
    "rises_with_epsilon",
    "word_is_always_positive",
]

_SIGNIFICANT = 0.05
_LATER = range(2, 100)
_UNCORRELATED = 0.5  # mean rank correlation below which two saliencies are said to disagree
_FEW = 2  # seeds without which chance is unknown


def is_better(found: Found) -> Measured | None:
    """Whether macro-F1 rises from `theirs` to `ours`, or falls, by more than chance."""
    return _judge(found, _rises)


def is_worse(found: Found) -> Measured | None:
    """Whether macro-F1 falls from `theirs` to `ours`, or rises, by more than chance."""
    return _judge(found, lambda between: None if (rises := _rises(between)) is None else not rises)


def is_no_better(found: Found) -> Measured | None:
    """Whether chance explains what macro-F1 gains, if anything."""
    return _judge(found, lambda between: between.p_rise >= _SIGNIFICANT if _is_tested(between) else None)


def is_no_different(found: Found) -> Measured | None:
    """Whether chance explains what macro-F1 gains or loses; both directions share the level."""
    return _judge(
        found,
        lambda between: min(between.p_rise, between.p_fall) >= _SIGNIFICANT / 2 if _is_tested(between) else None,
    )


def gains_throughout(found: Found) -> Measured | None:
    """Whether macro-F1 rises in each of several pairs, named `ours ...` and `theirs ...`, or falls in one."""
    pairs = [(name, f"theirs{name.removeprefix('ours')}") for name in found.rows if name.startswith("ours")]
    between = [each for ours, theirs in pairs if (each := found.difference(ours, theirs)) is not None]
    if len(between) < len(pairs):
        return None
    risen = [_rises(each) for each in between]
    return _measured(between, False if False in risen else None if None in risen else True)


def gap_is_larger(found: Found) -> Measured:
    """Whether active words help more than misleading ones by a wider gap than in MN, over both saliencies."""
    own, other = _gaps(found)
    return Measured(f"{own:+.2f} against {other:+.2f}", _agreed(found, lambda one: _falls(_gaps(one))), (own, other))


def frequency_by_round(found: Found) -> Measured:
    """Whether the words of the last round are rarer in training than those of the first."""
    means = _frequencies(found)
    told = " → ".join(f"{mean:.1f}" for mean in means)
    return Measured(told, _agreed(found, lambda one: _falls(_frequencies(one))), means)


def mean_frequency(records: Sequence[Record], number: int) -> float | None:
    """Geometric mean, over a round's active words, of how often the word stands in train."""
    rounds = [record["rounds"][str(number)] for record in records if str(number) in record["rounds"]]
    words = sum(each["active"] for each in rounds)
    return math.exp(sum(each["log_frequency"] for each in rounds) / words) if words else None


def common_first(found: Found) -> Measured | None:
    """Whether the opinion words that the first round finds are more common than those that no round does."""
    return _compare_opinion(found, "missed")


def later_is_rarer(found: Found) -> Measured | None:
    """Whether the opinion words of later rounds are rarer than those of the first."""
    return _compare_opinion(found, "later")


def mostly_active(found: Found) -> Measured:
    """Whether more active words are found than misleading ones."""
    active, misleading = _kinds(found)
    holds = _agreed(found, lambda one: _falls(_kinds(one)), least=1)
    return Measured(f"{active:,} : {misleading:,}", holds, (active, misleading))


def rises_with_epsilon(found: Found) -> Measured:
    """Whether a higher threshold never finds fewer words."""
    counts = _words_by_row(found)
    holds = _agreed(found, lambda one: _words_by_row(one) == tuple(sorted(_words_by_row(one))), least=1)
    return Measured(" → ".join(f"{count:,}" for count in counts), holds, counts)


def noise_helps(found: Found) -> Measured | None:
    """Whether the words of the first round are opinion words more often with the noise of ten samples than without any."""
    shares = _shares_of_marked(found)
    if not shares:
        return None
    holds = _agreed(found, lambda one: _falls(_shares_of_marked(one)[::-1]))
    return Measured(", ".join(f"{share:.3f}" for share in shares), holds, shares)


def rank_correlation(found: Found) -> Measured | None:
    """Whether attention and gradients put words in different orders."""
    mean = _mean_tau(found)
    if mean is None:
        return None
    return Measured(f"tau {mean:.2f}", _agreed(found, _is_uncorrelated), (mean,))


def attention_spreads(found: Found) -> Measured | None:
    """Whether supervision raises attention on the active words of later rounds."""
    first, later = (_moved(found, "active", numbers) for numbers in ((1,), _LATER))
    if not later:
        return None
    told = f"later {later[0]:.3f} → {later[1]:.3f}"
    told = f"first {first[0]:.3f} → {first[1]:.3f}, {told}" if first else told
    holds = _agreed(found, lambda one: _falls(_moved(one, "active", _LATER)[::-1]))
    return Measured(told, holds, (*(first or (None, None)), *later))


def attention_leaves(found: Found) -> Measured | None:
    """Whether supervision lowers attention on misleading words."""
    moved = _moved(found, "misleading", ())
    if not moved:
        return None
    holds = _agreed(found, lambda one: _falls(_moved(one, "misleading", ())))
    return Measured(f"{moved[0]:.3f} → {moved[1]:.3f}", holds, moved)


def attention_on(records: Sequence[Record], kind: str, numbers: Collection[int] = ()) -> float | None:
    """Mean attention on the words of a kind, of some rounds or, where none is named, of all."""
    looked = [pair for record in records for pair in record["found"].items()]
    rounds = [row for number, row in looked if not numbers or int(number) in numbers]
    words = sum(each[kind]["words"] for each in rounds)
    return sum(each[kind]["attention"] for each in rounds) / words if words else None


def word_is_always_positive(found: Found) -> Measured | None:
    """Whether `huge` stands in positive training instances of LAPTOP only."""
    source = found.scope.resources.sources[found.data]
    if found.data != "laptop" or source.test is None:
        return None
    train, _ = found.scope.resources.corpora(Place(found.data, "", 0))
    counts = Counter(example.label for example in train if "huge" in (word.lower() for word in example.words))
    if not counts:
        return None
    told = ", ".join(f"{counts[label]} {label}" for label in train.labels)
    return Measured(told, set(counts) == {"positive"}, tuple(counts[label] for label in train.labels))


def _compare_opinion(found: Found, other: str) -> Measured | None:
    """Frequencies of opinion words that the first round found, and of others."""
    means = _opinion_frequencies(found, other)
    if not means:
        return None
    holds = _agreed(found, lambda one: _falls(_opinion_frequencies(one, other)))
    return Measured(f"{means[0]:.1f} against {means[1]:.1f}", holds, means)


def _agreed(found: Found, holds: Callable[[Found], bool | None], least: int = _FEW) -> bool | None:
    """What all seeds say, where there are enough of them; nothing where they do not say the same."""
    said = {holds(found.only(seed)) for seed in found.seeds}
    return said.pop() if len(found.seeds) >= least and len(said) == 1 else None


def _falls(numbers: Sequence[float]) -> bool | None:
    """Whether the last is below the first; neither where they are equal, or there are no two."""
    if len(numbers) < 2 or numbers[0] == numbers[-1]:
        return None
    return numbers[-1] < numbers[0]


def _gaps(found: Found) -> tuple[float, float]:
    """Macro-F1 of active words less that of misleading ones, mean of both saliencies, of the model and of MN."""
    own, other = (
        statistics.mean(_macro_f1(found, f"{who} {way}_a") - _macro_f1(found, f"{who} {way}_m") for way in ("AW", "PG"))
        for who in ("own", "MN")
    )
    return own, other


def _frequencies(found: Found) -> tuple[float, ...]:
    """By round, how common its active words are."""
    records = found.records("mined")
    numbers = sorted({int(number) for record in records for number in record["rounds"]})
    return tuple(mean for number in numbers if (mean := mean_frequency(records, number)) is not None)


def _kinds(found: Found) -> tuple[int, int]:
    """Active and misleading words of all rounds."""
    rounds = [each for record in found.records("mined") for each in record["rounds"].values()]
    active, misleading = (sum(each[kind] for each in rounds) for kind in ("active", "misleading"))
    return active, misleading


def _words_by_row(found: Found) -> tuple[int, ...]:
    """All words, by what was asked for."""
    return tuple(
        sum(each["active"] + each["misleading"] for record in found.records(name) for each in record["rounds"].values())
        for name in found.rows
    )


def _shares_of_marked(found: Found) -> tuple[float, ...]:
    """Of the first round's words, by what was asked for; nothing where one is unknown."""
    shares = [tally_round(found.records(name), 1).precision for name in found.rows]
    return () if None in shares else tuple(share for share in shares if share is not None)


def _mean_tau(found: Found) -> float | None:
    """Kendall's tau of attention and gradients, over the seeds that have one."""
    pairs = [record["found"]["correlation"][0]["kendall"] for record in found.records("looked")]
    known = [pair["mean"] for pair in pairs if pair is not None]
    return statistics.mean(known) if known else None


def _is_uncorrelated(found: Found) -> bool | None:
    mean = _mean_tau(found)
    return None if mean is None else mean < _UNCORRELATED


def _moved(found: Found, kind: str, numbers: Collection[int]) -> tuple[float, ...]:
    """Attention before and after; nothing where one is unknown."""
    before, after = (attention_on(found.records(name), kind, numbers) for name in ("before", "after"))
    return () if before is None or after is None else (before, after)


def _opinion_frequencies(found: Found, other: str) -> tuple[float, ...]:
    """Geometric means, of the opinion words that the first round found and of others; nothing where there are none."""
    opinion = [record["opinion"] for record in found.records("mined") if "opinion" in record]
    sums = [
        (sum(each[name]["log_frequency"] for each in opinion), sum(each[name]["words"] for each in opinion))
        for name in ("first", other)
    ]
    return tuple(math.exp(total / words) for total, words in sums) if all(words for _, words in sums) else ()


def _macro_f1(found: Found, name: str) -> float:
    return 100 * statistics.mean(float(record["macro_f1"]) for record in found.records(name))


def _is_tested(between: Difference) -> bool:
    # Another training of the same is drawn from those that there are.
    return between.seeds >= _FEW


def _rises(between: Difference) -> bool | None:
    if not _is_tested(between) or between.p >= _SIGNIFICANT:
        return None
    return between.macro_f1 > 0


def _judge(found: Found, holds: Callable[[Difference], bool | None]) -> Measured | None:
    between = found.difference()
    return None if between is None else _measured([between], holds(between))


def _measured(between: Sequence[Difference], holds: bool | None) -> Measured:
    """Differences in macro-F1, with their stars where they were tested."""
    told = ", ".join(f"{each.macro_f1:+.2f}{stars(each.p) if _is_tested(each) else ''}" for each in between)
    chances = tuple(each.p for each in between if _is_tested(each))
    return Measured(told, holds, tuple(each.macro_f1 for each in between), chances)
