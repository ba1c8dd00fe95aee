"""Negation in the three ways that files write it (`isn't`, `is n't`, `isn ' t`), its reach, and how to remove or add it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
BE = frozenset(("is", "are", "was", "were", "be", "been", "being", "am", "s", "'s", "’s", "re", "'re", "’re", "m", "'m"))
_DO = frozenset(("do", "does", "did"))
_AUXILIARIES = BE | _DO | frozenset(("can", "could", "will", "would", "should", "has", "have", "had"))
_WORDS = frozenset(("no", "without", "never"))

INTENSIFIERS = frozenset(
    "very so really quite pretty extremely super incredibly truly absolutely totally that too all especially particularly overly "
    "exactly fairly rather somewhat simply just as always also more most completely definitely quite highly".split()
)
# Words between a negation and the word that it reverses.
_LIGHT = INTENSIFIERS | BE | frozenset("a an the have had has any".split())
# Degrees that stand only with a negation: "not that good".
_DROPPED = frozenset("that too all so exactly particularly overly very really as".split())
_NOUNS = frozenset("problems issues complaints troubles flaws errors glitches bugs crashes".split())
# Forms of verbs that stand between `not` and an opinion word, or are one: base, with `does`, with `did`.
_VERBS = {
    base: (third, past)
    for base, third, past in (
        ("like", "likes", "liked"),
        ("love", "loves", "loved"),
        ("enjoy", "enjoys", "enjoyed"),
        ("recommend", "recommends", "recommended"),
        ("work", "works", "worked"),
        ("run", "runs", "ran"),
        ("function", "functions", "functioned"),
        ("look", "looks", "looked"),
        ("feel", "feels", "felt"),
        ("taste", "tastes", "tasted"),
        ("seem", "seems", "seemed"),
        ("sound", "sounds", "sounded"),
        ("smell", "smells", "smelled"),
    )
}
_POLARITY_ITEMS = frozenset("any anything anyone anywhere anymore ever yet either even only but until".split())


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
    found: list[Negation] = []
    for number, word in enumerate(words):
        before = words[number - 1] if number else ""
        if word == "t" and before in _APOSTROPHES and number > 1 and words[number - 2] in _CONTRACTED:
            found.append(Negation(number - 2, number + 1, _CONTRACTED[words[number - 2]]))
        elif word in ("n't", "n’t", "nt") and number:
            found.append(Negation(number - 1, number + 1, _CONTRACTED.get(before, before)))
        elif word == "not":
            is_auxiliary = before in _AUXILIARIES and before not in BE
            found.append(Negation(number - is_auxiliary, number + 1, before if is_auxiliary else ""))
        elif word in _WHOLE:
            found.append(Negation(number, number + 1, _WHOLE[word]))
        elif word in _WORDS:
            found.append(Negation(number, number + 1, word=word))
    return found


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
    after = [word for word in words[place + 1 :]]
    edits: dict[int, tuple[str, ...]] = {}
    if after[:2] == ["at", "all"]:
        edits |= {place + 1: (), place + 2: ()}
        after = after[2:]
    inside = words[negation.end : place]
    if _POLARITY_ITEMS & {*_until_clause_end(after)} or {"even", "only"} & {*inside}:
        return None
    if negation.word != "not":
        return _remove_word(words, place, negation)
    if negation.auxiliary in ("could", "should", "would", "had", "have", "has") and words[place] != "recommend":
        return None
    edits |= _positive_auxiliary(negation)
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


def _positive_auxiliary(negation: Negation) -> dict[int, tuple[str, ...]]:
    kept = (negation.auxiliary,) if negation.auxiliary and negation.auxiliary not in _DO else ()
    return {number: kept if number == negation.start else () for number in range(negation.start, negation.end)}


def _remove_word(words: Sequence[str], place: int, negation: Negation) -> dict[int, tuple[str, ...]] | None:
    """Turn `no problems` and `without any problems` around."""
    between = list(words[negation.end : place])
    if words[place] not in _NOUNS or between not in ([], ["any"]):
        return None
    if negation.word == "no" and not between:
        return {negation.start: ("many",)}
    if negation.word == "without":
        return {negation.start: ("with", "many"), **{number: () for number in range(negation.end, place)}}
    return None


def _until_clause_end(words: Sequence[str]) -> list[str]:
    found: list[str] = []
    for word in words:
        if word in (",", ".", ";", "!", "?", "and", "but", "-", "(", ")"):
            break
        found.append(word)
    return found
