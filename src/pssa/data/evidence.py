"""`Evidence`: for each example, the words that a classifier should attend to (active) and those that misled it.

Mining writes it, people correct it, training reads it. Every finding keeps the iteration, the entropy, the score, the prediction
and the gold label that put it there. The classes refuse invalid values, wherever these come from. The edits at the end return new
evidence whose header has one more line about what was done. `pssa.data.evidence_file` reads and writes the file.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pssa.data.example import Corpus, Example
from pssa.data.tokenize import Span
from pssa.data.validation import brief_repr, is_finite_number, shorten
from pssa.display import to_html
from pssa.errors import InputError, setting

SCHEMA = 1  # version of the file's fields; raised when they change
ACTIVE, MISLEADING = "active", "misleading"
KINDS = (ACTIVE, MISLEADING)
_MAX_ITERATIONS = 10_000  # counts by iteration list them all


@dataclass(frozen=True, slots=True)
class Finding:
    """One extracted word, and the state of the model when it was extracted."""

    word: int  # index into the example's words
    kind: str  # active or misleading
    iteration: int  # counted from 1
    entropy: float  # bits, over the candidates
    score: float  # the word's share of the saliency
    predicted: str
    gold: str
    expected: float | None = None  # target attention; None: 1/|active| for an active word, 0 for a misleading one

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"`kind` is {shorten(self.kind)}; expected {' or '.join(KINDS)}")
        if self.iteration < 1:
            raise InputError(f"`iteration` is {self.iteration}; expected 1 or more")
        _require_finite(entropy=self.entropy, score=self.score, expected=self.expected)


@dataclass(frozen=True, slots=True)
class ExampleEvidence:
    """The findings of one example, with enough of the example to understand them without the corpus."""

    id: str
    words: tuple[str, ...]
    spans: tuple[Span, ...]  # character offsets of each word
    aspect: Span  # word offsets
    label: str
    findings: tuple[Finding, ...] = ()

    def __repr__(self) -> str:
        found = {kind: [self.words[each.word] for each in getattr(self, kind)] for kind in KINDS}
        aspect = " ".join(self.words[slice(*self.aspect)])
        return brief_repr(self, id=self.id, text=" ".join(self.words), aspect=aspect, label=self.label, **found)

    def __post_init__(self) -> None:
        if [len(word) for word in self.words] != [end - start for start, end in self.spans]:
            raise InputError(f"`words` and `spans` of example {shorten(self.id)} differ; expected a span for each word")
        start, end = self.aspect
        if not 0 <= start < end <= len(self.words):
            raise InputError(f"`aspect` is {start}-{end}; expected word offsets inside the {len(self.words)} words")
        seen: set[int] = set()
        for word in (finding.word for finding in self.findings):
            if not 0 <= word < len(self.words):
                raise InputError(f"word {word} is not in example {shorten(self.id)}, which has {len(self.words)} words")
            if start <= word < end:
                raise InputError(
                    f"word {word}, {shorten(self.words[word])}, is in the aspect, never evidence; remove it"
                )
            if word in seen:
                raise InputError(f"word {word}, {shorten(self.words[word])}, is found twice; keep one of the two")
            seen.add(word)

    @property
    def active(self) -> tuple[Finding, ...]:
        """The active words in the order of their iterations."""
        return self._of_kind(ACTIVE)

    @property
    def misleading(self) -> tuple[Finding, ...]:
        """The misleading words in the order of their iterations."""
        return self._of_kind(MISLEADING)

    @property
    def by_word(self) -> dict[int, Finding]:
        """The findings by the position of their word."""
        return {finding.word: finding for finding in self.findings}

    @property
    def kinds(self) -> dict[int, str]:
        """The kind of each word that has a finding, by its position."""
        return {finding.word: finding.kind for finding in self.findings}

    def _of_kind(self, kind: str) -> tuple[Finding, ...]:
        found = (finding for finding in self.findings if finding.kind == kind)
        return tuple(sorted(found, key=lambda finding: finding.iteration))


@dataclass(frozen=True, slots=True)
class RoundReport:
    """Measurements of one round of mining on the training instances."""

    iteration: int
    accuracy: float
    mean_entropy: float
    open_share: float  # share of the instances that gave a word
    active: int
    misleading: int

    def __post_init__(self) -> None:
        _require_finite(accuracy=self.accuracy, mean_entropy=self.mean_entropy, open_share=self.open_share)


@dataclass(frozen=True, slots=True)
class Header:
    """Origin of evidence: how it was mined, on which corpus, and what was edited since."""

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
        if not 0 <= self.iterations <= _MAX_ITERATIONS:
            raise InputError(f"`iterations` is {self.iterations}; expected 0 to {_MAX_ITERATIONS}")
        _require_finite(epsilon=self.epsilon)

    def check(self, example: ExampleEvidence) -> None:
        """Refuse a finding of an iteration after the last one."""
        for finding in example.findings:
            if finding.iteration > self.iterations:
                what = f"word {finding.word} has iteration {finding.iteration}"
                raise InputError(f"{what}; expected at most {self.iterations}, the `iterations` of the header")


@dataclass(frozen=True, slots=True)
class Evidence:
    """Words to look at and words to ignore, for every instance of a corpus, in its order."""

    header: Header
    examples: tuple[ExampleEvidence, ...]

    def __repr__(self) -> str:
        found = {kind: sum(len(getattr(example, kind)) for example in self.examples) for kind in KINDS}
        header = self.header
        return brief_repr(self, instances=len(self.examples), **found, method=header.method, model=header.model)

    def _repr_html_(self) -> str:
        return to_html(self)

    def __post_init__(self) -> None:
        for example in self.examples:
            self.header.check(example)

    @classmethod
    def read(cls, path: str | Path) -> Evidence:
        """Read an evidence file; see `pssa.data.read_evidence`."""
        from pssa.data.evidence_file import read_evidence

        return read_evidence(path)

    def write(self, path: str | Path) -> None:
        """Write an evidence file; see `pssa.data.write_evidence`."""
        from pssa.data.evidence_file import write_evidence

        write_evidence(self, path)

    @classmethod
    def from_findings(cls, header: Header, corpus: Corpus, findings: Sequence[Sequence[Finding]]) -> Evidence:
        """Combine examples with their findings; refuse those of another corpus."""
        if len(findings) != len(corpus):
            raise InputError(f"findings for {len(findings)} examples; expected them for the {len(corpus)} given")
        evidence = cls(header, tuple(map(_example_evidence, corpus, findings)))
        evidence.check_corpus(corpus)
        return evidence

    def check_corpus(self, corpus: Corpus) -> None:
        """Refuse any corpus other than the one that the evidence was made from, and say what differs."""
        given, expected = corpus.hash(), self.header.corpus_hash
        if given != expected:
            raise InputError(
                f"the evidence was made from another corpus (hash {expected[:12]}, {len(self.examples)} examples) than "
                f"the given one (hash {given[:12]}, {len(corpus)} examples); give the file it was made from, with the "
                f"same {setting('labels')} and {setting('conflict')}, or mine again"
            )
        if len(self.examples) != len(corpus):
            counts = f"{len(self.examples)} examples; expected the {len(corpus)} of its corpus"
            raise InputError(f"the evidence has {counts}; mine again")
        for ours, theirs in zip(self.examples, corpus, strict=True):
            if replace(ours, findings=()) != _example_evidence(theirs, ()):
                what = f"the corpus has example {shorten(theirs.id)} where the evidence has {shorten(ours.id)}"
                raise InputError(f"{what}; give the file it was made from, and edit nothing but findings")


def drop_word(evidence: Evidence, word: str) -> Evidence:
    """Remove a word's findings everywhere; case does not matter."""
    key = word.casefold()
    return _keep(evidence, f"drop-word {word!r}", lambda text, _: text.casefold() != key)


def flip(evidence: Evidence, word: str) -> Evidence:
    """Swap active and misleading for a word, everywhere; case does not matter.

    A finding's own target attention is removed: it was meant for the other kind.
    """
    key = word.casefold()

    def change(text: str, finding: Finding) -> Finding:
        if text.casefold() != key:
            return finding
        return replace(finding, kind=MISLEADING if finding.kind == ACTIVE else ACTIVE, expected=None)

    return _edit(evidence, f"flip {word!r}", change)


def keep_above(evidence: Evidence, score: float) -> Evidence:
    """Keep the findings with a score above `score`."""
    if not is_finite_number(score):
        raise InputError(f"cannot keep scores above {score}; expected a finite number")
    return _keep(evidence, f"keep-above {score!r}", lambda _, finding: finding.score > score)


def keep_iterations(evidence: Evidence, last: int) -> Evidence:
    """Keep the findings of the iterations up to `last`; the header still counts all that were mined."""
    if last < 1:
        raise InputError(f"cannot keep {last} iterations; expected 1 or more")
    return _keep(evidence, f"keep-iterations {last}", lambda _, finding: finding.iteration <= last)


def keep_kind(evidence: Evidence, kind: str) -> Evidence:
    """Keep only the active findings, or only the misleading ones."""
    if kind not in KINDS:
        raise InputError(f"cannot keep {kind!r}; expected {' or '.join(KINDS)}")
    return _keep(evidence, f"keep {kind}", lambda _, finding: finding.kind == kind)


def _keep(evidence: Evidence, name: str, is_kept: Callable[[str, Finding], bool]) -> Evidence:
    return _edit(evidence, name, lambda text, finding: finding if is_kept(text, finding) else None)


def _edit(evidence: Evidence, name: str, change: Callable[[str, Finding], Finding | None]) -> Evidence:
    examples = []
    n_changed = 0
    for example in evidence.examples:
        results = [change(example.words[finding.word], finding) for finding in example.findings]
        n_changed += sum(result != finding for result, finding in zip(results, example.findings, strict=True))
        examples.append(replace(example, findings=tuple(result for result in results if result is not None)))
    edits = (*evidence.header.edits, f"{name}: {n_changed} changed")
    return Evidence(replace(evidence.header, edits=edits), tuple(examples))


def _example_evidence(example: Example, findings: Sequence[Finding]) -> ExampleEvidence:
    if example.label is None:
        raise InputError(f"example {shorten(example.id)} has no label; evidence is made from labelled instances")
    return ExampleEvidence(example.id, example.words, example.spans, example.aspect, example.label, tuple(findings))


def _require_finite(**values: float | None) -> None:
    for name, value in values.items():
        if value is not None and not is_finite_number(value):
            raise InputError(f"`{name}` is {value}; expected a finite number")


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
