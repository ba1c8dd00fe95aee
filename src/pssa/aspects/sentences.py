"""`split_sentences`: where the sentences of a review begin and end.

The text is never changed: a sentence is a slice of it, without white space around it. A sentence ends

- at `.`, `!`, `?` or their like, with closing quotes and brackets, if white space follows; full-width marks need none;
- not at the full stop of an abbreviation (`Dr.`, `e.g.`), an initial (`J. Smith`) or a list number (`2. Service`);
- at an ellipsis only if a capital letter or the end of the line follows;
- at an emoji, if a capital letter follows after white space;
- at the end of a line if a blank line, a list item or a capital letter follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pssa.data.tokenize import Span

# Abbreviations that are always followed by something.
_LEADING = re.compile(r"mrs?|ms|dr|prof|st|vs|e\.?g|i\.?e|cf|approx|incl|esp|ca")
# Those that may end a sentence: they do if a capital letter follows.
_TRAILING = re.compile(
    r"etc|inc|ltd|corp|al|jr|sr|dept|appt|est|hrs?|mins?|sec|oz|lbs?|ft|sq|tel|ext|ave|blvd|rd|[ap]\.m|u\.s|u\.k|u\.s\.a|ph\.d"
    r"|jan|feb|apr|jun|jul|aug|sept?|oct|nov|dec|tues?|wed|thu|thurs?"
)
# Ordinary words that are abbreviations before a number.
_NUMBERED = re.compile(r"nos?|vol|fig|pp?|mar|max")
_CLOSING = "\"')\\]}»”’"
_EMOJI = "\u2600-\u27bf\U0001f000-\U0001faff\ufe0f\u200d"
_END = re.compile(
    rf"(?P<wide>[。！？｡]+[{_CLOSING}」』）]*)"
    rf"|(?P<dots>…+|\.(?:\s?\.)+)[{_CLOSING}]*(?=\s|$)"
    rf"|(?P<marks>[.!?‼⁇⁈⁉؟۔।]+)[{_CLOSING}]*(?=\s|$)"
    rf"|(?P<emoji>[{_EMOJI}]+)(?=\s|$)"
    r"|(?P<line>\r?\n)"
)
_WORD_BEFORE = re.compile(r"[^\s(\[\"'“‘/]+\Z")
_LIST_ITEM = re.compile(r"\s*(?:[-*•·–—▪‣+>]|\(?\d{1,3}[.)]|\(?[a-zA-Z]\))\s+\S")
_LIST_NUMBER = re.compile(r"(?:^|\n)[ \t]*\(?\d{1,3}\Z")
_BLANK_LINE = re.compile(r"[ \t]*\r?\n")
_LONGEST_WORD = 40  # characters before a mark that are looked at


def split_sentences(text: str) -> tuple[Span, ...]:
    """Return the character offsets of each sentence, in order; white space alone is no sentence."""
    spans = []
    start = 0
    for end in (*_ends(text), len(text)):
        first, last = _strip(text, start, end)
        if first < last:
            spans.append((first, last))
        start = end
    return tuple(spans)


def _ends(text: str) -> Iterator[int]:
    for found in _END.finditer(text):
        kind = found.lastgroup
        end = found.end()
        if (
            kind == "wide"
            or (kind == "line" and _ends_line(text, end))
            or (kind in ("dots", "emoji") and _begins_anew(text, end))
            or (kind == "marks" and not _is_abbreviation(text, found))
        ):
            yield end


def _ends_line(text: str, end: int) -> bool:
    """Tell whether the line that ends before `end` ends a sentence too."""
    if _BLANK_LINE.match(text, end) or _LIST_ITEM.match(text, end):
        return True
    return _begins_anew(text, end)


def _begins_anew(text: str, place: int) -> bool:
    """Tell whether the next character that is not white space, quote or bracket is a capital letter, or there is none."""
    while place < len(text) and (text[place].isspace() or text[place] in "\"'([“‘«"):
        place += 1
    return place == len(text) or text[place].isupper() or text[place].istitle()


def _is_abbreviation(text: str, found: re.Match[str]) -> bool:
    """Tell whether the full stop belongs to the word before it and does not end a sentence."""
    if found["marks"] != ".":
        return False
    before = text[max(0, found.start() - _LONGEST_WORD) : found.start()]
    if _LIST_NUMBER.search(before):
        return True
    word = _WORD_BEFORE.search(before)
    if word is None:
        return False
    name, after = word.group(), text[found.end() : found.end() + 2].lstrip()[:1]
    if len(name) == 1 and name.isupper() and name != "I":
        return after.isupper()
    lowered = name.lower()
    return (
        _LEADING.fullmatch(lowered) is not None
        or (_TRAILING.fullmatch(lowered) is not None and not after.isupper())
        or (_NUMBERED.fullmatch(lowered) is not None and after.isdigit())
    )


def _strip(text: str, start: int, end: int) -> Span:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end
