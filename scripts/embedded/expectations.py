"""What the embedded corpus promises, each promise as a named expectation that holds or not.

The promises restate the corpus's README; numbers are bounds, so that a sentence may be added without touching them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from embedded.counts import Reading, count_frequent, count_rare, measure, read_cues
from embedded.cues import is_misleading
from embedded.vocabulary import FREQUENT, rare_words
from pssa.data.example import Example, sentence_key

__all__ = ["Expectation", "examine"]

_LABEL_BOUNDS = {"positive": (0.34, 0.46), "negative": (0.29, 0.41), "neutral": (0.19, 0.31)}


@dataclass(frozen=True, slots=True)
class Expectation:
    """One promise: what was found and whether it is within bounds."""

    what: str
    found: str
    holds: bool


def examine(splits: Mapping[str, Sequence[Example]]) -> list[Expectation]:
    """All promises about `train` and `test`."""
    train, test = (read_cues(splits[split]) for split in ("train", "test"))
    return [
        *_sizes(splits),
        *_language(splits),
        *_frequent_words(train, test),
        *_rare_words(train, test),
        *_slices(test),
        _overlap(splits),
    ]


def _sizes(splits: Mapping[str, Sequence[Example]]) -> Iterator[Expectation]:
    handwritten = 0
    for split, least in (("train", 600), ("test", 200)):
        shares = measure(splits[split])
        handwritten += shares.handwritten
        yield Expectation(f"{split}: at least {least} instances", str(shares.instances), shares.instances >= least)
        for label, (low, high) in _LABEL_BOUNDS.items():
            share = shares.labels[label]
            yield Expectation(f"{split}: {label} {low:.0%} to {high:.0%}", f"{share:.1%}", low <= share <= high)
    yield Expectation("at least 120 sentences written by hand", str(handwritten), handwritten >= 120)


def _language(splits: Mapping[str, Sequence[Example]]) -> Iterator[Expectation]:
    for split, examples in splits.items():
        shares = measure(examples)
        for what, share, least in (
            ("with several aspects", shares.several_aspects, 0.35),
            ("with several labels", shares.mixed, 0.25),
            ("with opposed labels", shares.opposed, 0.10),
            ("with a negation", shares.negation, 0.10),
        ):
            yield Expectation(f"{split}: sentences {what} at least {least:.0%}", f"{share:.1%}", share >= least)


def _frequent_words(train: Sequence[Reading], test: Sequence[Reading]) -> Iterator[Expectation]:
    misleading = [reading for reading in test if "misleading" in reading.example.tags]
    for word, usual in FREQUENT.items():
        seen, misled = count_frequent(train, word), count_frequent(misleading, word)
        share = seen[usual] / max(seen.total(), 1)
        yield Expectation(f"{word!r}: at least 40 in train", str(seen.total()), seen.total() >= 40)
        yield Expectation(f"{word!r}: {usual} in 80% to 95% of train", f"{share:.1%}", 0.8 <= share <= 0.95)
        yield Expectation(f"{word!r}: at least 10 in test/misleading", str(misled.total()), misled.total() >= 10)


def _rare_words(train: Sequence[Reading], test: Sequence[Reading]) -> Iterator[Expectation]:
    words = rare_words()
    seen = {word.text: count_rare(train, word.text) for word in words}
    outside = [text for text, counts in seen.items() if not 2 <= counts.total() <= 4]
    both = [*train, *test]
    unfaithful = [word.text for word in words if set(count_rare(both, word.text)) - {word.label}]
    deciding = {word for reading in test if "misleading" in reading.example.tags for word in reading.cues.rare}
    yield Expectation("each rare word 2 to 4 times in train", _list(outside), not outside)
    yield Expectation("each rare word with one label only", _list(unfaithful), not unfaithful)
    yield Expectation("at least 60 rare words decide in test/misleading", str(len(deciding)), len(deciding) >= 60)


def _slices(test: Sequence[Reading]) -> Iterator[Expectation]:
    misleading = [reading for reading in test if "misleading" in reading.example.tags]
    share = len(misleading) / len(test)
    undecided = [reading.example.id for reading in misleading if not reading.cues.rare]
    mistagged = [
        reading.example.id
        for reading in test
        if ("misleading" if is_misleading(reading.cues, reading.example.label) else "plain") not in reading.example.tags
    ]
    yield Expectation("test: misleading 35% to 42%", f"{share:.1%}", 0.35 <= share <= 0.42)
    yield Expectation("a rare word decides each misleading instance", _list(undecided), not undecided)
    yield Expectation("test tags follow the rule", _list(mistagged), not mistagged)


def _overlap(splits: Mapping[str, Sequence[Example]]) -> Expectation:
    train, test = ({sentence_key(example.text) for example in splits[split]} for split in ("train", "test"))
    return Expectation("no sentence in both splits", str(len(train & test)), not train & test)


def _list(offenders: list[str]) -> str:
    return ", ".join(offenders) or "none amiss"
