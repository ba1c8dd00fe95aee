"""What mined evidence holds, round by round: words of each kind, how many people marked too, how common they are in training."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pssa.data import Corpus, Example
from pssa.data.evidence import ACTIVE, Evidence, ExampleEvidence, Finding

__all__ = ["common_words", "describe_evidence", "word_counts"]

Marks = Sequence[frozenset[int]]  # the words that people marked in each instance
# Least scores of a word at which its agreement with people is told; a consensus at one threshold holds those of higher ones.
_LEAST_SCORES = tuple(number / 10 for number in range(10))


def common_words(first: Evidence, second: Evidence) -> Evidence:
    """The findings of the first that the second has too, of the same kind."""
    examples = []
    for ours, theirs in zip(first.examples, second.examples, strict=True):
        wanted = {(finding.word, finding.kind) for finding in theirs.findings}
        kept = tuple(finding for finding in ours.findings if (finding.word, finding.kind) in wanted)
        examples.append(replace(ours, findings=kept))
    edits = (*first.header.edits, f"words that {second.header.method} found too")
    return Evidence(replace(first.header, edits=edits), tuple(examples))


def word_counts(corpus: Corpus) -> Counter[str]:
    """How often each word stands in the instances, lower-cased; a sentence with two aspects counts twice, as in training."""
    return Counter(word.lower() for example in corpus for word in example.words)


def describe_evidence(evidence: Evidence, corpus: Corpus, human: Evidence | None) -> dict[str, Any]:
    """Counts that exhibits are made of; `human` is what people marked in the same corpus."""
    counts = word_counts(corpus)
    rounds: dict[int, dict[str, Any]] = {}
    marks = _marks(human) if human else None
    for number, example in enumerate(evidence.examples):
        for finding in example.findings:
            row = rounds.setdefault(finding.iteration, _blank())
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


def _blank() -> dict[str, Any]:
    return {"active": 0, "misleading": 0, "log_frequency": 0.0, "seen_once": 0, "judged": {}, "marked": {}}


def _compare(row: dict[str, Any], finding: Finding, label: str, marked: frozenset[int] | None) -> None:
    """Count, by the instance's label, active words where people marked any, and those among them that they marked."""
    if marked:
        row["judged"][label] = row["judged"].get(label, 0) + 1
        row["marked"][label] = row["marked"].get(label, 0) + (finding.word in marked)


def _marks(human: Evidence) -> list[frozenset[int]]:
    return [frozenset(finding.word for finding in example.findings) for example in human.examples]


def _by_score(examples: Sequence[tuple[ExampleEvidence, frozenset[int]]]) -> dict[str, dict[str, Any]]:
    """Active words above each least score and those that people marked, by label, and the instances that have one."""
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
    """How common the marked words are that the first round found, that a later one did, and that none did."""
    found = {name: {"words": 0, "log_frequency": 0.0} for name in ("first", "later", "missed")}
    for example, marked in examples:
        iteration = {finding.word: finding.iteration for finding in example.active}
        for word in marked:
            row = found["missed" if word not in iteration else "first" if iteration[word] == 1 else "later"]
            row["words"] += 1
            row["log_frequency"] += math.log(counts[example.words[word].lower()])
    return found


def _reference(examples: Sequence[tuple[Example, frozenset[int]]]) -> dict[str, dict[str, float]]:
    """By label, what needs no model: hits expected of a random candidate, and of the candidate nearest to the aspect."""
    found: dict[str, dict[str, float]] = {}
    for example, marked in examples:
        row = found.setdefault(example.label or "", {"instances": 0, "random": 0.0, "nearest": 0.0})
        row["instances"] += 1
        row["random"] += len(marked) / len(example.candidates)
        nearest = _nearest(example)
        row["nearest"] += len(nearest & marked) / len(nearest)
    return found


def _nearest(example: Example) -> frozenset[int]:
    """The candidate beside the aspect, or both where it has two neighbours."""
    first, end = example.aspect
    away = {word: max(first - word, word - end + 1) for word in example.candidates}
    return frozenset(word for word, distance in away.items() if distance == min(away.values()))
