"""Opinions in a sentence: which words express them, of which sign, about which of its aspects, and the edits that reverse them.

Soundness before number: a word whose sign or reach is in doubt (a condition, a comparison, a wish, an unclear negation) has no
edits, and a variant that would have to reverse it is not made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pssa.data.example import Example
from pssa.data.tokenize import Span
from pssa.stress.draft import Edits
from pssa.stress.lexicon import OpinionWord, find_opinion_word
from pssa.stress.negation import INTENSIFIERS, Negation, add_negation, find_negations, negation_of, remove_negation

SIGNS = {"positive": 1, "negative": -1}
Marks = Mapping[str, frozenset[int]]  # words that people or mining marked as opinions, by id of the instance

_CLAUSE_ENDS = frozenset((",", ".", ";", ":", "!", "?", "(", ")", "-", "--", "...", "but", '"'))
# In front of a word, in its clause: it may not say what it says.
_DOUBT_BEFORE = frozenset(
    "if unless could should would might may wish hope hoped hoping supposed expect expected expecting want wanted wants need "
    "needs needed looking instead than less least lack lacks lacking without hardly barely rarely nothing none nobody neither nor "
    "few no never too far anything almost only used or seem seemed not n't cannot until whether guess imagine not "
    "thought think sure let".split()
)
_DOUBT_AFTER = frozenset(("enough", "or", "until"))
# Anywhere in a sentence: its parts depend on each other.
_DOUBT_IN_SENTENCE = frozenset(
    "? although though get buy stick even while however despite except otherwise because since yet whereas if unless besides instead".split()
)
_MAX_WORDS = 40
_PRONOUNS = frozenset("i we you they he she who people everyone".split())
_ADVERBS = frozenset("really also particularly especially actually do did absolutely just always still truly".split())
_DETERMINERS = frozenset("the this that these those their its it them my our your a an all any both".split())
# Not an opinion beside these words.
_NOT_BEFORE = {
    "good": "amount deal luck thing things time times morning night idea news old size number bit many part",
    "great": "deal number many amount",
    "best": "buy of part thing way western friend",
    "well": "as done known , . being over",
    "fine": "dining",
    "happy": "hour to i birthday",
    "fast": "food forward",
    "quick": "bite",
    "fresh": "out",
    "long": "as island time",
    "high": "school chair end definition def",
    "low": "key end",
    "right": "now away next there here on in at to after before click",
    "hard": "drive drives disk core",
    "light": "up bulb on",
    "better": "off be",
    "like": "to a the",
    "love": "affair",
    "bad": "part thing luck",
    "worst": "part thing",
    "pleased": "to",
    "disappointed": "in to",
    "impressed": "me us",
    "dry": "cleaning",
    "special": "s occasion occasions",
    "clean": "up and",
    "cold": "beer",
    "sharp": "knife",
}
_NOT_AFTER = {
    "love": "in my of the a with i'd",
    "fun": "have had having of for make makes much lots",
    "like": "feel feels looks look seems tastes felt looked taste more much just something anything stuff things sounds sound",
    "best": "at do next second 2nd",
    "least": "at",
    "better": "had get got even much",
    "well": "as very oh may might , .",
    "right": "is all just",
    "long": "as so no how too",
    "fine": "be just runs works run work ran worked",
    "bad": "went go goes gone going",
    "perfect": "the",
    "ideal": "the",
    "worth": "not",
    "special": "on of the",
    "short": "in",
    "large": "at",
    "most": "at",
}
_BEFORE = {word: frozenset(others.split()) for word, others in _NOT_BEFORE.items()}
_AFTER = {word: frozenset(others.split()) for word, others in _NOT_AFTER.items()}
_DISLIKES = ("dislike", "disliked", "dislikes")
_ADVERB_ENDINGS = ("ly", "well")


@dataclass(frozen=True)
class Opinion:
    """One opinion word in a sentence."""

    place: int  # number of the word
    sign: int | None  # of what the sentence says, negation included; None: in doubt
    owners: frozenset[str]  # ids of the instances whose aspect it is about; empty: unknown
    edits: Edits | None  # that reverse it; None: none is safe
    clause: Span  # words around it up to the next mark


def find_opinions(siblings: Sequence[Example], marks: Marks) -> list[Opinion]:
    """Return the opinions of a sentence in order.

    :param siblings: all instances with this sentence.
    """
    words = [word.lower() for word in siblings[0].words]
    inside = {place for example in siblings for place in range(*example.aspect)}
    marked = {place for example in siblings for place in marks.get(example.id, ())}
    negations = find_negations(words)
    found = []
    for place, word in enumerate(words):
        known = find_opinion_word(word, is_marked=place in marked)
        if place in inside or not (known or place in marked and _has_content(word)):
            continue
        if known and not _is_opinion(words, place):
            if place not in marked:
                continue
            known = None
        owners = _owners(siblings, marks, place, words)
        sign, edits = _read(words, place, known, negations) if known else (None, None)
        if sign == 0:
            sign = _sign_of_owners(siblings, owners)
        found.append(Opinion(place, sign, owners, edits, _clause(words, place)))
    return _assign_by_sign(siblings, found)


def is_plain(words: Sequence[str]) -> bool:
    """Return whether a sentence is short and none of its parts depends on another, so that opinions may be reversed."""
    return len(words) <= _MAX_WORDS and not _DOUBT_IN_SENTENCE & {word.lower() for word in words}


_FUNCTION_WORDS = (
    INTENSIFIERS
    | _DETERMINERS
    | frozenset("not no n't t ' never of to be is was are were am been has have had with for in on at and , . - s i we you can".split())
    | frozenset("isn aren wasn weren don doesn didn cannot won wouldn couldn does did do n’t ’ by as than from".split())
)


def _has_content(word: str) -> bool:
    return word not in _FUNCTION_WORDS and any(letter.isalpha() for letter in word)


def _is_opinion(words: Sequence[str], place: int) -> bool:
    """Return whether a listed word is used as an opinion here, not as part of a phrase such as `as well`."""
    word = words[place]
    before = words[place - 1] if place else ""
    after = words[place + 1] if place + 1 < len(words) else ""
    if after in _BEFORE.get(word, ()) or before in _AFTER.get(word, ()):
        return False
    if word == "well" and (place == 0 or not after.strip(",")):
        return place > 0
    if word in ("like", "likes", "liked"):
        return _has_subject(words, place)
    return True


def _has_subject(words: Sequence[str], place: int) -> bool:
    number = place - 1
    while number >= 0 and words[number] in _ADVERBS | {"not", "n't", "t", "'", "don", "didn", "doesn", "don't", "didn't"}:
        number -= 1
    return number >= 0 and words[number] in _PRONOUNS


def _read(
    words: Sequence[str], place: int, known: OpinionWord, negations: Sequence[Negation]
) -> tuple[int | None, Edits | None]:
    """Return what an opinion word says here and the edits that reverse it."""
    negation = negation_of(words, place, negations)
    start = place if negation is None else negation.start
    if _is_in_doubt(words, place, start):
        return None, None
    if negation is not None:
        return -known.sign, remove_negation(words, place, negation)
    if known.is_only_negated:
        return known.sign, add_negation(words, place)
    return known.sign, _swap(words, place, known.antonym)


def _is_in_doubt(words: Sequence[str], place: int, start: int) -> bool:
    """Return whether something in the clause makes the meaning of the word at `place` unsure.

    :param start: of the word with its negation.
    """
    clause = []
    for number in range(start - 1, -1, -1):
        if words[number] in _CLAUSE_ENDS:
            break
        clause.append(words[number])
    if _DOUBT_BEFORE & {*clause} or "t" in clause:
        return True
    after = list(words[place + 1 : place + 3])
    return after[:1] in [[word] for word in _DOUBT_AFTER] or ("that" in after and "so" in words[max(0, place - 2) : place])


def _swap(words: Sequence[str], place: int, antonym: tuple[str, ...]) -> Edits | None:
    """Return the edits that put the antonym in place of a word, if it fits."""
    after = words[place + 1] if place + 1 < len(words) else ""
    before = words[place - 1] if place else ""
    if not antonym or antonym[-1] in words or (antonym[-1] in _DISLIKES and after == "to"):
        return None
    if words[place].endswith(_ADVERB_ENDINGS) and find_opinion_word(after) is not None:
        return None  # "perfectly fine"
    if words[place] == "recommend":
        if after not in _DETERMINERS:
            return None
        return {place: antonym} | ({place - 1: ("strongly",)} if before == "highly" else {})
    if antonym[0] == "least" and before in ("least", "very"):
        return None
    if antonym[0] == "is" and after not in _CLAUSE_ENDS | {"and", ""}:
        return None
    return {place: antonym}


def _owners(siblings: Sequence[Example], marks: Marks, place: int, words: Sequence[str]) -> frozenset[str]:
    """Return the instances that a word is about: those for which it is marked, else the only aspect of its clause."""
    marked = frozenset(example.id for example in siblings if place in marks.get(example.id, ()))
    if marked:
        return marked
    if len({example.aspect for example in siblings}) == 1:
        return frozenset(example.id for example in siblings)
    clause = _clause(words, place)
    inside = [example for example in siblings if clause[0] <= example.aspect[0] < clause[1]]
    return frozenset(example.id for example in inside) if len({example.aspect for example in inside}) == 1 else frozenset()


def _clause(words: Sequence[str], place: int) -> tuple[int, int]:
    start, end = place, place
    while start > 0 and words[start - 1] not in _CLAUSE_ENDS:
        start -= 1
    while end < len(words) and words[end] not in _CLAUSE_ENDS:
        end += 1
    return start, end


def _sign_of_owners(siblings: Sequence[Example], owners: frozenset[str]) -> int | None:
    """Return the sign that all owners' labels have; None if they differ."""
    signs = {SIGNS.get(example.label or "") for example in siblings if example.id in owners}
    return signs.pop() if len(signs) == 1 else None


def _assign_by_sign(siblings: Sequence[Example], opinions: Sequence[Opinion]) -> list[Opinion]:
    """Return the opinions; one without an owner is about the only aspect whose label has its sign."""
    by_sign: dict[int | None, set[str]] = {}
    for example in siblings:
        by_sign.setdefault(SIGNS.get(example.label or ""), set()).add(example.id)
    return [
        Opinion(each.place, each.sign, frozenset(by_sign[each.sign]), each.edits, each.clause)
        if not each.owners and each.sign and len(by_sign.get(each.sign, ())) == 1
        else each
        for each in opinions
    ]


