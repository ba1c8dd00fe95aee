"""Where an aspect is in its text: by given offsets, or by search.

Occurrences are whole words before parts of words, and in the same case before any case; last come those with other white space.
"""

from __future__ import annotations

import re
import unicodedata

from pssa.data.tokenize import Span
from pssa.data.validation import shorten
from pssa.errors import InputError

__all__ = ["check_offsets", "cut_word", "occurrences"]

_ADVICE = "give it as it stands there, or `from` and `to`"
_INSIDE = re.compile(r"(?<=\w)(?=\w)")


def check_offsets(text: str, offsets: Span, aspect: str | None) -> Span:
    """The offsets, once it is sure that they are inside the text and that `aspect`, where given, stands there."""
    start, end = offsets
    if not 0 <= start < end <= len(text):
        raise InputError(f"aspect offsets {start}-{end} are not inside the text of {len(text)} characters")
    # Case and the kind of white space may differ: XML attributes have spaces for line breaks, tables often lower case.
    if aspect is not None and _folded(text[start:end]) not in (_folded(aspect), _folded(aspect.strip())):
        raise InputError(
            f"aspect {shorten(aspect)} is not at its offsets {start}-{end}, where the text has {shorten(text[start:end])}"
        )
    return offsets


def occurrences(text: str, aspect: str) -> tuple[Span, ...]:
    """Every place where the aspect stands, in order; at least one.

    :raises InputError: if it is not in the text.
    """
    # Only where it does not stand there letter by letter may white space be of another kind and length.
    for literal in (re.escape(aspect.strip()), r"\s+".join(map(re.escape, aspect.split()))):
        whole = rf"(?<!\w){literal}(?!\w)"
        for pattern in (whole, literal):
            for flags in (re.NOFLAG, re.IGNORECASE):
                found = tuple(match.span() for match in re.finditer(pattern, text, flags))
                if found:
                    return found
    # Looking alike is no help to the reader of the message where characters differ.
    alike = unicodedata.normalize("NFC", aspect.strip()) in unicodedata.normalize("NFC", text)
    advice = ", where its accents are stored otherwise; normalise both alike (NFC)" if alike else f"; {_ADVICE}"
    raise InputError(f"aspect {shorten(aspect)} is not in the text {_shortened(text)!r}{advice}")


def cut_word(text: str, place: Span) -> str | None:
    """The word that the place begins or ends inside of; None where it holds whole words."""
    cut = next((edge for edge in place if _INSIDE.match(text, edge)), None)
    if cut is None:
        return None
    return next(word.group() for word in re.finditer(r"\w+", text) if word.start() < cut < word.end())


def _folded(text: str) -> str:
    return re.sub(r"\s", " ", text.casefold())


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
