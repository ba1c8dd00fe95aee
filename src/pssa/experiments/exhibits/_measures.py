"""The numbers that decide claims, each from the records of one model on one data set."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Collection, Sequence

from pssa.experiments.cells import Place
from pssa.experiments.comparison import Gain, stars
from pssa.experiments.exhibits._claim import Found, Measured
from pssa.experiments.exhibits._tally import tally_round
from pssa.experiments.ledger import Record

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


def is_better(found: Found) -> Measured | None:
    """Whether macro-F1 rises from `theirs` to `ours`, or falls, by more than chance."""
    return _judge(found, _rises)


def is_worse(found: Found) -> Measured | None:
    """Whether macro-F1 falls from `theirs` to `ours`, or rises, by more than chance."""
    return _judge(found, lambda gain: None if (rises := _rises(gain)) is None else not rises)


def is_no_better(found: Found) -> Measured | None:
    """Whether chance explains what macro-F1 gains, if anything."""
    return _judge(found, lambda gain: gain.p_macro_f1 >= _SIGNIFICANT)


def is_no_different(found: Found) -> Measured | None:
    """Whether chance explains what macro-F1 gains or loses."""
    return _judge(found, lambda gain: gain.macro_f1 == 0 or _SIGNIFICANT <= gain.p_macro_f1 <= 1 - _SIGNIFICANT)


def gains_throughout(found: Found) -> Measured | None:
    """Whether macro-F1 rises in each of several pairs, named `ours ...` and `theirs ...`, or falls in one."""
    pairs = [(name, f"theirs{name.removeprefix('ours')}") for name in found.rows if name.startswith("ours")]
    gains = [gain for ours, theirs in pairs if (gain := found.gain(ours, theirs)) is not None]
    if len(gains) < len(pairs):
        return None
    risen = [_rises(gain) for gain in gains]
    return _measured(gains, False if False in risen else None if None in risen else True)


def gap_is_larger(found: Found) -> Measured:
    """Whether active words help more than misleading ones by a wider gap than in MN, over both saliencies."""
    own, other = (
        statistics.mean(_macro_f1(found, f"{who} {way}_a") - _macro_f1(found, f"{who} {way}_m") for way in ("AW", "PG"))
        for who in ("own", "MN")
    )
    # How much of it is chance is not tested, so that no gap of these can confirm it.
    return Measured(f"{own:+.2f} against {other:+.2f}", None if own > other else False, (own, other))


def frequency_by_round(found: Found) -> Measured:
    """Whether the words of the last round are rarer in training than those of the first."""
    records = found.records("mined")
    numbers = sorted({int(number) for record in records for number in record["rounds"]})
    means = [mean for number in numbers if (mean := mean_frequency(records, number)) is not None]
    holds = len(means) > 1 and means[-1] < means[0]
    return Measured(" → ".join(f"{mean:.1f}" for mean in means), holds, tuple(means))


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
    rounds = [each for record in found.records("mined") for each in record["rounds"].values()]
    active, misleading = (sum(each[kind] for each in rounds) for kind in ("active", "misleading"))
    return Measured(f"{active:,} : {misleading:,}", active > misleading, (active, misleading))


def rises_with_epsilon(found: Found) -> Measured:
    """Whether a higher threshold never finds fewer words."""
    counts = []
    for name in found.rows:
        rounds = [each for record in found.records(name) for each in record["rounds"].values()]
        counts.append(sum(each["active"] + each["misleading"] for each in rounds))
    return Measured(" → ".join(f"{count:,}" for count in counts), counts == sorted(counts), tuple(counts))


def noise_helps(found: Found) -> Measured | None:
    """Whether the words of the first round are opinion words more often with the noise of ten samples than without any."""
    shares = [tally_round(found.records(name), 1).precision for name in found.rows]
    known = [share for share in shares if share is not None]
    if len(known) < len(shares):
        return None
    return Measured(", ".join(f"{share:.3f}" for share in known), known[-1] > known[0], tuple(known))


def rank_correlation(found: Found) -> Measured | None:
    """Whether attention and gradients put words in different orders."""
    pairs = [record["found"]["correlation"][0]["kendall"] for record in found.records("looked")]
    known = [pair["mean"] for pair in pairs if pair is not None]
    if not known:
        return None
    mean = statistics.mean(known)
    return Measured(f"tau {mean:.2f}", mean < _UNCORRELATED, (mean,))


def attention_spreads(found: Found) -> Measured | None:
    """Whether supervision raises attention on the active words of later rounds."""
    first, later = (_moved(found, "active", numbers) for numbers in ((1,), _LATER))
    if later is None:
        return None
    told = f"later {later[0]:.3f} → {later[1]:.3f}"
    told = f"first {first[0]:.3f} → {first[1]:.3f}, {told}" if first else told
    return Measured(told, later[1] > later[0], (*(first or (None, None)), *later))


def attention_leaves(found: Found) -> Measured | None:
    """Whether supervision lowers attention on misleading words."""
    moved = _moved(found, "misleading", ())
    return None if moved is None else Measured(f"{moved[0]:.3f} → {moved[1]:.3f}", moved[1] < moved[0], moved)


def attention_on(records: Sequence[Record], kind: str, numbers: Collection[int] = ()) -> float | None:
    """Mean attention on the words of a kind, of some rounds or, where none is named, of all."""
    looked = [pair for record in records for pair in record["found"].items()]
    rounds = [row for number, row in looked if not numbers or int(number) in numbers]
    words = sum(each[kind]["words"] for each in rounds)
    return sum(each[kind]["attention"] for each in rounds) / words if words else None


def _moved(found: Found, kind: str, numbers: Collection[int]) -> tuple[float, float] | None:
    before, after = (attention_on(found.records(name), kind, numbers) for name in ("before", "after"))
    return None if before is None or after is None else (before, after)


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
    """Geometric mean frequencies of opinion words that the first round found, and of others."""
    opinion = [record["opinion"] for record in found.records("mined") if "opinion" in record]
    sums = [
        (sum(each[name]["log_frequency"] for each in opinion), sum(each[name]["words"] for each in opinion))
        for name in ("first", other)
    ]
    if not all(words for _, words in sums):
        return None
    first, rest = (math.exp(total / words) for total, words in sums)
    return Measured(f"{first:.1f} against {rest:.1f}", first > rest, (first, rest))


def _macro_f1(found: Found, name: str) -> float:
    return 100 * statistics.mean(float(record["macro_f1"]) for record in found.records(name))


def _rises(gain: Gain) -> bool | None:
    return gain.macro_f1 > 0 if _chance(gain) < _SIGNIFICANT else None


def _chance(gain: Gain) -> float:
    """Of no difference in the direction that there is."""
    return 1 - gain.p_macro_f1 if gain.macro_f1 < 0 else gain.p_macro_f1


def _judge(found: Found, holds: Callable[[Gain], bool | None]) -> Measured | None:
    gain = found.gain()
    return None if gain is None else _measured([gain], holds(gain))


def _measured(gains: Sequence[Gain], holds: bool | None) -> Measured:
    """Gains in macro-F1, with their stars, and losses with theirs."""
    told = ", ".join(f"{gain.macro_f1:+.2f}{stars(_chance(gain))}" for gain in gains)
    return Measured(told, holds, tuple(gain.macro_f1 for gain in gains), tuple(_chance(gain) for gain in gains))
