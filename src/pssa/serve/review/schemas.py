"""Bodies of the review's requests and responses, and how they are made from a review."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from pssa.data.evidence import ACTIVE, MISLEADING
from pssa.serve.review.session import Review, ReviewedSentence
from pssa.serve.schemas import Integer, StrictModel

_MAX_INTEGER = 2**31 - 1
_MAX_FREQUENT = 12  # words of each kind
Kind = Literal["active", "misleading"]


class SentenceFilter(BaseModel):
    """Query that selects sentences; an empty value selects all. Word, kind and iteration must hold for the same finding."""

    model_config = ConfigDict(extra="forbid")  # not strict: a query is text

    word: str = Field(default="", max_length=200, description="a word, in any case")
    where: Literal["found", "sentence"] = Field(
        default="found", description="look for the word among findings, or anywhere"
    )
    kind: Literal["", "active", "misleading", "none"] = ""
    iteration: int | None = Field(default=None, ge=1, le=_MAX_INTEGER)
    label: str = Field(default="", max_length=200)
    only: Literal["", "disagreements", "changed"] = ""
    start: int = Field(default=0, ge=0, le=_MAX_INTEGER, description="position in the file to start at")
    limit: int = Field(default=50, ge=1, le=200)

    def matches(self, sentence: ReviewedSentence) -> bool:
        """Return whether a sentence is selected."""
        example, word = sentence.example, self.word.strip().casefold()
        if self.label and example.label != self.label:
            return False
        if self.only == "changed" and not sentence.is_changed:
            return False
        if self.only == "disagreements" and not sentence.is_disputed:
            return False
        if word and self.where == "sentence":
            return any(other.casefold() == word for other in example.words) and self._matches_findings(sentence, "")
        return self._matches_findings(sentence, word)

    def _matches_findings(self, sentence: ReviewedSentence, word: str) -> bool:
        findings, words = sentence.example.findings, sentence.example.words
        if self.kind == "none":
            return not findings and not word and self.iteration is None
        if not word and not self.kind and self.iteration is None:
            return True
        return any(
            (not self.kind or finding.kind == self.kind)
            and (self.iteration is None or finding.iteration == self.iteration)
            and (not word or words[finding.word].casefold() == word)
            for finding in findings
        )


class Change(StrictModel):
    """A change of one word."""

    index: Integer = Field(ge=0, le=_MAX_INTEGER, description="position of the sentence in the file, from 0")
    version: Integer = Field(ge=0, le=_MAX_INTEGER, description="of the sentence, as it was read")
    action: Literal["flip", "drop", "active", "misleading"]
    word: Integer = Field(ge=0, le=_MAX_INTEGER, description="position in the sentence, from 0")


class Undo(StrictModel):
    """The change to take back."""

    number: Integer = Field(ge=1, le=_MAX_INTEGER, description="of the last change that was not undone")


class FindingView(BaseModel):
    """What is known about a word, and why."""

    kind: Kind
    iteration: int
    entropy: float
    score: float
    predicted: str
    gold: str
    expected: float | None


class WordView(BaseModel):
    """A word with its character offsets."""

    word: str
    start: int = Field(alias="from")
    to: int
    aspect: bool
    finding: FindingView | None
    mined: FindingView | None  # in the file
    second: Kind | None  # in the second file


class SentenceView(BaseModel):
    """A sentence under review."""

    index: int
    id: str
    label: str
    version: int
    changed: bool
    disagrees: bool
    words: list[WordView]


class SentencePage(BaseModel):
    """Some of the selected sentences, in the order of the file.

    A page starts at a position of the file, not at a number of matches: a change may remove a sentence from the selection,
    and the next page must then not skip another.
    """

    sentences: list[SentenceView]
    selected: int  # on all pages
    before: int  # on earlier pages
    previous: int | None  # start of the page before, if there is one
    next: int | None  # start of the page after, if there is one


class UndoableChange(BaseModel):
    """The last change."""

    number: int
    action: str
    index: int
    example: str
    word: int
    text: str


class Totals(BaseModel):
    """Current counts."""

    active: int
    misleading: int
    changes: int  # that were not undone
    undo: UndoableChange | None


class Changed(BaseModel):
    """The sentence after a change."""

    sentence: SentenceView
    totals: Totals


class WordCount(BaseModel):
    """A word and how often it was found."""

    word: str
    count: int


class ReviewStats(BaseModel):
    """Files, origin and counts of the review."""

    evidence: str
    log: str
    corpus: str | None
    second: str | None
    note: str
    model: str
    method: str
    saliency: str
    iterations: int
    labels: dict[str, int]
    sentences: int
    changed: int
    totals: Totals
    active_words: list[WordCount]
    misleading_words: list[WordCount]


class Exported(BaseModel):
    """The written file, and the command that trains with it."""

    file: str
    edits: list[str]
    command: str


def sentence_view(sentence: ReviewedSentence) -> SentenceView:
    """Return a sentence with everything that is known about its words."""
    example, second = sentence.original, sentence.second or {}
    now, mined = ({finding.word: asdict(finding) for finding in one.findings} for one in (sentence.example, example))
    words = [
        {
            "word": word,
            "from": start,
            "to": end,
            "aspect": example.aspect[0] <= place < example.aspect[1],
            "finding": now.get(place),
            "mined": mined.get(place),
            "second": second.get(place),
        }
        for place, (word, (start, end)) in enumerate(zip(example.words, example.spans, strict=True))
    ]
    return SentenceView(
        index=sentence.index,
        id=example.id,
        label=example.label,
        version=sentence.version,
        changed=sentence.is_changed,
        disagrees=sentence.is_disputed,
        words=words,  # type: ignore[arg-type]
    )


def page_view(review: Review, query: SentenceFilter) -> SentencePage:
    """Return the first `query.limit` selected sentences at or after position `query.start`."""
    selected = [sentence for sentence in review.sentences if query.matches(sentence)]
    before = sum(sentence.index < query.start for sentence in selected)
    after = selected[before + query.limit : before + query.limit + 1]
    return SentencePage(
        sentences=[sentence_view(sentence) for sentence in selected[before : before + query.limit]],
        selected=len(selected),
        before=before,
        previous=selected[max(0, before - query.limit)].index if before else None,
        next=after[0].index if after else None,
    )


def changed_view(review: Review, sentence: ReviewedSentence) -> Changed:
    """Return a sentence and the totals after a change."""
    return Changed(sentence=sentence_view(sentence), totals=_totals(review))


def stats_view(review: Review) -> ReviewStats:
    """Return names, counts and frequent words."""
    sources, header = review.sources, review.header
    labels = Counter(sentence.original.label for sentence in review.sentences)
    return ReviewStats(
        evidence=str(sources.evidence),
        log=str(review.log.path),
        corpus=None if sources.corpus is None else str(sources.corpus),
        second=None if sources.second is None else str(sources.second),
        note=review.log.note,
        model=header.model,
        method=header.method,
        saliency=header.saliency,
        iterations=header.iterations,
        labels=dict(sorted(labels.items())),
        sentences=len(review.sentences),
        changed=sum(sentence.is_changed for sentence in review.sentences),
        totals=_totals(review),
        active_words=_frequent_words(review, ACTIVE),
        misleading_words=_frequent_words(review, MISLEADING),
    )


def _totals(review: Review) -> Totals:
    kinds = Counter(finding.kind for sentence in review.sentences for finding in sentence.example.findings)
    last = review.last_change
    undo = None if last is None else UndoableChange.model_validate(last, from_attributes=True)
    return Totals(active=kinds[ACTIVE], misleading=kinds[MISLEADING], changes=review.n_changes, undo=undo)


def _frequent_words(review: Review, kind: str) -> list[WordCount]:
    counts = Counter(
        sentence.example.words[finding.word].casefold()
        for sentence in review.sentences
        for finding in sentence.example.findings
        if finding.kind == kind
    )
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [WordCount(word=word, count=number) for word, number in ordered[:_MAX_FREQUENT]]
