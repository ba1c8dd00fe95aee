"""The difference of two files of evidence about the same corpus, word by word."""

from __future__ import annotations

from dataclasses import dataclass

from pssa.data.evidence import Evidence, ExampleEvidence
from pssa.errors import InputError

__all__ = ["Diff", "ExampleDiff", "Mark", "diff"]


@dataclass(frozen=True, slots=True)
class Mark:
    """A word of an example and what it is held for."""

    word: int
    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class ExampleDiff:
    """Where two files of evidence differ about one example; a flipped word has the kind that the second gives it."""

    id: str
    added: tuple[Mark, ...]
    removed: tuple[Mark, ...]
    flipped: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Diff:
    """The examples about which two files differ, and totals over all."""

    added: int
    removed: int
    flipped: int
    same: int
    examples: tuple[ExampleDiff, ...]


def diff(first: Evidence, second: Evidence) -> Diff:
    """Which words the second has beyond the first, lacks, or holds for the other kind.

    :raises InputError: if they are of different corpora.
    """
    if first.header.corpus_hash != second.header.corpus_hash or len(first.examples) != len(second.examples):
        raise InputError("the two files are of different corpora; compare evidence of the same training file")
    examples = [_example_diff(before, after) for before, after in zip(first.examples, second.examples, strict=True)]
    added, removed, flipped = (
        sum(len(getattr(example, name)) for example in examples) for name in ("added", "removed", "flipped")
    )
    same = sum(len(example.findings) for example in second.examples) - added - flipped
    differing = tuple(example for example in examples if example.added or example.removed or example.flipped)
    return Diff(added, removed, flipped, same, differing)


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
