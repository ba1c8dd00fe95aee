"""`split_sentences`: where the sentences of a review begin and end.

The text is never changed: a sentence is a slice of it, without white space around it. A sentence ends

- at `.`, `!`, `?` or their like, with closing quotes and brackets, if white space follows; full-width marks need none;
- at such a mark without white space if what follows is plainly a new sentence (`good.The staff`);
- not at the full stop of an abbreviation (`Dr.`, `e.g.`), an initial (`J. Smith`) or a list number (`2. Service`);
- at an ellipsis only if a capital letter or the end of the line follows;
- at an emoji, if a capital letter follows after white space;
- at the end of a line if a blank line, a list item or a capital letter follows, and at `<br>`.

No sentence has more than 200 words, so that a review without any full stop can be read too: a longer one is cut, if possible
after a line break, a semicolon, a comma or white space.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from pssa.data.reviews import Opinion, Review
from pssa.data.tokenize import Span, tokenize

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
# What follows is looked at in code, so that no character is read twice however often a mark is repeated.
_END = re.compile(
    rf"(?P<wide>[。！？｡]+[{_CLOSING}」』）]*)"
    rf"|(?P<dots>…+|\.{{2,}}|\.(?:\s\.){{2,}})[{_CLOSING}]*"
    rf"|(?P<marks>[.!?‼⁇⁈⁉؟۔।]+)[{_CLOSING}]*"
    rf"|(?P<emoji>[{_EMOJI}]+)"
    r"|(?P<line>\r?\n)"
    r"|(?P<tag><br {0,3}/?>)",
    re.IGNORECASE,
)
_WORD_BEFORE = re.compile(r"[^\s(\[\"'“‘/]+\Z")
_SMALL_WORD_BEFORE = re.compile(r"(?:[^\W\d_]{2}|[)\]\"'”’])\Z")
# A capital letter without white space before it: a word of a sentence, and not the rest of an address or a name.
_NEW_WORD = re.compile(
    r"(?!(?:com|net|org|edu|gov|io|co|js)\b)(?P<first>[^\W\d_])[^\W\d_]*['’,]?(?=[\s'’,])", re.IGNORECASE
)
_LIST_ITEM = re.compile(r"\s{0,40}(?:[-*•·–—▪‣+>]|\(?\d{1,3}[.)]|\(?[a-zA-Z]\))\s{1,40}\S")
_LIST_NUMBER = re.compile(r"(?:^|\n)[ \t]*\(?\d{1,3}\Z")
_BLANK_LINE = re.compile(r"[ \t]*\r?\n")
_LONGEST_WORD = 40  # characters before a mark that are looked at
_LONGEST_GAP = 40  # characters after a mark that are looked at
_MAX_WORDS = 200  # of a sentence
_BREAKS = ("\n", ";:؛；", ",،，、", " \t")  # where a long sentence is cut, from the best


def split_sentences(text: str) -> tuple[Span, ...]:
    """Return the character offsets of each sentence, in order; white space alone is no sentence."""
    spans: list[Span] = []
    start = 0
    for end in (*_ends(text), len(text)):
        inside = text[start:end]
        if inside and not inside.isspace():
            first = start + len(inside) - len(inside.lstrip())
            spans.extend(_cut(text, first, start + len(inside.rstrip())))
        start = end
    return tuple(spans)


def _ends(text: str) -> Iterator[int]:
    for found in _END.finditer(text):
        kind, end = found.lastgroup, found.end()
        is_open = end == len(text) or text[end].isspace()
        if (
            kind in ("wide", "tag")
            or (kind == "line" and (_BLANK_LINE.match(text, end, end + _LONGEST_GAP) or _LIST_ITEM.match(text, end)))
            or (kind == "line" and _begins_anew(text, end))
            or (kind in ("dots", "emoji") and is_open and _begins_anew(text, end))
            or (kind == "marks" and is_open and not _is_abbreviation(text, found))
            or (kind == "marks" and not is_open and _is_run_on(text, found))
        ):
            yield end


def _begins_anew(text: str, place: int) -> bool:
    """Return whether the next character that is not white space, quote or bracket is a capital letter, or there is none."""
    last = min(len(text), place + _LONGEST_GAP)
    while place < last and (text[place].isspace() or text[place] in "\"'([“‘«"):
        place += 1
    return place == last or _is_capital(text[place])


def _is_capital(letter: str) -> bool:
    return letter.isupper() or letter.istitle()


def _is_run_on(text: str, found: re.Match[str]) -> bool:
    """Return whether a sentence ends at a mark although no white space follows, as in `good.The staff`."""
    after = _NEW_WORD.match(text, found.end(), found.end() + _LONGEST_WORD)
    if after is None or not _is_capital(after["first"]):
        return False
    if found["marks"] != ".":
        return True
    before = text[max(0, found.start() - 2) : found.start()]
    return _SMALL_WORD_BEFORE.search(before) is not None and not before.isupper()


def _is_abbreviation(text: str, found: re.Match[str]) -> bool:
    """Return whether the full stop belongs to the word before it and does not end a sentence."""
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


def _cut(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield a sentence, one of too many words in parts; no word is cut."""
    if end - start <= _MAX_WORDS:  # characters
        yield start, end
        return
    words = tokenize(text[start:end])
    first = 0
    while len(words) - first > _MAX_WORDS:
        after = _best_break(text[start:end], words[first : first + _MAX_WORDS]) + first
        yield start + words[first][0], start + words[after - 1][1]
        first = after
    yield start + words[first][0], end


def _best_break(text: str, words: Sequence[Span]) -> int:
    """Return how many of the words come before the cut: the most, in the second half, after which there is a good place."""
    for marks in _BREAKS:
        for after in range(len(words) - 1, len(words) // 2, -1):
            if any(mark in text[words[after - 1][0] : words[after][0]] for mark in marks):
                return after
    return len(words)


def split_review(review: Review) -> tuple[list[Review], Counter[str]]:
    """Return the sentences of a review as reviews of their own, and count by reason the opinions that belong to none.

    An opinion belongs to the sentence of its aspect, one with an implied aspect to that of its words. Words of other sentences
    are left out.
    """
    lost: Counter[str] = Counter()
    spans = split_sentences(review.text)
    inside: list[list[Opinion]] = [[] for _ in spans]
    for opinion in review.opinions:
        place = opinion.aspect or next(iter(opinion.words), (0, 0) if len(spans) == 1 else None)
        if place is None:
            lost["implied_without_words"] += 1
            continue
        # The words of an opinion may go on in the next sentence, an aspect may not.
        end = place[1] if opinion.aspect else place[0]
        number = next((n for n, span in enumerate(spans) if span[0] <= place[0] and end <= span[1]), None)
        if number is None:
            lost["aspect_across_sentences"] += 1
            continue
        start, stop = spans[number]
        words = tuple((max(a, start) - start, min(b, stop) - start) for a, b in opinion.words if a < stop and b > start)
        lost["words_in_another_sentence"] += len(words) < len(opinion.words)
        aspect = None if opinion.aspect is None else (opinion.aspect[0] - start, opinion.aspect[1] - start)
        inside[number].append(Opinion(opinion.label, aspect, words))
    sentences = [
        Review(review.text[start:end], tuple(opinions), review.line, review.tag)
        for (start, end), opinions in zip(spans, inside, strict=True)
    ]
    return sentences, +lost
