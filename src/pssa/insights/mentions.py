"""Mentions: one aspect of one review each, as the scored rows have them, and the words that drive its label.

A driver is a content word on which the classifier's attention rests. A word that is turned around drives as `not fresh`, whether
the attention rests on `fresh` or on `not`; what rests on `utterly` counts for the word that it strengthens.

A mention is an opinion unless the model says that it is none. Where the model cannot say it, a neutral mention without an opinion
word near it is none.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile
from typing import Any

from pssa.data.english import is_content_word
from pssa.data.tokenize import Span
from pssa.insights.grouping import normalize
from pssa.runs.answers import Answer, Explanation
from pssa.runs.input_profile import LONG_TEXT, NEW_ASPECT, is_unfounded, note_kind
from pssa.stress.lexicon import find_opinion_word
from pssa.stress.negation import is_negator

_STRENGTHENER_WORDS = """
absolutely completely especially extraordinarily extremely fairly frankly highly incredibly particularly pretty real
seriously severely simply super terribly too totally truly unbelievably utterly
"""
_STRENGTHENERS = frozenset(_STRENGTHENER_WORDS.split())
_BORDERS = frozenset(".,;:!?()-–—…") | {"but", "and"}
IS_MENTION = "is_mention"  # the field in which a model says that a mention is no opinion
OVERALL = "overall"  # the name of opinions about the whole, whose aspect the text does not name
NEUTRAL = "neutral"
_SIGNS = {"positive": 1, "pos": 1, "good": 1, "negative": -1, "neg": -1, "bad": -1}
_STOPS = frozenset(".;:!?") | {"but", "although", "though", "while", "however", "yet"}  # opinions do not reach beyond
_MILD = frozenset(
    ("okay", "ok", "average", "mediocre", "fine", "decent", "acceptable", "adequate", "standard", "usual")
)
_NEAR = 6  # words from an opinion word to its aspect
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
    def is_overall(self) -> bool:
        """Whether it is an opinion about the whole, without a named aspect."""
        return not self.aspect

    @cached_property
    def is_opinion(self) -> bool:
        """Whether it says something about its aspect; the model knows, or the words near a neutral aspect tell."""
        if self.fields.get(IS_MENTION) is not None:
            return not self.fields[IS_MENTION]
        return self.is_overall or self.label.lower() != NEUTRAL or bool(self.near_signs)

    @cached_property
    def near_signs(self) -> list[int]:
        """Signs of the opinion words near the aspect, the nearest first; 0: mild, or either."""
        lowered, inside = _lowered(self.words), self._places
        first, last = (inside[0], inside[-1]) if inside else (0, -1)
        found: list[tuple[int, int]] = []
        for step, place in ((-1, first), (1, last)):
            for distance in range(1, _NEAR + 1 if inside else len(lowered) + 1):
                place += step
                if not 0 <= place < len(lowered) or (inside and lowered[place] in _STOPS):
                    break
                if known := find_opinion_word(lowered[place]):
                    found.append((distance, -known.sign if _is_negated(lowered, place) else known.sign))
                elif lowered[place] in _MILD:
                    found.append((distance, 0))
        return [sign for _, sign in sorted(found, key=lambda one: one[0])]

    @property
    def is_plain(self) -> bool | None:
        """Whether the nearest opinion word and the first driver agree with the label; None: there are no such words."""
        driven = (find_opinion_word(word.removeprefix("not ")) for word, _ in self.drivers)
        turned = (-1 if word.startswith("not ") else 1 for word, _ in self.drivers)
        signs = [turn * known.sign for turn, known in zip(turned, driven, strict=True) if known and known.sign][:1]
        signs += [sign for sign in self.near_signs if sign][:1]
        return {*signs} == {_SIGNS.get(self.label.lower(), 0)} if signs else None

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
        return any(map(is_unfounded, self.notes))

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
        one, inside = self.alone(), self._places
        spans = tuple((start, end) for _, start, end, _ in one.words)
        answer = Answer(self.label, {self.label: self.probability}, self.aspect, *one.span)
        aspect = (inside[0], inside[-1] + 1) if inside else (len(spans), len(spans))
        return Explanation(one.text, spans, aspect, tuple(word[3] for word in one.words), "attention", answer)

    @property
    def _places(self) -> list[int]:
        """The places of the aspect's words in the sentence."""
        return [place for place, word in enumerate(self.words) if word[1] < self.span[1] and self.span[0] < word[2]]


@dataclass(frozen=True)
class EmptyReview:
    """A review in which no aspect was found."""

    notes: list[str]  # kinds of notes, as those of a mention
    is_blank: bool = False  # a row without a text
    text: str = ""


def _note_kinds(fields: Mapping[str, Any]) -> list[str]:
    given = str(fields.get("pssa_notes") or fields.get("notes") or "")
    kinds = map(note_kind, given.split("; "))
    return [kind for kind in kinds if kind in (LONG_TEXT, NEW_ASPECT) or is_unfounded(kind)]


def find_drivers(words: Sequence[tuple[str, int, int, float]], own: Sequence[str] = ()) -> list[tuple[str, float]]:
    """Return the words that drive a label, with their shares, the greatest first.

    :param words: of the sentence: word, offsets and share.
    :param own: words of the aspect, which are left out.
    """
    lowered, left_out = _lowered(words), {*own}
    shares: dict[str, float] = {}
    for place, (_, _, _, share) in enumerate(words):
        if share < _LEAST_SHARE:
            continue
        target = place
        if lowered[place] in _STRENGTHENERS or is_negator(lowered, place):  # it counts for the next word that may drive
            after = takewhile(lambda near: lowered[near] not in _BORDERS, range(place + 1, len(words))[:_REACH])
            drivers = (near for near in after if _is_driver(lowered[near]) and not is_negator(lowered, near))
            target = next((near for near in drivers if lowered[near] not in _STRENGTHENERS), place)
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


def read_mentions(
    lines: Iterable[bytes],
    names: FieldNames = FieldNames(),  # noqa: B008
    tells_mentions: bool = False,
) -> Iterator[Mention | EmptyReview]:
    """Yield the mentions of scored rows, which are lines of JSON, and the reviews without any.

    :param tells_mentions: whether the model knows which mentions are opinions: then all are that are not marked.
    """
    known = {IS_MENTION: False} if tells_mentions else {}
    review, last, had_overall = 0, ("", -1), False
    for line in lines:
        row = known | json.loads(line)
        text = str(row[names.text] or "")
        if row["label"] is None:
            review, last, had_overall = review + 1, ("", -1), False
            yield EmptyReview(_note_kinds(row), not text.strip(), text)
            continue
        # Aspects of one review follow each other from left to right; one answer about the whole is before or after them.
        is_overall, start = not row[names.aspect], row[names.start] or 0
        is_first = text != last[0] or (had_overall if is_overall else start <= last[1])
        review += is_first
        had_overall = is_overall or (had_overall and not is_first)
        last = (text, last[1] if is_overall and not is_first else -1 if is_overall else start)
        yield Mention(
            review=review,
            is_first=is_first,
            text=text,
            aspect=str(row[names.aspect] or ""),
            label=str(row["label"]),
            probability=float(row["probabilities"][row["label"]]),
            words=tuple(
                (each["word"], each["from"], each["to"], each["share"]) for each in row["explanation"]["words"]
            ),
            span=(start, row[names.end] or 0),
            fields=row,
        )


def _lowered(words: Sequence[tuple[str, int, int, float]]) -> list[str]:
    return [word.lower().replace("’", "'") for word, *_ in words]


def _is_driver(word: str) -> bool:
    return is_content_word(word) and not word.isdigit() and (len(word) > 1 or not word.isascii())


def _is_negated(words: Sequence[str], place: int) -> bool:
    for before in range(place - 1, max(-1, place - 1 - _REACH), -1):
        if words[before] in _BORDERS:
            return False
        if is_negator(words, before):
            return True
    return False
