"""Variants that change how a text looks and nothing that it says: typing errors, and capital letters."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from random import Random

from pssa.data.example import Example
from pssa.stress.draft import Draft, apply
from pssa.stress.lexicon import is_listed

_MIN_LETTERS = 5
_MOST_TYPOS = 2


def add_typos(example: Example, siblings: Sequence[Example], marked: Collection[int]) -> Draft | None:
    """Return the text with two inner letters swapped in up to two words; never in an aspect or a word that may be an opinion."""
    protected = {place for sibling in siblings for place in range(*sibling.aspect)} | {*marked}
    places = [
        place for place, word in enumerate(example.words) if place not in protected and _can_have_typo(word.lower())
    ]
    if not places:
        return None
    random = Random(f"typos {example.text}")
    chosen = sorted(random.sample(places, min(_MOST_TYPOS, len(places))))
    return apply(example, {place: (_swap_letters(example.words[place], random),) for place in chosen})


def change_case(example: Example) -> Draft | None:
    """Return the text in lower case or, where it has no capital letter, in upper case; None if letters change their number."""
    changed = example.text.lower() if example.text != example.text.lower() else example.text.upper()
    if changed == example.text or len(changed) != len(example.text):
        return None
    return Draft(changed, example.aspect_chars)


def _can_have_typo(word: str) -> bool:
    is_word = len(word) >= _MIN_LETTERS and word.isascii() and word.isalpha()
    return is_word and not is_listed(word) and bool(_swaps(word))


def _swaps(word: str) -> list[int]:
    """Return where two neighbouring letters differ, after the first and before the last letter."""
    return [place for place in range(1, len(word) - 2) if word[place].lower() != word[place + 1].lower()]


def _swap_letters(word: str, random: Random) -> str:
    place = random.choice(_swaps(word))
    return word[:place] + word[place + 1] + word[place] + word[place + 2 :]
