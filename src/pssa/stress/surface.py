"""Variants that change how a text looks and nothing that it says: typing errors, and capital letters."""

from __future__ import annotations

from collections.abc import Collection, Container, Sequence
from random import Random

from pssa.data.example import Example
from pssa.stress.draft import Draft, apply
from pssa.stress.lexicon import is_listed

_MIN_LETTERS = 5
_MOST_TYPOS = 2


def add_typos(
    example: Example, siblings: Sequence[Example], marked: Collection[int], known: Container[str]
) -> Draft | None:
    """Return the text with two inner letters swapped in up to two words; never in an aspect or a word that may be an opinion.

    :param known: words in lower case that no typing error may result in.
    """
    protected = {place for sibling in siblings for place in range(*sibling.aspect)} | {*marked}
    places = [place for place, word in enumerate(example.words) if place not in protected and _typos(word, known)]
    if not places:
        return None
    random = Random(f"typos {example.text}")
    chosen = sorted(random.sample(places, min(_MOST_TYPOS, len(places))))
    return apply(example, {place: (random.choice(_typos(example.words[place], known)),) for place in chosen})


def change_case(example: Example) -> Draft | None:
    """Return the text in lower case or, where it has no capital letter, in upper case; None if letters change their number."""
    changed = example.text.lower() if example.text != example.text.lower() else example.text.upper()
    if changed == example.text or len(changed) != len(example.text):
        return None
    return Draft(changed, example.aspect_chars)


def _typos(word: str, known: Container[str]) -> list[str]:
    """Return the word with two neighbouring letters swapped, its first and last letter in place; nothing if it is short."""
    if len(word) < _MIN_LETTERS or not (word.isascii() and word.isalpha()) or is_listed(word.lower()):
        return []
    places = [place for place in range(1, len(word) - 2) if word[place].lower() != word[place + 1].lower()]
    swapped = [word[:place] + word[place + 1] + word[place] + word[place + 2 :] for place in places]
    return [each for each in swapped if each.lower() not in known and not is_listed(each.lower())]
