"""Statistics of evidence (counts by iteration and label, frequent words), and the difference of two files."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pssa.data.evidence import ACTIVE, KINDS, MISLEADING, Evidence, ExampleEvidence, Finding, RoundReport
from pssa.errors import InputError


@dataclass(frozen=True, slots=True)
class Stats:
    """Statistics of a file of evidence."""

    examples: int
    examples_without: int
    active: int
    misleading: int
    per_iteration: tuple[Mapping[str, Any], ...]  # active, misleading, mean_entropy of every iteration of the header
    per_class: Mapping[str, Mapping[str, int]]  # examples, active, misleading by label
    active_words: tuple[Mapping[str, Any], ...]  # word, count, labels (counts by gold label); the most frequent first
    misleading_words: tuple[Mapping[str, Any], ...]
    rounds: tuple[RoundReport, ...]


def stats(evidence: Evidence, top: int = 20) -> Stats:
    """Count findings by iteration, label and word; list the `top` words of each kind."""
    by_iteration = defaultdict[int, list[Finding]](list)
    by_label = defaultdict[str, list[ExampleEvidence]](list)
    for example in evidence.examples:
        by_label[example.label].append(example)
        for finding in example.findings:
            by_iteration[finding.iteration].append(finding)
    counts = _count(evidence.examples)
    return Stats(
        examples=len(evidence.examples),
        examples_without=sum(not example.findings for example in evidence.examples),
        active=counts[ACTIVE],
        misleading=counts[MISLEADING],
        per_iteration=tuple(_iteration(by_iteration[number]) for number in range(1, evidence.header.iterations + 1)),
        per_class={label: {"examples": len(own), **_count(own)} for label, own in sorted(by_label.items())},
        active_words=_frequent_words(evidence.examples, ACTIVE)[:top],
        misleading_words=_frequent_words(evidence.examples, MISLEADING)[:top],
        rounds=evidence.header.rounds,
    )


def diff(first: Evidence, second: Evidence) -> dict[str, Any]:
    """Compare two files of evidence about the same corpus: words that the second adds, lacks or flips.

    Return the number of words `added`, `removed`, `flipped` and the `same`, and for each of the `examples` that differ its id and
    these words, each with its index, text and kind; a flipped word has the kind of the second file.

    :raises InputError: if they are about different corpora.
    """
    if first.header.corpus_hash != second.header.corpus_hash or len(first.examples) != len(second.examples):
        raise InputError("the two files are about different corpora; compare evidence of the same training file")
    examples = [_example_diff(before, after) for before, after in zip(first.examples, second.examples, strict=True)]
    totals = {kind: sum(len(example[kind]) for example in examples) for kind in ("added", "removed", "flipped")}
    n_second = sum(len(example.findings) for example in second.examples)
    differing = [example for example in examples if any(example[kind] for kind in totals)]
    return {**totals, "same": n_second - totals["added"] - totals["flipped"], "examples": differing}


def _count(examples: Iterable[ExampleEvidence]) -> dict[str, int]:
    counts = Counter(finding.kind for example in examples for finding in example.findings)
    return {kind: counts[kind] for kind in KINDS}


def _iteration(found: Sequence[Finding]) -> dict[str, Any]:
    counts = Counter(finding.kind for finding in found)
    mean = math.fsum(finding.entropy for finding in found) / len(found) if found else None
    return {**{kind: counts[kind] for kind in KINDS}, "mean_entropy": mean}


def _frequent_words(examples: Iterable[ExampleEvidence], kind: str) -> tuple[dict[str, Any], ...]:
    labels = defaultdict[str, Counter[str]](Counter)
    for example in examples:
        for finding in example.findings:
            if finding.kind == kind:
                labels[example.words[finding.word].casefold()][finding.gold] += 1
    ranked = sorted(labels.items(), key=lambda item: (-item[1].total(), item[0]))
    return tuple({"word": word, "count": own.total(), "labels": dict(sorted(own.items()))} for word, own in ranked)


def _example_diff(first: ExampleEvidence, second: ExampleEvidence) -> dict[str, Any]:
    before, after = first.kinds, second.kinds
    both = [(word, before.get(word), after.get(word)) for word in sorted(before.keys() | after.keys())]

    def marks(chosen: Iterable[tuple[int, str | None]]) -> list[dict[str, Any]]:
        return [{"word": word, "text": second.words[word], "kind": kind} for word, kind in chosen]

    return {
        "id": second.id,
        "added": marks((word, new) for word, old, new in both if old is None),
        "removed": marks((word, old) for word, old, new in both if new is None),
        "flipped": marks((word, new) for word, old, new in both if old and new and old != new),
    }
