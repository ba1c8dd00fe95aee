"""The model of a heat map, shared by terminal, HTML and SVG: segments of the text with their heat, colours, changes.

Texts come from strangers: `clean` replaces the characters that no page, drawing or terminal may receive and keeps every offset.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from pssa.display import percent
from pssa.errors import InputError
from pssa.runs.answers import Explanation
from pssa.runs.input_profile import NEW_ASPECT

LEVELS = 10  # of heat; level 0 is not coloured
FULL = 0.4  # share from which a word has the highest level; the same in every sentence, so that sentences compare
NAMED = 0.05  # least share whose number is written out
_N_CHANGES = 5
_MIN_CHANGE = 0.01

ACCENT = "#b45309"
HEAT_COLOUR = (245, 158, 11)  # red, green, blue
_THICKNESS = (0, 0, 1, 1, 2, 2, 2, 3, 3, 4, 4)  # of the line under a word, in pixels, by level

# Control characters but tab and line feed, surrogates and noncharacters: XML or HTML forbids them.
_FORBIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef"
    + "".join(chr(plane << 16 | end) for plane in range(17) for end in (0xFFFE, 0xFFFF))
    + "]"
)


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of the text; all segments together are the text."""

    text: str
    share: float | None = None  # None: the aspect, or the characters between words
    is_aspect: bool = False


class Pair(NamedTuple):
    """An explanation and, if two classifiers are compared, the other's explanation of the same aspect."""

    now: Explanation
    before: Explanation | None = None


def clean(text: str) -> str:
    """Return the text with a replacement character for each one that must not be shown."""
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r", " "))


def segments(explanation: Explanation) -> list[Segment]:
    """Cut the cleaned text into words, the aspect, and the characters between them."""
    text, spans = clean(explanation.text), explanation.spans
    first, last = explanation.aspect[0], explanation.aspect[1] - 1
    found: list[Segment] = []
    place = 0
    for index, (start, end) in enumerate(spans):
        if first < index <= last:
            continue
        if place < start:
            found.append(Segment(text[place:start]))
        is_aspect = index == first <= last  # an answer about the text as a whole has no aspect
        place = spans[last][1] if is_aspect else end
        found.append(Segment(text[start:place], None if is_aspect else explanation.shares[index], is_aspect))
    if place < len(text):
        found.append(Segment(text[place:]))
    return found


def level(share: float) -> int:
    """Return the heat of a share, from 0 to `LEVELS`."""
    return min(LEVELS, round(share / FULL * LEVELS))


def opacity(heat: int) -> float:
    """Return the opacity of the colour behind a word of this level."""
    return round(0.85 * heat / LEVELS, 3)


def thickness(heat: int) -> int:
    """Return the thickness in pixels of the line under a word of this level, for readers who see no colour."""
    return _THICKNESS[heat]


def format_share(share: float) -> str:
    """Format a share in three characters: `.42`, or `1.0`."""
    return f"{share:.2f}".removeprefix("0") if share < 0.995 else "1.0"


def scores(explanation: Explanation) -> list[tuple[str, str]]:
    """Return the labels with their probabilities, such as ` 88.4 %`, the predicted one first.

    Where the classifier abstains, `uncertain` comes first, without a probability.
    """
    answer = explanation.answer
    by_label = {label: f" {percent(value)}" for label, value in answer.probabilities.items()}
    return [(answer.label, by_label.pop(answer.label, "")), *by_label.items()]


def warning(explanation: Explanation) -> str:
    """Return what about the text is unlike the training data, with its consequence; empty if nothing is."""
    notes = explanation.answer.notes
    # An aspect may be new in a text that is like the others.
    consequence = [] if set(notes) <= {NEW_ASPECT} else ["do not rely on this answer"]
    return "; ".join([*notes, *consequence])


def top_words(explanation: Explanation, least: float = NAMED) -> list[Segment]:
    """Return the words with a share of at least `least`, the highest first."""
    found = [part for part in segments(explanation) if part.share is not None and part.share >= least]
    return sorted(found, key=lambda part: -(part.share or 0.0))


def alt_text(explanation: Explanation) -> str:
    """Describe the heat map in words, for screen readers."""
    words = [f"{part.text} {percent(part.share or 0.0)}" for part in top_words(explanation)]
    weights = ", ".join(words) if words else f"no word has {percent(NAMED, 0)} or more"
    sentence = " ".join("".join(f"[{p.text}]" if p.is_aspect else p.text for p in segments(explanation)).split())
    return f"{sentence} Shares by {explanation.saliency}: {weights}."


def pairs(explanations: Sequence[Explanation], versus: Sequence[Explanation] | None) -> list[Pair]:
    """Join each explanation with its counterpart, if there is one; both must explain the same aspects."""
    if versus is None:
        return [Pair(explanation) for explanation in explanations]
    ours, theirs = ([(one.text, one.spans, one.aspect) for one in given] for given in (explanations, versus))
    if ours != theirs:
        raise InputError("the two lists explain different aspects; explain the same aspects in the same order")
    return [Pair(now, before) for now, before in zip(explanations, versus, strict=True)]


def by_sentence(given: Sequence[Pair]) -> list[list[Pair]]:
    """Group neighbouring pairs of the same text."""
    return [list(group) for _, group in groupby(given, key=lambda pair: pair.now.text)]


def changes(now: Explanation, before: Explanation) -> list[tuple[str, float, float]]:
    """Return the words whose share changed most, with the shares before and now; small changes are left out."""
    text = clean(now.text)
    words = [text[start:end] for start, end in now.spans]
    rows = zip(words, before.shares, now.shares, strict=True)
    found = [(word, old, new) for word, old, new in rows if abs(new - old) >= _MIN_CHANGE]
    return sorted(found, key=lambda change: -abs(change[2] - change[1]))[:_N_CHANGES]
