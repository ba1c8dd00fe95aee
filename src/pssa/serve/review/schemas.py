"""The shapes that the review speaks over HTTP, and how they are made of a review's values."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from pssa.data.evidence import ACTIVE, MISLEADING, Finding
from pssa.serve.review.filter import Page
from pssa.serve.review.sentence import Sentence
from pssa.serve.review.session import Review
from pssa.serve.schemas import Whole

__all__ = [
    "Change",
    "Changed",
    "Exported",
    "SentenceFields",
    "Sentences",
    "Stats",
    "Undo",
    "Wanted",
    "changed_fields",
    "page_fields",
    "sentence_fields",
    "stats_fields",
]

_LARGEST = 2**31 - 1
_NAMED = 12  # frequent words of each kind
Kind = Literal["active", "misleading"]


class _Strict(BaseModel):
    """What comes in: exact names, exact types."""

    model_config = ConfigDict(strict=True, extra="forbid")


class Wanted(BaseModel):
    """Which sentences are asked for; a query is text, so numbers are taken from it."""

    model_config = ConfigDict(extra="forbid")

    word: str = Field("", max_length=200, description="a word, in any case")
    where: Literal["found", "sentence"] = Field("found", description="look for the word among findings, or anywhere")
    kind: Literal["", "active", "misleading", "none"] = ""
    iteration: int | None = Field(None, ge=1, le=_LARGEST)
    label: str = Field("", max_length=200)
    only: Literal["", "disagreements", "changed"] = ""
    start: int = Field(0, ge=0, le=_LARGEST, description="the first place of the file to look at")
    limit: int = Field(50, ge=1, le=200)


class Change(_Strict):
    """One word to change."""

    index: Whole = Field(ge=0, le=_LARGEST, description="the sentence's place in the file, from 0")
    version: Whole = Field(ge=0, le=_LARGEST, description="of the sentence, as it was read")
    action: Literal["flip", "drop", "active", "misleading"]
    word: Whole = Field(ge=0, le=_LARGEST, description="its place in the sentence, from 0")


class Undo(_Strict):
    """The change to take back."""

    number: Whole = Field(ge=1, le=_LARGEST, description="of the last change that stands")


class FindingFields(BaseModel):
    """What is held of a word, and why."""

    kind: Kind
    iteration: int
    entropy: float
    score: float
    predicted: str
    gold: str
    expected: float | None


class WordFields(BaseModel):
    """A word with its character offsets."""

    word: str
    from_: int = Field(serialization_alias="from")
    to: int
    aspect: bool
    finding: FindingFields | None
    mined: FindingFields | None  # what the file has
    second: Kind | None  # what the second file has


class SentenceFields(BaseModel):
    """A sentence under review."""

    index: int
    id: str
    label: str
    version: int
    changed: bool
    disagrees: bool
    words: list[WordFields]


class Sentences(BaseModel):
    """A page of sentences."""

    sentences: list[SentenceFields]
    selected: int
    before: int
    previous: int | None
    next: int | None


class Step(BaseModel):
    """A change that can be undone."""

    number: int
    action: str
    index: int
    example: str
    word: int
    text: str


class Totals(BaseModel):
    """How much there is now."""

    active: int
    misleading: int
    changes: int  # made and not taken back
    undo: Step | None


class Changed(BaseModel):
    """The sentence after a change."""

    sentence: SentenceFields
    totals: Totals


class Frequent(BaseModel):
    """A word and how often it was found."""

    word: str
    count: int


class Stats(BaseModel):
    """What the review is about."""

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
    active_words: list[Frequent]
    misleading_words: list[Frequent]


class Exported(BaseModel):
    """The file that was written."""

    file: str
    edits: list[str]
    command: str


def sentence_fields(review: Review, sentence: Sentence) -> SentenceFields:
    """A sentence with all that is known of its words."""
    example, now = sentence.original, sentence.findings
    mined = {finding.word: finding for finding in example.findings}
    marks = review.sources.marks[sentence.index] if review.sources.marks is not None else {}
    words = [
        WordFields.model_construct(
            word=word,
            from_=start,
            to=end,
            aspect=example.aspect[0] <= place < example.aspect[1],
            finding=_finding_fields(now.get(place)),
            mined=_finding_fields(mined.get(place)),
            second=marks.get(place),
        )
        for place, (word, (start, end)) in enumerate(zip(example.words, example.spans, strict=True))
    ]
    return SentenceFields.model_construct(
        index=sentence.index,
        id=example.id,
        label=example.label,
        version=sentence.version,
        changed=sentence.changed,
        disagrees=review.disagrees(sentence),
        words=words,
    )


def page_fields(review: Review, page: Page) -> Sentences:
    """A page with its sentences."""
    return Sentences.model_construct(
        sentences=[sentence_fields(review, sentence) for sentence in page.sentences],
        selected=page.selected,
        before=page.before,
        previous=page.previous,
        next=page.next,
    )


def changed_fields(review: Review, sentence: Sentence) -> Changed:
    """A sentence and the totals after it was changed."""
    return Changed(sentence=sentence_fields(review, sentence), totals=_totals(review))


def stats_fields(review: Review) -> Stats:
    """Names, counts and frequent words."""
    sources, header = review.sources, review.header
    labels = Counter(sentence.original.label for sentence in review.sentences)
    return Stats(
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
        changed=sum(sentence.changed for sentence in review.sentences),
        totals=_totals(review),
        active_words=_frequent(review, ACTIVE),
        misleading_words=_frequent(review, MISLEADING),
    )


def _finding_fields(finding: Finding | None) -> FindingFields | None:
    return None if finding is None else FindingFields.model_construct(**asdict(finding))


def _totals(review: Review) -> Totals:
    kinds = Counter(finding.kind for sentence in review.sentences for finding in sentence.example.findings)
    last = review.undoable
    undo = None
    if last is not None:
        undo = Step(
            number=last.number,
            action=last.action,
            index=last.index,
            example=last.example,
            word=last.word,
            text=last.text,
        )
    return Totals(active=kinds[ACTIVE], misleading=kinds[MISLEADING], changes=review.standing, undo=undo)


def _frequent(review: Review, kind: str) -> list[Frequent]:
    counts = Counter(
        sentence.example.words[finding.word].casefold()
        for sentence in review.sentences
        for finding in sentence.example.findings
        if finding.kind == kind
    )
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [Frequent(word=word, count=number) for word, number in ordered[:_NAMED]]
