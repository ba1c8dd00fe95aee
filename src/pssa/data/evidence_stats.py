"""What is in evidence: counts by iteration and by label, and the most frequent words with their polarity profile."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pssa.data.evidence import ACTIVE, MISLEADING, Evidence, ExampleEvidence, Finding, RoundReport

__all__ = ["ClassCount", "IterationCount", "Stats", "WordProfile", "stats"]


@dataclass(frozen=True, slots=True)
class IterationCount:
    """What one iteration found; the mean entropy is over its findings."""

    active: int
    misleading: int
    mean_entropy: float | None


@dataclass(frozen=True, slots=True)
class ClassCount:
    """What was found in the examples of one label."""

    examples: int
    active: int
    misleading: int


@dataclass(frozen=True, slots=True)
class WordProfile:
    """How often a word was found, and with which gold labels."""

    word: str
    count: int
    labels: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Stats:
    """What is in a file of evidence."""

    examples: int
    examples_without: int
    active: int
    misleading: int
    per_iteration: tuple[IterationCount, ...]  # as many as the header says, also empty ones
    per_class: Mapping[str, ClassCount]
    active_words: tuple[WordProfile, ...]  # the most frequent first
    misleading_words: tuple[WordProfile, ...]
    rounds: tuple[RoundReport, ...]


def stats(evidence: Evidence, top: int = 20) -> Stats:
    """Count findings by iteration, label and word; `top` words of each kind are named."""
    examples = evidence.examples
    findings = [finding for example in examples for finding in example.findings]
    by_iteration = defaultdict[int, list[Finding]](list)
    for finding in findings:
        by_iteration[finding.iteration].append(finding)
    iterations = range(1, evidence.header.iterations + 1)
    return Stats(
        examples=len(examples),
        examples_without=sum(not example.findings for example in examples),
        active=_count(findings, ACTIVE),
        misleading=_count(findings, MISLEADING),
        per_iteration=tuple(_iteration_count(by_iteration[iteration]) for iteration in iterations),
        per_class={label: _class_count(examples, label) for label in sorted({example.label for example in examples})},
        active_words=_profiles(examples, ACTIVE)[:top],
        misleading_words=_profiles(examples, MISLEADING)[:top],
        rounds=evidence.header.rounds,
    )


def _count(findings: Iterable[Finding], kind: str) -> int:
    return sum(finding.kind == kind for finding in findings)


def _iteration_count(found: Sequence[Finding]) -> IterationCount:
    mean = math.fsum(finding.entropy for finding in found) / len(found) if found else None
    return IterationCount(_count(found, ACTIVE), _count(found, MISLEADING), mean)


def _class_count(examples: Iterable[ExampleEvidence], label: str) -> ClassCount:
    chosen = [example for example in examples if example.label == label]
    findings = [finding for example in chosen for finding in example.findings]
    return ClassCount(len(chosen), _count(findings, ACTIVE), _count(findings, MISLEADING))


def _profiles(examples: Iterable[ExampleEvidence], kind: str) -> tuple[WordProfile, ...]:
    labels: dict[str, Counter[str]] = {}
    for example in examples:
        for finding in example.findings:
            if finding.kind == kind:
                labels.setdefault(example.words[finding.word].casefold(), Counter())[finding.gold] += 1
    profiles = [WordProfile(word, counts.total(), dict(sorted(counts.items()))) for word, counts in labels.items()]
    return tuple(sorted(profiles, key=lambda profile: (-profile.count, profile.word)))
