"""The one tokeniser: text to words with character offsets.

A word is a run of letters and digits, with inner hyphens and slashes kept (`built-in`, `1/2`), a leading `$` before a
digit kept (`$20`), a number with its decimal point (`3.5`), or a single other character that is not white space. Apostrophes
therefore stand alone (`don ' t`), as in the public LAPTOP and REST files. Marks behind a letter, such as vowels of Hindi and
accents that are characters of their own, belong to it, and an emoji that is made of several characters is one word. Text is
never changed: words are slices of it.
Files that come as tokens (the tagged and the three-line format) are cut at white space instead, and nowhere else.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from functools import cache

__all__ = ["Span", "cut_at", "split_on_space", "tokenize"]

Span = tuple[int, int]  # half-open

_LETTERS = r"[^\W_]+"
_FORM = r"\$?\d+(?:[.,:]\d+)+|\$\d+|LETTERS(?:[-/]LETTERS)*"
_WORD = re.compile(_FORM.replace("LETTERS", _LETTERS) + r"|\S")
_TOKEN = re.compile(r"\S+")
_MARKS = range(0x300, 0x10000)  # where living scripts have them; beyond it the pattern would be ten times slower
_JOINERS = "\u200c\u200d"  # within words of Persian and of Indian languages
_FLAG = "\U0001f1e6-\U0001f1ff"  # letters of which two are a flag
_PICTURES = (
    "#*\xa9\xae\u203c\u2049\u2122\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001f3fa\U0001f400-\U0001faff"
)
_TONES_AND_TAGS = "\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f"  # of skin; of the flags of England and others
_CHANGED = f"[{_PICTURES}][\ufe0e\ufe0f\u20e3{_TONES_AND_TAGS}]*"  # also by a choice of looks, or by a key around it
_EMOJI = f"[{_FLAG}]{{2}}|{_CHANGED}(?:\u200d{_CHANGED})*"


def tokenize(text: str, breaks: tuple[int, ...] = ()) -> tuple[Span, ...]:
    """Character spans of the words of `text`; no word crosses an offset in `breaks` (the aspect's two ends)."""
    return cut_at(tuple([match.span() for match in _pattern_for(text).finditer(text)]), breaks)


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


def _pattern_for(text: str) -> re.Pattern[str]:
    """What a word is; the pattern that knows of marks and of emoji is slower, and few texts have any that need it."""
    if text.isascii():
        return _WORD
    mark, marked = _patterns_of_marks()
    return marked if mark.search(text) else _WORD


@cache
def _patterns_of_marks() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What belongs to characters beside it, and a word that may have it; made on first use, since it takes milliseconds."""
    marks = _JOINERS + "".join(chr(code) for code in _MARKS if unicodedata.category(chr(code))[0] == "M")
    letters = rf"(?:[^\W_][{marks}]*)+"
    word = _FORM.replace("LETTERS", letters) + rf"|{_EMOJI}|\S"
    return re.compile(f"[{marks}{_FLAG}{_TONES_AND_TAGS}]"), re.compile(word)
