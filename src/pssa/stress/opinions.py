"""Opinions in a sentence: which words express them, of which sign, about which of its aspects, and variants that reverse them.

Soundness before number: a word whose sign or reach is in doubt (a condition, a comparison, a wish, an unclear negation) has no
edits, and a variant that would have to reverse it is not made.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from pssa.data.example import Example
from pssa.data.tokenize import Span
from pssa.stress.clauses import topic_of
from pssa.stress.draft import Draft, Edits, apply
from pssa.stress.lexicon import SIGNS, find_opinion_word, words_by_name, words_of
from pssa.stress.negation import INTENSIFIERS, add_negation, find_negations, negation_of, remove_negation

OPPOSITE = {"positive": "negative", "negative": "positive"}
Marks = Mapping[str, frozenset[int]]  # words that people or mining marked as opinions, by id of the instance

_CLAUSE_ENDS = words_of("clause_ends")
_DOUBT_BEFORE = words_of("doubt_before")
_DOUBT_AFTER = words_of("doubt_after")
_DOUBT_IN_SENTENCE = words_of("doubt_in_sentence")
_MAX_WORDS = 40
_SUBJECTS = words_of("subjects")
_BEFORE_VERBS = words_of("adverbs") | words_of("verb_negations")
_DETERMINERS = words_of("determiners")
_FUNCTION_WORDS = INTENSIFIERS | _DETERMINERS | words_of("function_words")
_NOT_BEFORE = words_by_name("not_before")
_NOT_AFTER = words_by_name("not_after")
_ONLY_WITH = words_by_name("only_with")
_LIKING = words_of("liking")
_INCLUSIONS = words_of("inclusions")
_SMALL_DEGREES = (("a", "little", "bit"), ("a", "little"), ("a", "bit"), ("kind", "of"), ("kinda",), ("slightly",))
_DISLIKES = ("dislike", "disliked", "dislikes")
_ADVERB_ENDINGS = ("ly", "well")
_BREAKS = frozenset(("and", "but", ",", ".", "!", ";", "-", "(", ")"))
_WIDE_TOPICS = ("food", "drink")  # whose parts people judge one by one
_COORDINATORS = {("but", True): "and", ("and", False): "but"}  # by whether both sides agree afterwards


@dataclass(frozen=True)
class Opinion:
    """One opinion word in a sentence."""

    place: int  # number of the word
    sign: int | None  # of what the sentence says, negation included; None: in doubt
    owners: frozenset[str]  # ids of the instances whose aspect it is about; empty: unknown
    edits: Edits | None  # that reverse it; None: none is safe
    clause: Span  # words around it up to the next mark
    is_marked: bool


def find_opinions(siblings: Sequence[Example], marks: Marks) -> list[Opinion]:
    """Return the opinions of a sentence in order.

    :param siblings: all instances with this sentence.
    """
    words = [word.lower() for word in siblings[0].words]
    inside = {place for example in siblings for place in range(*example.aspect)}
    marked = {place for example in siblings for place in marks.get(example.id, ())}
    negations = find_negations(words)
    found: list[Opinion] = []
    for place, word in enumerate(words):
        known = find_opinion_word(word, is_marked=place in marked)
        has_content = word not in _FUNCTION_WORDS and any(letter.isalpha() for letter in word)
        if place in inside or not (known or (place in marked and has_content)):
            continue
        if known and not _is_opinion(words, place):
            if place not in marked:
                continue
            known = None
        owners = _owners(siblings, marks, place, words)
        sign: int | None = None
        edits: Edits | None = None
        if known:
            negation = negation_of(words, place, negations)
            if not _is_in_doubt(words, place, place if negation is None else negation.start):
                sign = known.sign if negation is None else -known.sign
                if negation is not None:
                    edits = remove_negation(words, place, negation)
                else:
                    edits = add_negation(words, place) if known.is_only_negated else _swap(words, place, known.antonym)
        if sign == 0:
            sign = _sign_of_owners(siblings, owners)
        if place not in marked and sign != _sign_of_owners(siblings, owners):
            owners = frozenset()  # the only aspect of its clause has another label, so it is about something else
        found.append(Opinion(place, sign, owners, edits, _clause(words, place), place in marked))
    for opinion in found:
        signs = {SIGNS.get(example.label or "") for example in siblings if example.id in opinion.owners}
        # A marked word has another sign than the label of its aspect, as in comparisons and in irony.
        if opinion.is_marked and opinion.sign is not None and signs - {opinion.sign, None}:
            found = [replace(each, edits=None) for each in found]
            break
    # One without an owner is about the only aspect whose label has its sign.
    by_sign: dict[int | None, set[str]] = {}
    for example in siblings:
        by_sign.setdefault(SIGNS.get(example.label or ""), set()).add(example.id)
    return [
        replace(each, owners=frozenset(by_sign[each.sign]))
        if not each.owners and each.sign and len(by_sign.get(each.sign, ())) == 1
        else each
        for each in found
    ]


def is_plain(words: Sequence[str]) -> bool:
    """Return whether a sentence is short and none of its parts depends on another, so that opinions may be reversed."""
    lower = [word.lower() for word in words]
    smiles = any(eyes in (":", ";") and mouth in (")", "-", "d") for eyes, mouth in pairwise(lower))
    return len(words) <= _MAX_WORDS and not smiles and not _DOUBT_IN_SENTENCE & {*lower}


def _is_opinion(words: Sequence[str], place: int) -> bool:
    """Return whether a listed word is used as an opinion here, not as part of a phrase such as `as well`."""
    word = words[place]
    before = words[place - 1] if place else ""
    after = words[place + 1] if place + 1 < len(words) else ""
    if after in _NOT_BEFORE.get(word, ()) or before in _NOT_AFTER.get(word, ()):
        return False
    if word == "well" and place == 0:
        return False
    if word in _ONLY_WITH and not _ONLY_WITH[word] & {*words}:
        return False
    if word in ("like", "likes", "liked"):
        subject = next((each for each in reversed(words[:place]) if each not in _BEFORE_VERBS), "")
        return subject in _SUBJECTS
    return True


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
    # "so good that I ...", "so good I ..."
    has_result = "so" in words[max(0, place - 2) : place] and (
        "that" in after or bool((_SUBJECTS | {"it"}) & {*after[:1]})
    )
    return bool(_DOUBT_AFTER & {*after[:1]}) or has_result


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
    # "a bit slow" is not turned into "a bit fast".
    degree = next((each for each in _SMALL_DEGREES if tuple(words[place - len(each) : place]) == each), ())
    return {place: antonym} | dict.fromkeys(range(place - len(degree), place), ())


def _owners(siblings: Sequence[Example], marks: Marks, place: int, words: Sequence[str]) -> frozenset[str]:
    """Return the instances that a word is about: those for which it is marked, else the only aspect of its clause."""
    marked = frozenset(example.id for example in siblings if place in marks.get(example.id, ()))
    if marked:
        return marked
    if len({example.aspect for example in siblings}) == 1:
        return frozenset(example.id for example in siblings)
    clause = _clause(words, place)
    inside = [example for example in siblings if clause[0] <= example.aspect[0] < clause[1]]
    return (
        frozenset(example.id for example in inside) if len({example.aspect for example in inside}) == 1 else frozenset()
    )


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


def reverse_target(example: Example, opinions: Sequence[Opinion]) -> Draft | None:
    """Return the sentence with every opinion on the target reversed; None where one of them cannot be."""
    sign = SIGNS.get(example.label or "")
    if sign is None or not is_plain(example.words):
        return None
    own = [opinion for opinion in opinions if example.id in opinion.owners]
    loose = [opinion for opinion in opinions if not opinion.owners and opinion.sign in (sign, None)]
    if not own or loose or any(opinion.sign != sign or opinion.edits is None for opinion in own):
        return None
    return _reverse(example, opinions, own)


def reverse_others(example: Example, siblings: Sequence[Example], opinions: Sequence[Opinion]) -> Draft | None:
    """Return the sentence with the opinions on other aspects reversed as far as that is safe; None where none is."""
    if not is_plain(example.words):
        return None
    own = [opinion for opinion in opinions if example.id in opinion.owners]
    if example.label in SIGNS and not any(opinion.sign == SIGNS[example.label] for opinion in own):
        return None
    theirs = [opinion for opinion in opinions if opinion.owners and example.id not in opinion.owners]
    safe = {
        sibling.id
        for sibling in siblings
        if is_independent(example, sibling) and _is_reversible(sibling, example, opinions)
    }
    chosen = [
        opinion
        for opinion in theirs
        # One that nobody marked must stand in another clause than the aspect.
        if opinion.owners <= safe
        and (opinion.is_marked or not opinion.clause[0] <= example.aspect[0] < opinion.clause[1])
    ]
    # What is said about nothing in particular would no longer fit: "great food and service make a great evening".
    loose = {opinion.sign for opinion in opinions if not opinion.owners}
    if not chosen or any(opinion.sign in loose or _is_about_all(opinion, example) for opinion in chosen):
        return None
    return _reverse(example, opinions, chosen)


def _is_about_all(opinion: Opinion, example: Example) -> bool:
    """Return whether an opinion before the aspect may be about it too: `I love ...`, `great programs such as ...`."""
    words = [word.lower() for word in example.words]
    between = {*words[opinion.place : example.aspect[0]]}
    return opinion.place < example.aspect[0] and (words[opinion.place] in _LIKING or bool(_INCLUSIONS & between))


def is_independent(example: Example, sibling: Example) -> bool:
    """Return whether the opinion on a sibling says nothing about the example's aspect, as far as their names tell."""
    one, other = example.aspect_text.lower(), sibling.aspect_text.lower()
    topic = topic_of(one)
    return not {*one.split()} & {*other.split()} and (
        topic in _WIDE_TOPICS or topic is None or topic != topic_of(other)
    )


def _is_reversible(sibling: Example, example: Example, opinions: Sequence[Opinion]) -> bool:
    """Return whether all opinions on a sibling can be reversed and none of them is about the example's aspect too."""
    sign = SIGNS.get(sibling.label or "")
    own = [opinion for opinion in opinions if sibling.id in opinion.owners]
    return sign is not None and all(
        opinion.sign == sign and opinion.edits is not None and example.id not in opinion.owners for opinion in own
    )


def _reverse(example: Example, opinions: Sequence[Opinion], chosen: Sequence[Opinion]) -> Draft | None:
    edits: dict[int, tuple[str, ...]] = {}
    for opinion in chosen:
        for word, new in (opinion.edits or {}).items():
            if edits.get(word, new) != new:
                return None
            edits[word] = new
    words = [word.lower() for word in example.words]
    signs = {
        opinion.place: (-opinion.sign if opinion in chosen else opinion.sign) for opinion in opinions if opinion.sign
    }
    linked = _link(words, signs, {opinion.place for opinion in chosen})
    return apply(example, {word: new for word, new in linked.items() if word not in edits} | edits)


def _link(words: Sequence[str], signs: Mapping[int, int], changed: Container[int]) -> Edits:
    """Return the edits after which `but` stands between opinions that differ, `and` between others, and no `too` after one.

    :param signs: of the opinions as they are now, by place.
    """
    edits: dict[int, tuple[str, ...]] = {}
    for number, word in enumerate(words):
        if word not in ("but", "and") or "both" in words:
            continue
        left = max((place for place in signs if place < number), default=None)
        right = min((place for place in signs if place > number), default=None)
        if left is None or right is None or (left in changed) == (right in changed):
            continue
        if (_BREAKS - {","}) & {*words[left:number]} or _BREAKS & {*words[number + 1 : right]}:
            continue
        if new := _COORDINATORS.get((word, signs[left] == signs[right])):
            edits[number] = (new,)
    if len({*signs.values()}) > 1:
        edits |= {number: () for place in signs for number in _additions(words, place)}
    return edits


def _additions(words: Sequence[str], place: int) -> list[int]:
    """Return the words around an opinion that say that it adds to others: `also`, `too`, `as well`."""
    found = [number for number in range(max(0, place - 2), place) if words[number] == "also"]
    for tail in (["too"], ["as", "well"]):
        after = place + 1 + len(tail)
        if words[place + 1 : after] == tail and (words[after : after + 1] or ["."])[0] in _BREAKS:
            found += range(place + 1, after)
    return found
