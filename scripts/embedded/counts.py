"""What can be counted in a split of the corpus: labels, sentences and, through their cues, its strong words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from embedded.cues import Cues, find_cues
from pssa.data.example import DEFAULT_LABELS, Example

__all__ = ["NEGATIONS", "Reading", "Shares", "count_frequent", "count_rare", "measure", "read_cues"]

# `t` is what the tokeniser leaves of `don't`.
NEGATIONS = frozenset({"not", "no", "never", "nobody", "nothing", "neither", "nor", "cannot", "without", "hardly", "t"})


@dataclass(frozen=True, slots=True)
class Reading:
    """An example with the strong words that belong to its aspect."""

    example: Example
    cues: Cues


@dataclass(frozen=True, slots=True)
class Shares:
    """Sizes of a split and shares of its instances (labels) or sentences (the rest)."""

    instances: int
    sentences: int
    handwritten: int
    labels: Mapping[str, float]
    several_aspects: float
    mixed: float  # with more than one label
    opposed: float  # with a positive and a negative aspect
    negation: float


def measure(examples: Sequence[Example]) -> Shares:
    """Count one split."""
    sentences = list(_sentences(examples))
    labels = Counter(example.label for example in examples)
    found = [frozenset(example.label for example in sentence) for sentence in sentences]
    return Shares(
        instances=len(examples),
        sentences=len(sentences),
        handwritten=sum("hand" in sentence[0].tags for sentence in sentences),
        labels={label: labels[label] / len(examples) for label in DEFAULT_LABELS},
        several_aspects=_share(len(sentence) > 1 for sentence in sentences),
        mixed=_share(len(one) > 1 for one in found),
        opposed=_share({"positive", "negative"} <= one for one in found),
        negation=_share(not NEGATIONS.isdisjoint(map(str.lower, sentence[0].words)) for sentence in sentences),
    )


def read_cues(examples: Sequence[Example]) -> list[Reading]:
    """Every example with its cues."""
    return [
        Reading(example, cues)
        for sentence in _sentences(examples)
        for example, cues in zip(sentence, find_cues(sentence), strict=True)
    ]


def count_frequent(readings: Iterable[Reading], word: str) -> Counter[str | None]:
    """The labels of the aspects that this frequent word belongs to."""
    return Counter(reading.example.label for reading in readings if word in reading.cues.frequent)


def count_rare(readings: Iterable[Reading], word: str) -> Counter[str | None]:
    """The labels of the aspects that this rare word belongs to."""
    return Counter(reading.example.label for reading in readings if word in reading.cues.rare)


def _sentences(examples: Sequence[Example]) -> Iterator[list[Example]]:
    return (list(group) for _, group in groupby(examples, key=lambda example: example.sentence_id))


def _share(hits: Iterable[bool]) -> float:
    found = list(hits)
    return sum(found) / len(found)
