"""The lexicon of opinion words that ships: their sign and what reverses them.

`words/opinions.tsv` is ours, written for reviews: word, sign, antonym.

    +, -        an opinion wherever it stands
    (+), (-)    an opinion only where people marked it: "small" in "small portions", not in "a small town"
    ?           the same, of either sign: "long" battery life, "long" wait

The antonym may have several words; `not` means that only a negation reverses it, `-` that nothing safe does.
`words/wordnet_antonyms.tsv` holds antonyms of adjectives and adverbs from WordNet (licence beside it), which serve for marked
words that our list lacks. `words/grammar.toml` holds lists of words that decide how opinions are read.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

SIGNS = {"positive": 1, "negative": -1}  # of labels
_NEGATION, _NOTHING = "not", "-"
_MARKS = {"+": 1, "-": -1, "(+)": 1, "(-)": -1, "?": 0}


@dataclass(frozen=True)
class OpinionWord:
    """A word that can express an opinion."""

    sign: int  # 1 positive, -1 negative, 0 as its sentence has it
    antonym: tuple[str, ...] = ()  # empty: nothing reverses it safely
    needs_mark: bool = False  # whether it is an opinion only where somebody marked it

    @property
    def is_only_negated(self) -> bool:
        """Whether a negation alone reverses it."""
        return self.antonym == (_NEGATION,)


def find_opinion_word(word: str, *, is_marked: bool = False) -> OpinionWord | None:
    """Return what the lexicon knows about a word; None if it is no opinion word, marked words included."""
    found = _opinions().get(word)
    if found is not None and (is_marked or not found.needs_mark):
        return found
    antonym = _wordnet().get(word) if is_marked and found is None else None
    return OpinionWord(0, (antonym,), needs_mark=True) if antonym else None


def is_listed(word: str) -> bool:
    """Return whether the word may express an opinion somewhere."""
    return word in _opinions() or word in _wordnet()


def words_of(name: str) -> frozenset[str]:
    """Return a list of `grammar.toml`."""
    return frozenset(_grammar()[name].split())


def words_by_name(name: str) -> dict[str, frozenset[str]]:
    """Return the lists of a table of `grammar.toml`."""
    return {key: frozenset(value.split()) for key, value in _grammar()[name].items()}


def lines_of(name: str) -> tuple[str, ...]:
    """Return the lines of a text of `grammar.toml`."""
    return tuple(_grammar()[name].strip().splitlines())


@cache
def _opinions() -> dict[str, OpinionWord]:
    found = {}
    for word, sign, antonym in _rows("opinions.tsv"):
        words = () if antonym == _NOTHING else tuple(antonym.split())
        found[word] = OpinionWord(_MARKS[sign], words, sign not in "+-")
    return found


@cache
def _wordnet() -> dict[str, str]:
    return {row[0]: row[1] for row in _rows("wordnet_antonyms.tsv")}


@cache
def _grammar() -> dict[str, Any]:
    return tomllib.loads(_text("grammar.toml"))


def _rows(name: str) -> list[list[str]]:
    return [line.split("\t") for line in _text(name).splitlines()]


def _text(name: str) -> str:
    return files("pssa.stress").joinpath("words", name).read_text("utf-8")
