"""Negation in the ways that files write it (`isn't`, `is n't`, `isn ' t`), its reach, and how to remove or add it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from pssa.stress.lexicon import lines_of, words_of

_CONTRACTED = {
    **{"isn": "is", "aren": "are", "wasn": "was", "weren": "were", "don": "do", "doesn": "does", "didn": "did"},
    **{"can": "can", "ca": "can", "won": "will", "wo": "will", "wouldn": "would", "couldn": "could"},
    **{"shouldn": "should", "hasn": "has", "haven": "have", "hadn": "had"},
}
_WHOLE = {
    f"{short}{end}": full
    for short, full in _CONTRACTED.items()
    for end in ("t", "'t", "’t")
    if short not in ("ca", "wo")
} | {"cannot": "can"}
_APOSTROPHES = ("'", "’", "`", "´")
BE = frozenset(
    ("is", "are", "was", "were", "be", "been", "being", "am", "s", "'s", "’s", "re", "'re", "’re", "m", "'m")
)
_DO = frozenset(("do", "does", "did"))
_AUXILIARIES = _DO | words_of("auxiliaries")
_WORDS = frozenset(("no", "without", "never"))
_NEGATORS = words_of("negators")

INTENSIFIERS = words_of("intensifiers")
# Words between a negation and the word that it reverses.
_LIGHT = INTENSIFIERS | BE | {"a", "an", "the", "have", "had", "has", "any"}
_DROPPED = words_of("dropped_degrees")
_TROUBLES = words_of("troubles")
_VERBS = {base: (third, past) for base, third, past in (line.split() for line in lines_of("verbs"))}
_POLARITY_ITEMS = words_of("polarity_items")
_CLAUSE_ENDS = words_of("clause_ends") | {"and"}


@dataclass(frozen=True)
class Negation:
    """A negation, with the auxiliary before it."""

    start: int
    end: int  # half-open
    auxiliary: str = ""  # as it stands without the negation; empty: none
    word: str = "not"  # or no, without, never


def find_negations(words: Sequence[str]) -> list[Negation]:
    """Return the negations of a sentence in order.

    :param words: in lower case.
    """
    found = (_negation_at(words, number) for number in range(len(words)))
    return [negation for negation in found if negation is not None]


def _negation_at(words: Sequence[str], number: int) -> Negation | None:
    """Return the negation whose last word this is."""
    word, before = words[number], words[number - 1] if number else ""
    if word == "t" and before in _APOSTROPHES and number > 1:  # isn ' t, is n ' t
        short = words[number - 2]
        if short in _CONTRACTED:
            return Negation(number - 2, number + 1, _CONTRACTED[short])
        if short == "n" and number > 2:
            return Negation(number - 3, number + 1, _CONTRACTED.get(words[number - 3], words[number - 3]))
        return None
    if word in ("n't", "n’t") and number:
        return Negation(number - 1, number + 1, _CONTRACTED.get(before, before))
    if word == "not":
        is_auxiliary = before in _AUXILIARIES
        return Negation(number - is_auxiliary, number + 1, before if is_auxiliary else "")
    if word in _WHOLE:
        return Negation(number, number + 1, _WHOLE[word])
    return Negation(number, number + 1, word=word) if word in _WORDS else None


def is_negator(words: Sequence[str], place: int) -> bool:
    """Return whether a word turns others around; each part of `isn ' t` does.

    :param words: in lower case.
    """
    word = words[place]
    if word in _NEGATORS or word.endswith(("n't", "n’t")):
        return True
    first = place if word.endswith("n") else place - 2 if word == "t" else place - 1
    parts = words[max(0, first) : first + 3]
    return len(parts) == 3 and parts[0].endswith("n") and parts[1] in _APOSTROPHES and parts[2] == "t"


def negation_of(words: Sequence[str], place: int, negations: Sequence[Negation]) -> Negation | None:
    """Return the negation that reverses the word at `place`, if only words without a meaning of their own stand between."""
    ends = {negation.end: negation for negation in negations}
    verbs = 0
    for end in range(place, max(place - 5, -1), -1):
        if end in ends:
            return ends[end]
        word = words[end - 1] if end else ""
        verbs += word in _VERBS
        if word not in _LIGHT and (word not in _VERBS or verbs > 1):
            return None
    return None


def remove_negation(words: Sequence[str], place: int, negation: Negation) -> dict[int, tuple[str, ...]] | None:
    """Return the edits that take the negation from the word at `place`; None where the rest would not be English."""
    after = list(words[place + 1 :])
    edits: dict[int, tuple[str, ...]] = {}
    if after[:2] == ["at", "all"]:
        edits |= {place + 1: (), place + 2: ()}
        after = after[2:]
    inside = words[negation.end : place]
    if _POLARITY_ITEMS & {*takewhile(lambda word: word not in _CLAUSE_ENDS, after)} or {"even", "only"} & {*inside}:
        return None
    if negation.word != "not":
        return _remove_word(words, place, negation)
    if negation.auxiliary in ("could", "should", "would", "had", "have", "has") and words[place] != "recommend":
        return None
    edits |= dict.fromkeys(range(negation.start, negation.end), ())
    if negation.auxiliary and negation.auxiliary not in _DO:
        edits[negation.start] = (negation.auxiliary,)
    edits |= {number: () for number in range(negation.end, place) if words[number] in _DROPPED}
    if negation.auxiliary in _DO:
        verb = next((number for number in range(negation.end, place + 1) if words[number] in _VERBS), None)
        if verb is None or any(words[number] not in INTENSIFIERS for number in range(negation.end, verb)):
            return None
        base, (third, past) = words[verb], _VERBS[words[verb]]
        edits[verb] = ({"do": base, "does": third, "did": past}[negation.auxiliary],)
    return edits


def add_negation(words: Sequence[str], place: int) -> dict[int, tuple[str, ...]] | None:
    """Return the edits that put `not` after the form of `be` before the word at `place`; None without one."""
    number = place - 1
    while number >= 0 and words[number] in INTENSIFIERS:
        number -= 1
    if number < 0 or words[number] not in BE or words[number] in ("be", "been", "being"):
        return None
    return {number: (words[number], "not")}


def _remove_word(words: Sequence[str], place: int, negation: Negation) -> dict[int, tuple[str, ...]] | None:
    """Turn `no problems` and `without any problems` around."""
    between = list(words[negation.end : place])
    if words[place] not in _TROUBLES or between not in ([], ["any"]):
        return None
    if negation.word == "no" and not between:
        return {negation.start: ("many",)}
    if negation.word == "without":
        return {negation.start: ("with", "many"), **dict.fromkeys(range(negation.end, place), ())}
    return None
