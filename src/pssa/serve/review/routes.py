"""Routes of the review under `/v1/evidence`: read sentences, change a word, undo, export.

A change carries the version of the sentence that the reviewer saw, so that two open pages cannot overwrite each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Path, Query, Request
from fastapi.params import Depends
from pydantic import BaseModel, ConfigDict, Field

from pssa.data.evidence import ACTIVE, MISLEADING, ExampleEvidence, Finding
from pssa.serve.review.session import Review, ReviewedSentence
from pssa.serve.schemas import Integer, StrictModel, response

_MAX_INTEGER = 2**31 - 1
_MAX_FREQUENT = 12  # words of each kind
_UNDO_FIELDS = ("number", "action", "index", "example", "word", "text")  # of the last change

Json = dict[str, Any]  # a response


class Change(StrictModel):
    """A change of one word."""

    index: Integer = Field(ge=0, le=_MAX_INTEGER, description="position of the sentence in the file, from 0")
    version: Integer = Field(ge=0, le=_MAX_INTEGER, description="of the sentence, as it was read")
    action: Literal["flip", "drop", "active", "misleading"]
    word: Integer = Field(ge=0, le=_MAX_INTEGER, description="position in the sentence, from 0")


class WordDrop(StrictModel):
    """A word whose findings of one kind are dropped in every sentence."""

    text: str = Field(min_length=1, max_length=1000, description="the word, in any case")
    kind: Literal["active", "misleading"]


class Undo(StrictModel):
    """The change to take back."""

    number: Integer = Field(ge=1, le=_MAX_INTEGER, description="of the last change that was not undone")


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
        if (self.only == "changed" and not sentence.is_changed) or (
            self.only == "disagreements" and not sentence.is_disputed
        ):
            return False
        if word and self.where == "sentence":
            return word in map(str.casefold, example.words) and self._matches_findings(example, "")
        return self._matches_findings(example, word)

    def _matches_findings(self, example: ExampleEvidence, word: str) -> bool:
        if self.kind == "none":
            return not example.findings and not word and self.iteration is None
        if not word and not self.kind and self.iteration is None:
            return True
        return any(
            self.kind in ("", finding.kind)
            and self.iteration in (None, finding.iteration)
            and word in ("", example.words[finding.word].casefold())
            for finding in example.findings
        )


def add_review_routes(app: FastAPI, review: Review, reading: Sequence[Depends], changing: Sequence[Depends]) -> None:
    """Add the routes of one review, with the dependencies that describe their token in the schema."""
    path: dict[str, Any] = {"response_model": None, "tags": ["evidence"], "dependencies": list(reading)}

    @app.get("/v1/evidence/stats", responses=response("StatsResponse"), **path)
    def stats() -> Json:
        """Return what is reviewed, and counts."""
        sources, header = review.sources, review.header
        labels = Counter(sentence.original.label for sentence in review.sentences)
        return {
            "evidence": str(sources.evidence),
            "log": str(review.log.path),
            "corpus": None if sources.corpus is None else str(sources.corpus),
            "second": None if sources.second is None else str(sources.second),
            "note": review.log.note,
            "model": header.model,
            "method": header.method,
            "saliency": header.saliency,
            "iterations": header.iterations,
            "labels": dict(sorted(labels.items())),
            "sentences": len(review.sentences),
            "changed": sum(sentence.is_changed for sentence in review.sentences),
            "totals": _totals(review),
            "active_words": _frequent_words(review, ACTIVE),
            "misleading_words": _frequent_words(review, MISLEADING),
        }

    @app.get("/v1/evidence/sentences", responses=response("SentencesResponse"), **path)
    def sentences(query: Annotated[SentenceFilter, Query()]) -> Json:
        """Return the selected sentences in the order of the file, a page at a time."""
        return sentence_page(review, query)

    @app.get("/v1/evidence/sentences/{index}", responses=response("SentenceResponse"), **path)
    def sentence(index: Annotated[int, Path(ge=0)]) -> Json:
        """Return one sentence as it is now."""
        return _sentence(review.sentence(index))

    path = path | {"dependencies": list(changing)}

    # Plain functions run in threads, so that waiting for the disk holds up no other request.
    @app.post("/v1/evidence/changes", responses=response("ChangeResponse", takes_body=True), **path)
    def change(body: Change, request: Request) -> Json:
        """Flip, drop or add a word; the change is on disk when the response comes."""
        request.state.change = {"index": body.index, "action": body.action, "word": body.word}  # for the access log
        changed = review.change(body.index, body.version, body.action, body.word)
        return {"sentence": _sentence(changed), "totals": _totals(review)}

    @app.post("/v1/evidence/drops", responses=response("WordDropResponse", takes_body=True), **path)
    def drop_everywhere(body: WordDrop, request: Request) -> Json:
        """Drop a word's findings of one kind in every sentence; undo takes them back one by one, the last first."""
        request.state.change = {"action": "drop everywhere", "kind": body.kind}
        dropped = review.drop_everywhere(body.text, body.kind)
        last = review.last_change
        first = last.number - len(dropped) + 1 if last else 0
        return {"dropped": len(dropped), "first": first, "totals": _totals(review)}

    @app.post("/v1/evidence/undo", responses=response("ChangeResponse", takes_body=True), **path)
    def undo(body: Undo, request: Request) -> Json:
        """Undo the last change."""
        request.state.change = {"action": "undo", "number": body.number}
        return {"sentence": _sentence(review.undo(body.number)), "totals": _totals(review)}

    @app.post("/v1/evidence/export", responses=response("ExportResponse"), **path)
    def export() -> Json:
        """Write the reviewed evidence as a new file beside the old one, and return the command that trains with it."""
        path, edits = review.export()
        command = review.sources.training_command(review.header, path)
        return {"file": str(path), "edits": list(edits), "command": command}


def _sentence(sentence: ReviewedSentence) -> Json:
    """Return a sentence with everything that is known about its words."""
    example, second = sentence.original, sentence.second or {}
    now, mined = sentence.example.by_word, example.by_word
    return {
        "index": sentence.index,
        "id": example.id,
        "label": example.label,
        "version": sentence.version,
        "changed": sentence.is_changed,
        "disagrees": sentence.is_disputed,
        "words": [
            {
                "word": word,
                "from": start,
                "to": end,
                "aspect": example.aspect[0] <= place < example.aspect[1],
                "finding": _finding(now.get(place)),
                "mined": _finding(mined.get(place)),  # in the file
                "second": second.get(place),  # its kind in the second file
            }
            for place, (word, (start, end)) in enumerate(zip(example.words, example.spans, strict=True))
        ],
    }


def _finding(finding: Finding | None) -> Json | None:
    return None if finding is None else {key: value for key, value in asdict(finding).items() if key != "word"}


def sentence_page(review: Review, query: SentenceFilter) -> Json:
    """Return the first `query.limit` selected sentences at or after position `query.start`.

    A page starts at a position of the file, not at a number of matches: a change may remove a sentence from the selection,
    and the next page must then not skip another.
    """
    selected = [sentence for sentence in review.sentences if query.matches(sentence)]
    before = sum(sentence.index < query.start for sentence in selected)
    after = selected[before + query.limit : before + query.limit + 1]
    return {
        "sentences": [_sentence(sentence) for sentence in selected[before : before + query.limit]],
        "selected": len(selected),  # on all pages
        "before": before,  # on earlier pages
        "previous": selected[max(0, before - query.limit)].index if before else None,
        "next": after[0].index if after else None,
    }


def _totals(review: Review) -> Json:
    kinds = Counter(finding.kind for sentence in review.sentences for finding in sentence.example.findings)
    last = review.last_change
    undo = None if last is None else {name: getattr(last, name) for name in _UNDO_FIELDS}
    counts = {"active": kinds[ACTIVE], "misleading": kinds[MISLEADING]}
    return counts | {"changes": review.n_changes, "undo": undo}


def _frequent_words(review: Review, kind: str) -> list[Json]:
    counts = Counter(
        sentence.example.words[finding.word].casefold()
        for sentence in review.sentences
        for finding in sentence.example.findings
        if finding.kind == kind
    )
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [{"word": word, "count": number} for word, number in ordered[:_MAX_FREQUENT]]
