"""`Evidence`: for each example, the words that a classifier should look at (active) and those that misled it.

Mining writes it, training reads it, people correct it in between: every finding keeps the iteration, the entropy, the
score, the prediction and the gold label that put it there. `pssa.data.evidence_file` is its file. Values that break the
rules stated here cannot be made, wherever they come from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pssa.data.example import Corpus, Example
from pssa.data.tokenize import Span
from pssa.data.validation import shorten
from pssa.errors import InputError

__all__ = ["ACTIVE", "KINDS", "MISLEADING", "SCHEMA", "Evidence", "ExampleEvidence", "Finding", "Header", "RoundReport"]

SCHEMA = 1  # version of the file's fields; raised when they change
ACTIVE, MISLEADING = "active", "misleading"
KINDS = (ACTIVE, MISLEADING)
_MOST_ITERATIONS = 10_000  # whoever counts by iteration counts them all


@dataclass(frozen=True, slots=True)
class Finding:
    """One word that was extracted, and what was seen when it was."""

    word: int  # index into the example's words
    kind: str  # active or misleading
    iteration: int  # counted from 1
    entropy: float  # bits, over the candidates
    score: float  # the word's share of the saliency
    predicted: str
    gold: str
    expected: float | None = None  # the wanted attention; None: 1/|active| for an active word, 0 for a misleading one

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"`kind` is {shorten(self.kind)}; expected {' or '.join(KINDS)}")
        if self.iteration < 1:
            raise InputError(f"`iteration` is {self.iteration}; expected 1 or more")
        _require_finite(entropy=self.entropy, score=self.score, expected=self.expected)


@dataclass(frozen=True, slots=True)
class ExampleEvidence:
    """The findings of one example, with enough of the example to read them without the corpus."""

    id: str
    words: tuple[str, ...]
    spans: tuple[Span, ...]  # character offsets of each word
    aspect: Span  # word offsets
    label: str
    findings: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        if [len(word) for word in self.words] != [end - start for start, end in self.spans]:
            raise InputError(
                f"`words` and `spans` of example {shorten(self.id)} differ; expected one span for each word"
            )
        start, end = self.aspect
        if not 0 <= start < end <= len(self.words):
            raise InputError(f"`aspect` is {start}-{end}; expected word offsets inside the {len(self.words)} words")
        seen: set[int] = set()
        for finding in self.findings:
            self._require_candidate(finding.word, seen)
            seen.add(finding.word)

    @property
    def active(self) -> tuple[Finding, ...]:
        """The active words in the order of their iterations."""
        return self._of_kind(ACTIVE)

    @property
    def misleading(self) -> tuple[Finding, ...]:
        """The misleading words in the order of their iterations."""
        return self._of_kind(MISLEADING)

    def _of_kind(self, kind: str) -> tuple[Finding, ...]:
        found = (finding for finding in self.findings if finding.kind == kind)
        return tuple(sorted(found, key=lambda finding: finding.iteration))

    def _require_candidate(self, word: int, seen: set[int]) -> None:
        if not 0 <= word < len(self.words):
            raise InputError(
                f"word {word} is not in example {shorten(self.id)}, which has {len(self.words)} words from 0"
            )
        if self.aspect[0] <= word < self.aspect[1]:
            raise InputError(
                f"word {word}, {shorten(self.words[word])}, is in the aspect, which is never evidence; remove it"
            )
        if word in seen:
            raise InputError(f"word {word}, {shorten(self.words[word])}, is found twice; keep one of the two")


@dataclass(frozen=True, slots=True)
class RoundReport:
    """What one round of mining measured on the training instances."""

    iteration: int
    accuracy: float
    mean_entropy: float
    open_share: float  # of the instances, those that gave a word
    active: int
    misleading: int

    def __post_init__(self) -> None:
        _require_finite(accuracy=self.accuracy, mean_entropy=self.mean_entropy, open_share=self.open_share)


@dataclass(frozen=True, slots=True)
class Header:
    """Where evidence comes from: how it was mined, on which corpus, and what was edited since."""

    model: str
    saliency: str
    epsilon: float | None  # None: no threshold
    iterations: int
    corpus_hash: str
    seed: int
    method: str
    rounds: tuple[RoundReport, ...] = ()
    edits: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.iterations <= _MOST_ITERATIONS:
            raise InputError(f"`iterations` is {self.iterations}; expected 0 to {_MOST_ITERATIONS}")
        _require_finite(epsilon=self.epsilon)

    def check(self, example: ExampleEvidence) -> None:
        """Refuse a finding of a later iteration than there were."""
        for finding in example.findings:
            if finding.iteration > self.iterations:
                raise InputError(
                    f"word {finding.word} is of iteration {finding.iteration}; expected at most {self.iterations}, "
                    "the `iterations` of the header"
                )


@dataclass(frozen=True, slots=True)
class Evidence:
    """The findings of a whole corpus, in its order."""

    header: Header
    examples: tuple[ExampleEvidence, ...]

    def __post_init__(self) -> None:
        for example in self.examples:
            self.header.check(example)

    @classmethod
    def from_findings(cls, header: Header, corpus: Corpus, findings: Sequence[Sequence[Finding]]) -> Evidence:
        """Join what was found in each example with the examples themselves.

        :raises InputError: if there are not as many lists of findings as examples, or the header is of another corpus.
        """
        if len(findings) != len(corpus):
            raise InputError(
                f"findings for {len(findings)} examples; expected them for the {len(corpus)} of the corpus"
            )
        evidence = cls(header, tuple(map(_example_evidence, corpus, findings)))
        evidence.check_corpus(corpus)
        return evidence

    def check_corpus(self, corpus: Corpus) -> None:
        """Refuse to be used with another corpus than the one it was made from.

        :raises InputError: saying what differs.
        """
        given, expected = corpus.hash(), self.header.corpus_hash
        if given != expected:
            raise InputError(
                f"the evidence was made from another corpus (hash {expected[:12]}, {len(self.examples)} examples) than "
                f"the given one (hash {given[:12]}, {len(corpus)} examples); give the file it was made from, with the "
                "same `labels` and `conflict` (--labels, --conflict), or mine again"
            )
        if len(self.examples) != len(corpus):
            raise InputError(
                f"the evidence has {len(self.examples)} examples; expected the {len(corpus)} of its corpus; mine again"
            )
        for ours, theirs in zip(self.examples, corpus, strict=True):
            if not _same_example(ours, theirs):
                raise InputError(
                    f"the evidence's example {shorten(ours.id)} is not example {shorten(theirs.id)}, which is in its place in "
                    "the corpus; give the file it was made from, and edit nothing but findings"
                )


def _example_evidence(example: Example, findings: Sequence[Finding]) -> ExampleEvidence:
    if example.label is None:
        raise InputError(f"example {shorten(example.id)} has no label; evidence is made from labelled instances")
    return ExampleEvidence(example.id, example.words, example.spans, example.aspect, example.label, tuple(findings))


def _same_example(ours: ExampleEvidence, theirs: Example) -> bool:
    return (ours.id, ours.label, ours.aspect, ours.spans, ours.words) == (
        theirs.id,
        theirs.label,
        theirs.aspect,
        theirs.spans,
        theirs.words,
    )


def _require_finite(**values: float | None) -> None:
    for name, value in values.items():
        if value is not None and not math.isfinite(value):
            raise InputError(f"`{name}` is {value}; expected a finite number")
