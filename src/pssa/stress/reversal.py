"""Variants that reverse opinions: on the target, whose label then changes, or on the other aspects of its sentence."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from pssa.data.example import Example
from pssa.stress.clauses import topic_of
from pssa.stress.draft import Draft, Edits, apply
from pssa.stress.opinions import INCLUSIONS, LIKING, SIGNS, Opinion, is_plain

OPPOSITE = {"positive": "negative", "negative": "positive"}
_BREAKS = frozenset(("and", "but", ",", ".", "!", ";", "-", "(", ")"))
_WIDE_TOPICS = ("food", "drink")  # whose parts people judge one by one
_COORDINATORS = {("but", True): "and", ("and", False): "but"}  # by whether both sides agree afterwards


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
    return opinion.place < example.aspect[0] and (words[opinion.place] in LIKING or bool(INCLUSIONS & between))


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
