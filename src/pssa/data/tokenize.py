"""The tokeniser: text to words with character offsets.

A word is a run of letters and digits with inner hyphens and slashes (`built-in`, `1/2`) or a leading `$` (`$20`), a number with
its decimal point (`3.5`), or a single other character that is not white space. Apostrophes are therefore words (`don ' t`), as in
the public LAPTOP and REST files. Combining marks, such as vowels of Hindi and separate accents, belong to their letter, and an
emoji of several characters is one word. Text is never changed: words are slices of it.
Files of tokens (the tagged and the three-line format) are split at white space only.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from functools import cache, lru_cache

Span = tuple[int, int]  # half-open

_N_TEXTS = 8  # whose words are kept, since a text often has several aspects

_LETTERS = r"[^\W_]+"
_FORM = r"\$?\d+(?:[.,:]\d+)+|\$\d+|LETTERS(?:[-/]LETTERS)*"
_WORD = re.compile(_FORM.replace("LETTERS", _LETTERS) + r"|\S")
_TOKEN = re.compile(r"\S+")
_MARKS = range(0x300, 0x10000)  # of living scripts; with more of them the pattern would be ten times slower
_JOINERS = "\u200c\u200d"  # within words of Persian and of Indian languages
_FLAG = "\U0001f1e6-\U0001f1ff"  # two of these letters are a flag
_PICTURES = (
    "#*\xa9\xae\u203c\u2049\u2122\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001f3fa\U0001f400-\U0001faff"
)
_TONES_AND_TAGS = "\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f"  # skin tones; tags of the flags of England and others
_CHANGED = (
    f"[{_PICTURES}][\ufe0e\ufe0f\u20e3{_TONES_AND_TAGS}]*"  # a picture with a variation, a keycap, a tone or tags
)
_EMOJI = f"[{_FLAG}]{{2}}|{_CHANGED}(?:\u200d{_CHANGED})*"


def tokenize(text: str, breaks: tuple[int, ...] = ()) -> tuple[Span, ...]:
    """Return the character spans of the words of `text`; no word crosses an offset in `breaks` (the ends of the aspect)."""
    return cut_at(_words(text), breaks)


@lru_cache(_N_TEXTS)
def _words(text: str) -> tuple[Span, ...]:
    pattern = _WORD
    if not text.isascii():  # the pattern with marks and emoji is slower, and few texts need it
        mark, marked = _patterns_of_marks()
        pattern = marked if mark.search(text) else _WORD
    return tuple([match.span() for match in pattern.finditer(text)])


def split_on_space(text: str, breaks: tuple[int, ...] = ()) -> tuple[Span, ...]:
    """Return the character spans of the tokens of an already tokenised `text`."""
    return cut_at(tuple(match.span() for match in _TOKEN.finditer(text)), breaks)


def cut_at(spans: tuple[Span, ...], breaks: tuple[int, ...]) -> tuple[Span, ...]:
    """Cut every span that contains one of `breaks`; spans are in order and do not overlap."""
    for cut in breaks:
        place = bisect_left(spans, (cut, cut)) - 1  # the last that begins before the cut
        if place >= 0 and spans[place][1] > cut:
            start, end = spans[place]
            spans = (*spans[:place], (start, cut), (cut, end), *spans[place + 1 :])
    return spans


@cache
def _patterns_of_marks() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the pattern of marks and that of a word with marks; built on first use, since it takes milliseconds."""
    marks = _JOINERS + "".join(chr(code) for code in _MARKS if unicodedata.category(chr(code))[0] == "M")
    letters = rf"(?:[^\W_][{marks}]*)+"
    word = _FORM.replace("LETTERS", letters) + rf"|{_EMOJI}|\S"
    return re.compile(f"[{marks}{_FLAG}{_TONES_AND_TAGS}]"), re.compile(word)
