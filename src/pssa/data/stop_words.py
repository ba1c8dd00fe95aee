"""Stop words: the one list of words that say nothing about an opinion, wherever frequent or telling words are shown.

Mining and training know no stop words: they hide words from readers, never from models. Words that carry or turn an opinion
(not, never, no, too, only, well, like) are not in the list. Of other languages only punctuation is recognised.
"""

from __future__ import annotations

import unicodedata

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


def is_content_word(word: str) -> bool:
    """Return whether a word is worth showing: it has a letter, a digit or a picture, and is not a stop word."""
    if not any(unicodedata.category(letter)[0] in "LN" or unicodedata.category(letter) == "So" for letter in word):
        return False
    return word.casefold().replace("’", "'") not in STOP_WORDS
