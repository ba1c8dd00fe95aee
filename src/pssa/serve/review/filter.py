"""Choosing sentences of a review, a page at a time.

A page begins at a sentence's place in the file, not at a count of matches: what a reviewer changes may leave the selection,
and the next page must then not skip anything.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pssa.data.evidence import Finding
from pssa.serve.review.sentence import Sentence
from pssa.serve.review.session import Review

__all__ = ["CHANGED", "DISAGREEMENTS", "FOUND", "NONE", "SENTENCE", "Filter", "Page", "select"]

FOUND, SENTENCE = "found", "sentence"  # where a word is looked for: among the findings, or anywhere
NONE = "none"  # the kind of sentences without findings
DISAGREEMENTS, CHANGED = "disagreements", "changed"


@dataclass(frozen=True)
class Filter:
    """What is asked of a sentence; empty values ask nothing. Word, kind and iteration are asked of one and the same finding."""

    word: str = ""
    where: str = FOUND
    kind: str = ""  # active, misleading or none
    iteration: int | None = None
    label: str = ""
    only: str = ""  # disagreements or changed

    def matcher(self, review: Review) -> Callable[[Sentence], bool]:
        """Whether a sentence is chosen."""
        word = self.word.strip().casefold()
        found = word if self.where == FOUND else ""

        def matches(sentence: Sentence) -> bool:
            example = sentence.example
            if self.label and example.label != self.label:
                return False
            if self.only == CHANGED and not sentence.changed:
                return False
            if self.only == DISAGREEMENTS and not review.disagrees(sentence):
                return False
            if word and self.where == SENTENCE and all(other.casefold() != word for other in example.words):
                return False
            return self._matches_findings(sentence, found)

        return matches

    def _matches_findings(self, sentence: Sentence, word: str) -> bool:
        findings = sentence.example.findings
        if self.kind == NONE:
            return not findings and not word and self.iteration is None
        if not word and not self.kind and self.iteration is None:
            return True

        def matches(finding: Finding) -> bool:
            return (
                (not self.kind or finding.kind == self.kind)
                and (self.iteration is None or finding.iteration == self.iteration)
                and (not word or sentence.example.words[finding.word].casefold() == word)
            )

        return any(matches(finding) for finding in findings)


@dataclass(frozen=True)
class Page:
    """Some of the chosen sentences, in the order of the file."""

    sentences: tuple[Sentence, ...]
    selected: int  # all that are chosen
    before: int  # chosen ones before this page
    previous: int | None  # where the page before begins, if there is one
    next: int | None  # where the page after begins, if there is one


def select(review: Review, wanted: Filter, start: int, limit: int) -> Page:
    """The first `limit` chosen sentences at or after place `start` of the file."""
    matches = wanted.matcher(review)
    chosen = [sentence for sentence in review.sentences if matches(sentence)]
    before = sum(sentence.index < start for sentence in chosen)
    after = chosen[before + limit : before + limit + 1]
    return Page(
        sentences=tuple(chosen[before : before + limit]),
        selected=len(chosen),
        before=before,
        previous=chosen[max(0, before - limit)].index if before else None,
        next=after[0].index if after else None,
    )
