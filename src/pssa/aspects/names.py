"""`NameFinder`: finds aspects by the names that you give, such as `food`, `front desk` and `wifi`.

Case does not matter, nor does singular or plural of the last word (English), nor a hyphen between two words (`front-desk`). A
name is found as whole words only; in scripts without spaces between words, such as Chinese, anywhere. The longest name wins.
"""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pssa.aspects.spans import cut_words
from pssa.data.english import number_forms
from pssa.data.text_file import read_text
from pssa.data.tokenize import Span
from pssa.data.validation import brief_repr, join_names, shorten
from pssa.errors import InputError, setting

_MAX_NAMES = 10_000
_MAX_WORDS = 20  # of a name
_MAX_CHARACTERS = 200  # of a name
_COMMENT = "#"
# Han, Hiragana, Katakana, Thai, Lao, Myanmar and Khmer put no spaces between words: each character is looked at on its own.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_PART = re.compile(f"[{_UNSPACED}]|[^{_UNSPACED}]+")


@dataclass(frozen=True)
class NameFinder:
    """Finds given names; `parse_names` and `read_names` make them from text and from a file.

    :raises InputError: if there is no name, or one of them has no letter or digit or is too long.
    """

    names: tuple[str, ...]

    def __repr__(self) -> str:
        return brief_repr(self, names=join_names(self.names))

    def __post_init__(self) -> None:
        if not self.names:
            raise InputError(f"no aspect is named; name at least one with {setting('aspects')}")
        if len(self.names) > _MAX_NAMES:
            raise InputError(f"{len(self.names)} aspects are named; expected at most {_MAX_NAMES}")
        for name in self.names:
            _check_name(name)

    def find_in_sentences(self, sentences: Sequence[str]) -> list[tuple[Span, ...]]:
        """Return the character offsets of the names in each sentence, in order and without overlap."""
        return [tuple(self._find(sentence)) for sentence in sentences]

    @cached_property
    def _forms(self) -> frozenset[tuple[str, ...]]:
        """The words of each name, in singular and plural."""
        return frozenset(
            (*words, form)
            for name in self.names
            for *words, last in [tuple(word for word, _ in _words(name))]
            for form in number_forms(last)
        )

    @cached_property
    def _lengths(self) -> dict[str, list[int]]:
        """By first word, how many words the names have that begin with it, the most first."""
        found: dict[str, set[int]] = {}
        for words in self._forms:
            found.setdefault(words[0], set()).add(len(words))
        return {first: sorted(lengths, reverse=True) for first, lengths in found.items()}

    def _find(self, sentence: str) -> Iterator[Span]:
        words = list(_words(sentence))
        place = 0
        while place < len(words):
            for n in self._lengths.get(words[place][0], ()):
                chosen = words[place : place + n]
                if tuple(word for word, _ in chosen) in self._forms:
                    yield chosen[0][1][0], chosen[-1][1][1]
                    place += len(chosen)
                    break
            else:
                place += 1


def parse_names(given: str | Iterable[str]) -> tuple[str, ...]:
    """Return the names in a list, or in text with commas between them; a name with a comma stands in quotes.

    :raises InputError: if the text is not such a list.
    """
    if not isinstance(given, str):
        return _unique(given)
    try:
        rows = list(csv.reader([given], skipinitialspace=True, strict=True))
    except csv.Error as error:
        raise InputError(
            f'{setting("aspects")} is {shorten(given)} ({error}); write names with commas, such as food,"front desk"'
        ) from error
    return _unique(rows[0] if rows else ())


def read_names(path: str | Path) -> tuple[str, ...]:
    """Return the names in a file, one a line; blank lines and lines that start with # are left out.

    :raises InputError: naming the line of the first name that cannot be used.
    """
    names = []
    for line, text in read_text(Path(path)):
        name = text.strip().lstrip("\ufeff")
        if not name or name.startswith(_COMMENT):
            continue
        try:
            _check_name(name)
        except InputError as error:
            raise InputError.at(path, line, error.message) from error
        names.append(name)
        if len(names) > _MAX_NAMES:
            raise InputError.at(path, line, f"has more than {_MAX_NAMES} names; expected at most so many")
    if not names:
        raise InputError.at(path, None, "has no names; expected one a line")
    return _unique(names)


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in names if name.strip()))


def _check_name(name: str) -> None:
    words = [word for word, _ in _words(name)] if len(name) <= _MAX_CHARACTERS else []
    if len(name) > _MAX_CHARACTERS or len(words) > _MAX_WORDS:
        limit = f"at most {_MAX_WORDS} words and {_MAX_CHARACTERS} characters"
        raise InputError(f"the aspect {shorten(name)} is too long; expected {limit}")
    if any("\ud800" <= letter <= "\udfff" for letter in name):
        raise InputError(f"the aspect {shorten(name)} has bytes that are not UTF-8; write it as UTF-8")
    if not any(letter.isalnum() for word in words for letter in word):
        raise InputError(f"the aspect {shorten(name)} has no letter or digit; correct it or leave it out")


def _words(text: str) -> Iterator[tuple[str, Span]]:
    """Yield the words of a text, all in one spelling, with their offsets; a hyphen inside a word is left out."""
    spans = [part.span() for start, end in cut_words(text) for part in _PART.finditer(text, start, end)]
    for place, (start, end) in enumerate(spans):
        is_inner = 0 < place < len(spans) - 1 and spans[place - 1][1] == start and spans[place + 1][0] == end
        if not (is_inner and text[start:end] == "-"):
            word = unicodedata.normalize("NFKC", text[start:end]).casefold().replace("’", "'")
            yield word, (start, end)
