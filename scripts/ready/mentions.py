"""Names of things about which a sentence has no opinion.

Annotators of triplets mark aspects with an opinion alone. A name that they marked elsewhere, and did not mark here, is a mention:
"I bought a second cable". Models need such mentions to tell them from opinions, in domains where nobody has marked any.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from pssa.data.reviews import Review
from pssa.data.tokenize import Span

_MIN_MARKED = 2  # times that annotators marked the name as an aspect
_LEAST_SHARE = 0.08  # of its occurrences that they marked: "a bit" and "large" are below
_LEAST_NOUN = 0.3  # of its occurrences that follow a word of `_BEFORE`: "works" and "fits" are below
_LONGEST = 4  # words
_BEFORE = re.compile(
    r"an?|the|this|that|these|those|my|your|his|her|its|our|their|no|any|some|one|each|every|of|and|with"
)
_WORD = re.compile(r"\w+(?:[-'’]\w+)*")


def unmarked_mentions(sentences: Sequence[Review]) -> list[tuple[Span, ...]]:
    """Return the mentions in each sentence, by names that other sentences have marked."""
    occurrences = [list(_runs(sentence.text)) for sentence in sentences]
    marked = Counter(sentence.text[start:end].casefold() for sentence in sentences for start, end in sentence.aspects)
    seen, after = Counter[str](), Counter[str]()
    for inside in occurrences:
        for name, _, before in inside:
            if marked[name] >= _MIN_MARKED:
                seen[name] += 1
                after[name] += _BEFORE.fullmatch(before) is not None
    names = {
        name
        for name, count in seen.items()
        if marked[name] >= _LEAST_SHARE * count and after[name] >= _LEAST_NOUN * count
    }
    found = []
    for sentence, inside in zip(sentences, occurrences, strict=True):
        taken = [*sentence.aspects, *(span for opinion in sentence.opinions for span in opinion.words)]
        mine = list[Span]()
        for name, (start, end), _ in inside:  # the longest names first
            if name in names and all(end <= first or last <= start for first, last in (*taken, *mine)):
                mine.append((start, end))
        found.append(tuple(sorted(mine)))
    return found


def _runs(text: str) -> list[tuple[str, Span, str]]:
    """Return the runs of words of a text, the longest first: each with its place and the word before it."""
    words = [found.span() for found in _WORD.finditer(text)]
    runs = []
    for length in range(_LONGEST, 0, -1):
        for first in range(len(words) - length + 1):
            start, end = words[first][0], words[first + length - 1][1]
            before = text[slice(*words[first - 1])].casefold() if first else ""
            runs.append((text[start:end].casefold(), (start, end), before))
    return runs
