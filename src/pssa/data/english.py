"""English words: stop words, which say nothing about an opinion, and singular and plural of nouns, by spelling alone.

There is one list of stop words, wherever frequent or telling words are shown. Mining and training know none: they hide words from
readers, never from models. Words that carry or turn an opinion (not, never, no, too, only, well, like) are not in the list. Of
other languages only punctuation is recognised.
"""

from __future__ import annotations

import re
import unicodedata
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
_WORDS = """
a an the this that these those some any each every either neither another other such same own both all most more
i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers herself
it its itself they them their theirs themselves who whom whose which what when where why how there here
am is are was were be been being 'm 're 's 've 'd 'll have has had having do does did doing done
will would shall should can could may might must ca wo
i'm i've i'd i'll it's that's there's he's she's we're we've they're they've you're you've
about above across after again against along among around as at before behind below beneath beside besides between beyond
by down during for from in inside into near of off on onto out outside over per since through throughout to toward
towards under until up upon via with within without
and or but nor so yet if because although though unless while whereas than then else therefore thus hence however
also anyway ever already always often sometimes usually now once still just quite rather really very even almost
one ones two something anything everything someone anyone everyone thing things
get gets got getting go goes went going make makes made say says said
t s d m re ve ll
"""
STOP_WORDS = frozenset(_WORDS.split())


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


def is_content_word(word: str) -> bool:
    """Return whether a word is worth showing: it has a letter, a digit or a picture, and is not a stop word."""
    if not any(unicodedata.category(letter)[0] in "LN" or unicodedata.category(letter) == "So" for letter in word):
        return False
    return word.casefold().replace("’", "'") not in STOP_WORDS
