"""Statistics of evidence (counts by iteration and label, frequent words), and the difference of two files."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pssa.data.evidence import ACTIVE, MISLEADING, Evidence, ExampleEvidence, Finding, RoundReport
from pssa.errors import InputError


@dataclass(frozen=True, slots=True)
class IterationCount:
    """Findings of one iteration, and their mean entropy."""

    active: int
    misleading: int
    mean_entropy: float | None


@dataclass(frozen=True, slots=True)
class ClassCount:
    """Findings in the examples of one label."""

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
    """Statistics of a file of evidence."""

    examples: int
    examples_without: int
    active: int
    misleading: int
    per_iteration: tuple[IterationCount, ...]  # all iterations of the header, also empty ones
    per_class: Mapping[str, ClassCount]
    active_words: tuple[WordProfile, ...]  # the most frequent first
    misleading_words: tuple[WordProfile, ...]
    rounds: tuple[RoundReport, ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """A word of an example and its kind."""

    word: int
    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class ExampleDiff:
    """How two files differ about one example; a flipped word has the kind of the second file."""

    id: str
    added: tuple[Mark, ...]
    removed: tuple[Mark, ...]
    flipped: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Diff:
    """The examples about which two files differ, and totals over all examples."""

    added: int
    removed: int
    flipped: int
    same: int
    examples: tuple[ExampleDiff, ...]


def stats(evidence: Evidence, top: int = 20) -> Stats:
    """Count findings by iteration, label and word; list the `top` words of each kind."""
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


def diff(first: Evidence, second: Evidence) -> Diff:
    """Compare two files of evidence about the same corpus: words that the second adds, lacks or flips.

    :raises InputError: if they are about different corpora.
    """
    if first.header.corpus_hash != second.header.corpus_hash or len(first.examples) != len(second.examples):
        raise InputError("the two files are about different corpora; compare evidence of the same training file")
    examples = [_example_diff(before, after) for before, after in zip(first.examples, second.examples, strict=True)]
    added, removed, flipped = (
        sum(len(getattr(example, name)) for example in examples) for name in ("added", "removed", "flipped")
    )
    same = sum(len(example.findings) for example in second.examples) - added - flipped
    differing = tuple(example for example in examples if example.added or example.removed or example.flipped)
    return Diff(added, removed, flipped, same, differing)


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


def _example_diff(first: ExampleEvidence, second: ExampleEvidence) -> ExampleDiff:
    before, after = _marks(first), _marks(second)
    return ExampleDiff(
        second.id,
        added=tuple(mark for word, mark in after.items() if word not in before),
        removed=tuple(mark for word, mark in before.items() if word not in after),
        flipped=tuple(mark for word, mark in after.items() if word in before and mark.kind != before[word].kind),
    )


def _marks(example: ExampleEvidence) -> dict[int, Mark]:
    ordered = sorted(example.findings, key=lambda finding: finding.word)
    return {finding.word: Mark(finding.word, example.words[finding.word], finding.kind) for finding in ordered}
