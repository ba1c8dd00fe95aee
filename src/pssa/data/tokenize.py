"""The one tokeniser: text to words with character offsets.

A word is a run of letters and digits, with inner hyphens and slashes kept (`built-in`, `1/2`), a leading `$` before a
digit kept (`$20`), a number with its decimal point (`3.5`), or a single other character that is not white space. Apostrophes
therefore stand alone (`don ' t`), as in the public LAPTOP and REST files. Text is never changed: words are slices of it.
Files that come as tokens (the tagged and the three-line format) are cut at white space instead, and nowhere else.
"""

from __future__ import annotations

import re
from bisect import bisect_left

__all__ = ["Span", "cut_at", "split_on_space", "tokenize"]

Span = tuple[int, int]  # half-open

_WORD = re.compile(r"\$?\d+(?:[.,:]\d+)+|\$\d+|[^\W_]+(?:[-/][^\W_]+)*|\S")
_TOKEN = re.compile(r"\S+")


def tokenize(text: str, breaks: tuple[int, ...] = ()) -> tuple[Span, ...]:
    """Character spans of the words of `text`; no word crosses an offset in `breaks` (the aspect's two ends)."""
    return cut_at(tuple([match.span() for match in _WORD.finditer(text)]), breaks)


def split_on_space(text: str, breaks: tuple[int, ...] = ()) -> tuple[Span, ...]:
    """Character spans of the tokens of an already tokenised `text`."""
    return cut_at(tuple(match.span() for match in _TOKEN.finditer(text)), breaks)


def cut_at(spans: tuple[Span, ...], breaks: tuple[int, ...]) -> tuple[Span, ...]:
    """Cut every span that one of `breaks` lies inside of; spans are in order and apart."""
    for cut in breaks:
        place = bisect_left(spans, (cut, cut)) - 1  # the last that begins before the cut
        if place >= 0 and spans[place][1] > cut:
            start, end = spans[place]
            spans = (*spans[:place], (start, cut), (cut, end), *spans[place + 1 :])
    return spans
