"""Bodies of the review's requests and responses."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from pssa.serve.schemas import Integer, StrictModel

MAX_INTEGER = 2**31 - 1
Kind = Literal["active", "misleading"]


class Change(StrictModel):
    """A change of one word."""

    index: Integer = Field(ge=0, le=MAX_INTEGER, description="position of the sentence in the file, from 0")
    version: Integer = Field(ge=0, le=MAX_INTEGER, description="of the sentence, as it was read")
    action: Literal["flip", "drop", "active", "misleading"]
    word: Integer = Field(ge=0, le=MAX_INTEGER, description="position in the sentence, from 0")


class WordDrop(StrictModel):
    """A word whose findings of one kind are dropped in every sentence."""

    text: str = Field(min_length=1, max_length=1000, description="the word, in any case")
    kind: Kind


class Undo(StrictModel):
    """The change to take back."""

    number: Integer = Field(ge=1, le=MAX_INTEGER, description="of the last change that was not undone")


class WordFinding(StrictModel):
    """What evidence says about a word."""

    kind: Kind
    iteration: int
    entropy: float
    score: float
    predicted: str
    gold: str
    expected: float | None  # target attention


class ReviewedWord(StrictModel):
    """A word of a sentence."""

    word: str
    start: int = Field(alias="from")
    end: int = Field(alias="to")
    aspect: bool  # whether it belongs to the aspect
    finding: WordFinding | None  # as it is now
    mined: WordFinding | None  # as it is in the file
    second: Kind | None  # in the second file


class SentenceResponse(StrictModel):
    """A sentence with everything that is known about its words."""

    index: int
    id: str
    label: str
    version: int
    changed: bool
    disagrees: bool
    words: list[ReviewedWord]


class SentencesResponse(StrictModel):
    """A page of selected sentences."""

    sentences: list[SentenceResponse]
    selected: int  # on all pages
    before: int  # on earlier pages
    previous: int | None  # position in the file at which the page before starts
    next: int | None


class LastChange(StrictModel):
    """The change that undo takes back."""

    number: int
    action: str
    index: int
    example: str
    word: int
    text: str


class Totals(StrictModel):
    """Numbers of findings and changes."""

    active: int
    misleading: int
    changes: int
    undo: LastChange | None


class ChangeResponse(StrictModel):
    """The sentence after a change, and the totals."""

    sentence: SentenceResponse
    totals: Totals


class WordDropResponse(StrictModel):
    """What was dropped."""

    dropped: int
    first: int  # number of the first of these changes; the others follow it
    totals: Totals


class WordCount(StrictModel):
    """A frequent word."""

    word: str
    count: int


class StatsResponse(StrictModel):
    """What is reviewed, and counts."""

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


class ExportResponse(StrictModel):
    """The file of the reviewed evidence, what the review changed, and the command that trains with it."""

    file: str
    edits: list[str]
    command: str
