"""English nouns in singular and plural: the one place with the rules, by spelling alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

_PLURAL_OF = {
    "child": "children",
    "foot": "feet",
    "knife": "knives",
    "man": "men",
    "menu": "menus",
    "mouse": "mice",
    "person": "people",
    "tooth": "teeth",
    "woman": "women",
}
_SINGULAR_OF = {plural: singular for singular, plural in _PLURAL_OF.items()}
# Words in -s whose rest is another word.
_NO_PLURALS = ("customs", "goods", "lens", "means", "news", "series", "species", "thanks")
_NO_PLURAL_ENDS = ("ss", "us", "is")
_UNLIKE_PLURAL = re.compile(r"(?:ss|us|is|os|[^aeiou]as)$")


def looks_plural(word: str) -> bool:
    """Return whether a word ends as plurals do."""
    return word.endswith("s") and not word.endswith(_NO_PLURAL_ENDS)


@lru_cache(maxsize=1 << 14)
def singular(word: str) -> str:
    """Return the likeliest singular of a noun; a word that is none, or of another language, as it is."""
    if word in _SINGULAR_OF:
        return _SINGULAR_OF[word]
    if len(word) < 4 or not word.endswith("s") or not word.isascii():
        return word
    if _UNLIKE_PLURAL.search(word) or word in _NO_PLURALS:
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes", "zzes", "toes")):
        return word[:-2]
    return word[:-1]


def number_forms(word: str) -> Iterator[str]:
    """Yield a word, and whatever may be its singular or its plural."""
    yield word
    if word in _PLURAL_OF or word in _SINGULAR_OF:
        yield _PLURAL_OF.get(word) or _SINGULAR_OF[word]
    if len(word) < 3 or not word.isalpha() or word in _NO_PLURALS:
        return
    if word.endswith(("s", "x", "z", "ch", "sh", "o")):
        yield word + "es"
    if not word.endswith("s"):
        yield word + "s"
    if word.endswith("y") and word[-2] not in "aeiou":
        yield word[:-1] + "ies"
    if word.endswith(("f", "fe")):
        yield word.removesuffix("e")[:-1] + "ves"
    if len(word) < 4 or not looks_plural(word):
        return
    yield word[:-1]
    if word.endswith("es"):
        yield word[:-2]
    if word.endswith("ies"):
        yield word[:-3] + "y"
    if word.endswith("ves"):
        yield from (word[:-3] + "f", word[:-3] + "fe")
