"""Places of an aspect in its text, found in time that grows with the length of the text, whatever both contain."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from pssa.data.tokenize import Span
from pssa.data.validation import shorten
from pssa.errors import InputError

_N_TEXTS = 8  # that are kept in another form, since a text often has several aspects
_MAX_NORMALISED = 1000  # characters
_SPACES = re.compile(r"\s+")


def find_occurrences(text: str, aspect: str) -> tuple[Span, ...]:
    """Return every place of the aspect in the text, in order; at least one.

    Whole words come before parts of words, the same case before any case, and other white space last: only the best kind of
    match is returned.
    """
    if found := _find_best(text, aspect.strip()):
        return found
    joined, starts = _collapse_spaces(text)
    if found := _find_best(joined, " ".join(aspect.split())):
        # An aspect neither starts nor ends with a space.
        return tuple((starts[start], starts[end - 1] + 1) for start, end in found)
    # Texts that look the same can differ in their characters; normalising many accents takes quadratic time.
    alike = len(text) <= _MAX_NORMALISED and unicodedata.normalize("NFC", aspect.strip()) in unicodedata.normalize(
        "NFC", text
    )
    advice = "give it as it appears there, or its character offsets"
    if alike:
        advice = "its accents are stored differently there: normalise both to NFC"
    quoted = text if len(text) <= 60 else text[:57] + "..."
    raise InputError(f"aspect {shorten(aspect)} is not in the text {quoted!r}; {advice}")


def _find_best(text: str, aspect: str) -> tuple[Span, ...]:
    if not aspect:
        return ()
    for find in (_find_whole, _find_anywhere):
        found = find(text, aspect) or find(_fold_text(text), fold_case(aspect))
        if found:
            return found
    return ()


def _find_anywhere(text: str, aspect: str) -> tuple[Span, ...]:
    """Return places that do not overlap; `str.find` takes linear time."""
    found, start = [], text.find(aspect)
    while start >= 0:
        found.append((start, start + len(aspect)))
        start = text.find(aspect, start + len(aspect))
    return tuple(found)


def _find_whole(text: str, aspect: str) -> tuple[Span, ...]:
    """Return places with no letter or digit before or after them."""
    found: list[Span] = []
    if aspect not in text:
        return ()
    for match in re.finditer(rf"(?<!\w){re.escape(aspect[0])}", text):
        start, end = match.start(), match.start() + len(aspect)
        is_free = not found or start >= found[-1][1]
        after = text[end : end + 1]
        if is_free and text.startswith(aspect, start) and not (after.isalnum() or after == "_"):
            found.append((start, end))
    return tuple(found)


@lru_cache(_N_TEXTS)
def _fold_text(text: str) -> str:
    return fold_case(text)


def fold_case(text: str) -> str:
    """Return the text in one case, of the same length: two characters are alike if `re.IGNORECASE` takes them so."""
    return text.lower() if text.isascii() else "".join(map(_fold_character, text))


@lru_cache(4096)
def _fold_character(character: str) -> str:
    # Long s and final sigma share only their upper case with others; some characters are several in another case.
    lower = character.lower()[0]
    folded = lower.upper().lower()
    return folded if len(folded) == 1 else lower


@lru_cache(_N_TEXTS)
def _collapse_spaces(text: str) -> tuple[str, tuple[int, ...]]:
    """Return the text with one space for each run of white space, and where each of its characters starts."""
    pieces, starts, end = [], list[int](), 0
    for match in _SPACES.finditer(text):
        pieces += [text[end : match.start()], " "]
        starts += range(end, match.start() + 1)
        end = match.end()
    return "".join((*pieces, text[end:])), (*starts, *range(end, len(text)))
