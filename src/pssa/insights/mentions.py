"""Mentions: one aspect of one review each, as the scored rows have them, and the words that drive its label.

A driver is a content word on which the classifier's attention rests. A word that is turned around drives as `not fresh`, whether
the attention rests on `fresh` or on `not`; what rests on `utterly` counts for the word that it strengthens.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pssa.data.stop_words import is_content_word
from pssa.data.tokenize import Span
from pssa.insights.grouping import normalize
from pssa.runs.classifier import Answer
from pssa.runs.explain import Explanation
from pssa.runs.input_profile import LONG_TEXT, OTHER_SCRIPT, UNKNOWN_WORDS, note_kind
from pssa.stress.negation import is_negator

_STRENGTHENER_WORDS = """
absolutely completely especially extraordinarily extremely fairly frankly highly incredibly particularly pretty real
seriously severely simply super terribly too totally truly unbelievably utterly
"""
_STRENGTHENERS = frozenset(_STRENGTHENER_WORDS.split())
_BORDERS = frozenset(".,;:!?()-–—…") | {"but", "and"}
UNFOUNDED = (OTHER_SCRIPT, UNKNOWN_WORDS)  # kinds of notes about texts whose label is a guess
_KINDS = (*UNFOUNDED, LONG_TEXT)  # a new aspect alone says little
_REACH = 3  # words from a negator to what it turns around, or from a strengthener to what it strengthens
_LEAST_SHARE = 0.02  # of a driver


@dataclass(frozen=True)
class Mention:
    """One aspect of one review: what is said of it, where, and by which words."""

    review: int  # its number, from 1
    is_first: bool  # of its review
    text: str
    aspect: str
    label: str
    probability: float  # of the label
    words: tuple[tuple[str, int, int, float], ...]  # of its sentence: word, offsets in the review, share
    span: Span  # of the aspect in the review
    fields: Mapping[str, Any]  # the whole row

    @cached_property
    def spelling(self) -> str:
        """The aspect in its normal form."""
        return normalize(self.aspect)

    @cached_property
    def drivers(self) -> list[tuple[str, float]]:
        """The content words that drive the label, with their shares, the greatest first."""
        return find_drivers(self.words, self.spelling.split())

    @property
    def driver(self) -> str:
        """The first of them; empty if there is none."""
        return self.drivers[0][0] if self.drivers else ""

    @property
    def notes(self) -> list[str]:
        """Kinds of notes that say that the text is unlike the training data."""
        return _note_kinds(self.fields)

    @property
    def is_unfounded(self) -> bool:
        """Whether the model does not know the language of the text, so that its label is a guess."""
        return any(kind in UNFOUNDED for kind in self.notes)

    @property
    def sentence(self) -> str:
        """The sentence that was judged."""
        return self.text[self.words[0][1] : self.words[-1][2]] if self.words else self.text

    def alone(self) -> Mention:
        """Return the mention without its row and with its sentence for a text: all that a quotation needs."""
        offset = self.words[0][1] if self.words else 0
        words = tuple((word, start - offset, end - offset, share) for word, start, end, share in self.words)
        span = self.span[0] - offset, self.span[1] - offset
        return replace(self, text=self.sentence, words=words, span=span, fields={})

    def explain(self) -> Explanation:
        """Return the sentence with its heat, as heat maps draw it."""
        offset = self.words[0][1]
        spans = tuple((start - offset, end - offset) for _, start, end, _ in self.words)
        start, end = (place - offset for place in self.span)
        inside = [place for place, span in enumerate(spans) if start < span[1] and span[0] < end]
        answer = Answer(self.label, {self.label: self.probability}, self.aspect, start, end)
        aspect = (inside[0], inside[-1] + 1) if inside else (0, 1)
        return Explanation(self.sentence, spans, aspect, tuple(word[3] for word in self.words), "attention", answer)


@dataclass(frozen=True)
class EmptyReview:
    """A review in which no aspect was found."""

    notes: list[str]  # kinds of notes, as those of a mention
    is_blank: bool = False  # a row without a text


def _note_kinds(fields: Mapping[str, Any]) -> list[str]:
    given = str(fields.get("pssa_notes") or fields.get("notes") or "")
    return [kind for note in given.split("; ") if (kind := note_kind(note)) in _KINDS]


def find_drivers(words: Sequence[tuple[str, int, int, float]], own: Sequence[str] = ()) -> list[tuple[str, float]]:
    """Return the words that drive a label, with their shares, the greatest first.

    :param words: of the sentence: word, offsets and share.
    :param own: words of the aspect, which are left out.
    """
    lowered = [word.lower().replace("’", "'") for word, *_ in words]
    left_out = {*own}
    shares: dict[str, float] = {}
    for place, (_, _, _, share) in enumerate(words):
        if share < _LEAST_SHARE:
            continue
        passes_on = lowered[place] in _STRENGTHENERS or is_negator(lowered, place)
        target = _next_driver(lowered, place) if passes_on else place
        word = lowered[target]
        if _is_driver(word) and word not in left_out and not is_negator(lowered, target):
            driver = f"not {word}" if _is_negated(lowered, target) else word
            shares[driver] = shares.get(driver, 0.0) + share
    return sorted(shares.items(), key=lambda item: (-item[1], item[0]))


@dataclass(frozen=True)
class FieldNames:
    """What the scored rows call the fields of a mention; the rest are the user's own."""

    text: str = "text"
    aspect: str = "aspect"
    start: str = "from"
    end: str = "to"


def read_mentions(path: Path, names: FieldNames = FieldNames()) -> Iterator[Mention | EmptyReview]:  # noqa: B008
    """Yield the mentions of a file of scored rows, and the reviews without any."""
    review, last = 0, ("", -1)
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if row[names.start] is None:
                review, last = review + 1, ("", -1)
                yield EmptyReview(_note_kinds(row), not str(row[names.text] or "").strip())
                continue
            text, start = str(row[names.text]), row[names.start]
            # Aspects of one review follow each other from left to right.
            is_first = text != last[0] or start <= last[1]
            review, last = review + is_first, (text, start)
            yield _mention((review, is_first), row, names)


def _mention(review: tuple[int, bool], row: Mapping[str, Any], names: FieldNames) -> Mention:
    label, words = str(row["label"]), row["explanation"]["words"]
    return Mention(
        *review,
        str(row[names.text]),
        str(row[names.aspect]),
        label,
        float(row["probabilities"][label]),
        tuple((word["word"], word["from"], word["to"], word["share"]) for word in words),
        (row[names.start], row[names.end]),
        row,
    )


def _is_driver(word: str) -> bool:
    return is_content_word(word) and not word.isdigit() and (len(word) > 1 or not word.isascii())


def _is_negated(words: Sequence[str], place: int) -> bool:
    for before in range(place - 1, max(-1, place - 1 - _REACH), -1):
        if words[before] in _BORDERS:
            return False
        if is_negator(words, before):
            return True
    return False


def _next_driver(words: Sequence[str], place: int) -> int:
    """Return the place of the next word that may drive a label; the given place if there is none near."""
    for after in range(place + 1, min(len(words), place + 1 + _REACH)):
        if words[after] in _BORDERS:
            break
        if _is_driver(words[after]) and words[after] not in _STRENGTHENERS and not is_negator(words, after):
            return after
    return place
