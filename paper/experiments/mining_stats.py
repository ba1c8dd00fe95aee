"""Statistics of mined evidence: words by round and kind, how many of them people marked, how common they are in training.

`describe_evidence` computes the record of a mining; `MarkedWords` and the `count_...` functions sum such records over seeds.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from paper.experiments.ledger import Record
from pssa.data import Corpus, Example
from pssa.data.evidence import ACTIVE, Evidence, ExampleEvidence, Finding

# Lowest scores at which agreement with people is counted; a consensus at one threshold holds the words of higher ones.
_LEAST_SCORES = tuple(number / 10 for number in range(10))


def random_words(evidence: Evidence, seed: int) -> Evidence:
    """Return as many findings of each instance, of the same kinds, at random words that are not in its aspect: a control."""
    draws = random.Random(seed)
    examples = []
    for example in evidence.examples:
        free = [word for word in range(len(example.words)) if not example.aspect[0] <= word < example.aspect[1]]
        drawn = draws.sample(free, len(example.findings))
        found = zip(drawn, example.findings, strict=True)
        examples.append(replace(example, findings=tuple(replace(one, word=word) for word, one in found)))
    edits = (*evidence.header.edits, f"words drawn at random with seed {seed}")
    return Evidence(replace(evidence.header, edits=edits), tuple(examples))


def word_counts(corpus: Corpus) -> Counter[str]:
    """Return how often each word occurs, lower-cased; a sentence with two aspects counts twice, as in training."""
    return Counter(word.lower() for example in corpus for word in example.words)


def describe_evidence(evidence: Evidence, corpus: Corpus, human: Evidence | None) -> dict[str, Any]:
    """Return the record of a mining.

    :param human: the words that people marked in the same corpus.
    """
    counts = word_counts(corpus)
    rounds: dict[int, dict[str, Any]] = {}
    marks = [frozenset(each.word for each in example.findings) for example in human.examples] if human else None
    for number, example in enumerate(evidence.examples):
        for finding in example.findings:
            row = rounds.setdefault(
                finding.iteration,
                {"active": 0, "misleading": 0, "log_frequency": 0.0, "seen_once": 0, "judged": {}, "marked": {}},
            )
            word = example.words[finding.word].lower()
            row[finding.kind] += 1
            if finding.kind == ACTIVE:
                row["log_frequency"] += math.log(counts[word])
                row["seen_once"] += counts[word] == 1
                _compare(row, finding, example.label, marks[number] if marks else None)
    judged = [number for number, marked in enumerate(marks) if marked] if marks else []
    described = {
        "instances": len(evidence.examples),
        "with_active": sum(bool(example.active) for example in evidence.examples),
        "judged": len(judged),
        "judged_with_active": sum(bool(evidence.examples[number].active) for number in judged),
        "rounds": {str(number): rounds[number] for number in sorted(rounds)},
    }
    if marks:
        examples = [(evidence.examples[number], marks[number]) for number in judged]
        described["by_score"] = _by_score(examples)
        described["opinion"] = _opinion(examples, counts)
        described["reference"] = _reference([(corpus[number], marks[number]) for number in judged])
    return described


def _compare(row: dict[str, Any], finding: Finding, label: str, marked: frozenset[int] | None) -> None:
    """Count active words of an instance in which people marked any, and those that they marked, by its label."""
    if marked:
        row["judged"][label] = row["judged"].get(label, 0) + 1
        row["marked"][label] = row["marked"].get(label, 0) + (finding.word in marked)


def _by_score(examples: Sequence[tuple[ExampleEvidence, frozenset[int]]]) -> dict[str, dict[str, Any]]:
    """Return, for each lowest score, active words and marked ones by label, and the number of instances with one."""
    found: dict[str, dict[str, Any]] = {}
    for least in _LEAST_SCORES:
        row: dict[str, Any] = {"judged": {}, "marked": {}, "covered": 0}
        for example, marked in examples:
            kept = [finding for finding in example.active if finding.score > least]
            row["covered"] += bool(kept)
            for finding in kept:
                _compare(row, finding, example.label, marked)
        found[str(least)] = row
    return found


def _opinion(
    examples: Sequence[tuple[ExampleEvidence, frozenset[int]]], counts: Counter[str]
) -> dict[str, dict[str, float]]:
    """Return how common the marked words are that the first round, a later round or no round found."""
    found = {name: {"words": 0, "log_frequency": 0.0} for name in ("first", "later", "missed")}
    for example, marked in examples:
        iteration = {finding.word: finding.iteration for finding in example.active}
        for word in marked:
            row = found["missed" if word not in iteration else "first" if iteration[word] == 1 else "later"]
            row["words"] += 1
            row["log_frequency"] += math.log(counts[example.words[word].lower()])
    return found


def _reference(examples: Sequence[tuple[Example, frozenset[int]]]) -> dict[str, dict[str, float]]:
    """Return by label the hits expected of a random candidate, and of the candidate nearest to the aspect."""
    found: dict[str, dict[str, float]] = {}
    for example, marked in examples:
        row = found.setdefault(example.label or "", {"instances": 0, "random": 0.0, "nearest": 0.0})
        row["instances"] += 1
        row["random"] += len(marked) / len(example.candidates)
        nearest = _nearest(example)
        row["nearest"] += len(nearest & marked) / len(nearest)
    return found


def _nearest(example: Example) -> frozenset[int]:
    """Return the candidate next to the aspect, or both neighbours."""
    first, end = example.aspect
    away = {word: max(first - word, word - end + 1) for word in example.candidates}
    return frozenset(word for word, distance in away.items() if distance == min(away.values()))


@dataclass(frozen=True)
class MarkedWords:
    """Words of instances in which people marked any, and how many of them people marked; expected numbers for random words."""

    judged: Mapping[str, float]  # words by the label of their instance
    marked: Mapping[str, float]  # those among them that people marked
    covered: float  # instances with a word
    instances: float

    @property
    def precision(self) -> float | None:
        """Share of the words that people marked."""
        words = sum(self.judged.values())
        return sum(self.marked.values()) / words if words else None

    @property
    def coverage(self) -> float | None:
        """Share of the instances with a word."""
        return self.covered / self.instances if self.instances else None

    def precision_of(self, label: str) -> float | None:
        """Return the share of marked words in instances of one label."""
        words = self.judged.get(label, 0)
        return self.marked.get(label, 0) / words if words else None


def count_round(records: Sequence[Record], number: int) -> MarkedWords:
    """Count the words of one round, which takes at most one from an instance."""
    rounds = [record["rounds"][str(number)] for record in records if str(number) in record["rounds"]]
    return _count(records, rounds, sum(sum(each["judged"].values()) for each in rounds))


def count_all_rounds(records: Sequence[Record]) -> MarkedWords:
    """Count the words of all rounds."""
    rounds = [each for record in records for each in record["rounds"].values()]
    return _count(records, rounds, sum(record["judged_with_active"] for record in records))


def count_above(records: Sequence[Record], least: float) -> MarkedWords:
    """Count the words with a score above `least`, in records that have scores."""
    found = [record["by_score"][str(least)] for record in records]
    return _count(records, found, sum(each["covered"] for each in found))


def count_reference(records: Sequence[Record], kind: str) -> MarkedWords:
    """Count a `random` candidate of every instance, or the `nearest` to the aspect, in records that have it."""
    names = {"judged": "instances", "marked": kind}
    found = [
        {name: {label: row[of] for label, row in record["reference"].items()} for name, of in names.items()}
        for record in records
    ]
    return _count(records, found, sum(sum(each["judged"].values()) for each in found))


def _count(records: Sequence[Record], found: Iterable[Record], covered: float) -> MarkedWords:
    judged: Counter[str] = Counter()
    marked: Counter[str] = Counter()
    for each in found:
        judged.update(each["judged"])
        marked.update(each["marked"])
    return MarkedWords(judged, marked, covered, sum(record["judged"] for record in records))
