"""What a heat map shows of an explanation, whatever draws it: pieces of the text with their heat, and what changed.

The texts come from strangers: `clean` takes out what no page, drawing or terminal may be given, and keeps every offset.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from pssa.errors import InputError
from pssa.runs.explain import Explanation

__all__ = [
    "FULL",
    "LEVELS",
    "NAMED",
    "Change",
    "Pair",
    "Piece",
    "by_sentence",
    "changes",
    "clean",
    "hottest",
    "level",
    "number",
    "pairs",
    "percent",
    "pieces",
    "probabilities",
    "spoken",
]

LEVELS = 10  # of heat; level 0 is not coloured
FULL = 0.4  # the share from which a word is as hot as can be shown; the same in every sentence, so that two compare
NAMED = 0.05  # the least share whose number is written out
_SHOWN = 5  # words that are named as changed
_CHANGED = 0.01  # the least change worth naming

# Controls but tab and line feed, halves of pairs and what Unicode calls no character: not allowed in XML, or not in HTML.
_UNFIT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef"
    + "".join(chr(plane << 16 | end) for plane in range(17) for end in (0xFFFE, 0xFFFF))
    + "]"
)
_UNFIT_MARK = "\N{REPLACEMENT CHARACTER}"


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the text; all pieces together are the text."""

    text: str
    share: float | None = None  # None: the aspect, or what stands between words
    is_aspect: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """A word whose share differs between two explanations."""

    word: str
    before: float
    after: float

    @property
    def difference(self) -> float:
        """How much the share grew."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class Pair:
    """An explanation and, where two classifiers are compared, the other's of the same aspect."""

    now: Explanation
    before: Explanation | None = None


def clean(text: str) -> str:
    """The text, character for character, with a replacement sign where one may not be shown."""
    return _UNFIT.sub(_UNFIT_MARK, text.replace("\r", " "))


def pieces(explanation: Explanation) -> list[Piece]:
    """The whole text, cleaned and cut into words, the aspect, and what stands between them."""
    text, spans = clean(explanation.text), explanation.spans
    first, last = explanation.aspect[0], explanation.aspect[1] - 1
    found: list[Piece] = []
    place = 0
    for index, (start, end) in enumerate(spans):
        if first < index <= last:
            continue
        if place < start:
            found.append(Piece(text[place:start]))
        place = spans[last][1] if index == first else end
        is_aspect = index == first
        found.append(Piece(text[start:place], None if is_aspect else explanation.shares[index], is_aspect))
    if place < len(text):
        found.append(Piece(text[place:]))
    return found


def level(share: float) -> int:
    """The heat of a share, from 0 to `LEVELS`."""
    return min(LEVELS, round(share / FULL * LEVELS))


def number(share: float) -> str:
    """A share in three characters: `.42`, and `1.0` for all."""
    return f"{share:.2f}".removeprefix("0") if share < 0.995 else "1.0"


def percent(share: float) -> str:
    """A share to be read: `42.0%`."""
    return f"{share:.1%}"


def probabilities(explanation: Explanation) -> list[tuple[str, float]]:
    """Labels with their probabilities, the predicted one first."""
    answer = explanation.answer
    rest = [(label, value) for label, value in answer.probabilities.items() if label != answer.label]
    return [(answer.label, answer.probabilities[answer.label]), *rest]


def hottest(explanation: Explanation, least: float = NAMED) -> list[Piece]:
    """The words with a share of at least `least`, the highest first."""
    found = [piece for piece in pieces(explanation) if piece.share is not None and piece.share >= least]
    return sorted(found, key=lambda piece: -(piece.share or 0.0))


def spoken(explanation: Explanation) -> str:
    """The heat map in words, for those who do not see it."""
    words = [f"{piece.text} {percent(piece.share or 0.0)}" for piece in hottest(explanation)]
    weights = ", ".join(words) if words else f"no word has {NAMED:.0%} or more"
    sentence = " ".join("".join(f"[{p.text}]" if p.is_aspect else p.text for p in pieces(explanation)).split())
    return f"{sentence} Shares by {explanation.saliency}: {weights}."


def pairs(explanations: Sequence[Explanation], versus: Sequence[Explanation] | None) -> list[Pair]:
    """Each explanation with its counterpart.

    :raises InputError: if the two do not explain the same aspects of the same texts.
    """
    if versus is None:
        return [Pair(explanation) for explanation in explanations]
    if [_subject(given) for given in explanations] != [_subject(given) for given in versus]:
        raise InputError(
            "the two lists of explanations are not of the same aspects in the same order; explain the same"
        )
    return [Pair(now, before) for now, before in zip(explanations, versus, strict=True)]


def by_sentence(given: Sequence[Pair]) -> list[list[Pair]]:
    """Neighbours that are about the same text, together."""
    return [list(group) for _, group in groupby(given, key=lambda pair: pair.now.text)]


def changes(now: Explanation, before: Explanation, most: int = _SHOWN) -> list[Change]:
    """The words whose share changed most, those first; small changes are left out."""
    text = clean(now.text)
    words = [text[start:end] for start, end in now.spans]
    rows = zip(words, before.shares, now.shares, strict=True)
    found = [Change(word, old, new) for word, old, new in rows if abs(new - old) >= _CHANGED]
    return sorted(found, key=lambda change: -abs(change.difference))[:most]


def _subject(explanation: Explanation) -> tuple[object, ...]:
    return explanation.text, explanation.spans, explanation.aspect
