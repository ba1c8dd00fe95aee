"""Drafts: a sentence whose words are replaced, dropped and added to, with spaces, capitals and articles kept right."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from pssa.data.example import Example
from pssa.data.tokenize import Span, split_on_space, tokenize

Edits = Mapping[int, tuple[str, ...]]  # what stands in the place of a word, by its number; nothing: the word is dropped

_SPACED_MARK = re.compile(r"\s[.,!?;:'](?:\s|$)")
_ARTICLES = ("a", "an")
_VOWELS = tuple("aeiou")
_LIKE_CONSONANTS = ("uni", "use", "usu", "usa", "eu", "one", "once", "ute")
_LIKE_VOWELS = ("hour", "honest", "honor", "honour", "heir")


@dataclass(frozen=True)
class Draft:
    """The text of a variant and the character offsets of its aspect."""

    text: str
    aspect: Span

    def as_example(self, original: Example, id: str, label: str | None) -> Example:
        """Return the example, split into words as the original is."""
        spans = split_words(original, self.text, self.aspect)
        made = Example.from_spans(self.text, spans, self.aspect, label=label, id=id, sentence_id=original.sentence_id)
        return replace(made, tags=original.tags)


def split_words(original: Example, text: str, aspect: Span) -> tuple[Span, ...]:
    """Return the words of a text: by our tokeniser or, where the original consists of given tokens, at white space."""
    ours = tokenize(original.text, original.aspect_chars)
    given = split_on_space(original.text, original.aspect_chars)
    is_tokenised = original.spans != ours and original.spans == given
    return split_on_space(text, aspect) if is_tokenised else tokenize(text, aspect)


def apply(example: Example, edits: Edits) -> Draft | None:
    """Return the text with its edits; None where they touch the aspect."""
    start, end = example.aspect
    if any(start <= word < end for word in edits):
        return None
    edits = _fix_articles(example, edits)
    made, last = "", 0  # the text so far; end of the last word of the original
    places = [0, 0]
    for number, (first, after) in enumerate(example.spans):
        word = example.text[first:after]
        text = " ".join(edits.get(number, (word,)))
        if number in edits and len(word) > 1 and word.isupper():
            text = text.upper()
        elif number in edits and word[:1].isupper():
            text = text[:1].upper() + text[1:]
        if text and (number == 0 or made):
            made += example.text[last:first]
        if number == start:
            places[0] = len(made)
        made += text
        if number == end - 1:
            places[1] = len(made)
        last = after
    return Draft(made + example.text[last:], (places[0], places[1]))


def append(example: Example, clause: str) -> Draft:
    """Return the text with a clause at its end, spaced and capitalised as the text is.

    :param clause: lower-case words, without a mark at its end.
    """
    text = example.text.rstrip()
    ends = ends_sentence(example)
    is_spaced = _SPACED_MARK.search(text) is not None
    glue = " " if ends else (" , " if is_spaced else ", ")
    first = clause[:1].upper() + clause[1:] if ends and has_capitals(example) else clause
    return Draft(f"{text}{glue}{first}{' .' if is_spaced else '.'}", example.aspect_chars)


def ends_sentence(example: Example) -> bool:
    """Return whether a clause at the end of the text begins a sentence of its own."""
    return not example.text.rstrip()[-1:].isalnum()


def has_capitals(example: Example) -> bool:
    """Return whether the text begins with a capital letter, as sentences do."""
    first = next((letter for letter in example.text if letter.isalpha()), "a")
    return first.isupper()


def _fix_articles(example: Example, edits: Edits) -> Edits:
    """Return the edits with `a` or `an` before a word that changes."""
    fixed = dict(edits)
    words = [word.lower() for word in example.words]
    for number, new in edits.items():
        before = words[number - 1] if number else ""
        if new and before in _ARTICLES and number - 1 not in edits and new[0].lower() != words[number]:
            fixed[number - 1] = ("an" if sounds_like_vowel(new[0]) else "a",)
    return fixed


def sounds_like_vowel(word: str) -> bool:
    """Return whether `an` goes before the word."""
    word = word.lower()
    return word.startswith(_LIKE_VOWELS) or (word.startswith(_VOWELS) and not word.startswith(_LIKE_CONSONANTS))
