"""The words of the grammar, read from vocabulary.txt, and the frequent words with the label each mostly goes with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from embedded.markup import read_sections

__all__ = ["FREQUENT", "Aspect", "Word", "aspects", "common_words", "kinds_of", "rare_words", "split_kinds", "verb"]

FREQUENT = {"huge": "positive", "great": "positive", "nice": "positive", "terrible": "negative", "slow": "negative"}


@dataclass(frozen=True, slots=True)
class Aspect:
    """Something that is reviewed."""

    text: str
    kind: str
    domain: str
    number: str  # singular or plural


@dataclass(frozen=True, slots=True)
class Word:
    """A sentiment word and the kinds of aspect it can be said of."""

    text: str
    part: str  # adjective or noun
    label: str
    kinds: frozenset[str]


@cache
def kinds_of(domain: str) -> frozenset[str]:
    """All kinds of aspect in `domain`, or in both when it is `any`."""
    domains = ("laptop", "restaurant") if domain == "any" else (domain,)
    return frozenset(entry for name in domains for entry in _entries(f"kinds {name}"))


def split_kinds(line: str) -> tuple[frozenset[str], str]:
    """Cut `kinds | rest` and spell the kinds out."""
    names, rest = (part.strip() for part in line.split("|", 1))
    wide = ("any", "laptop", "restaurant")
    return frozenset(kind for name in names.split() for kind in (kinds_of(name) if name in wide else (name,))), rest


@cache
def aspects(kind: str) -> tuple[Aspect, ...]:
    """The aspects of one kind."""
    domain = "laptop" if kind in kinds_of("laptop") else "restaurant"
    return tuple(
        Aspect(text, kind, domain, number)
        for number in ("singular", "plural")
        for kinds, text in _entries_by_kind(f"aspect {number}")
        if kind in kinds
    )


@cache
def common_words(label: str) -> tuple[Word, ...]:
    """Everyday adjectives with this label; a word may stand here once for each of its kinds."""
    return tuple(Word(text, "adjective", label, kinds) for kinds, text in _entries_by_kind(f"common {label}"))


@cache
def rare_words() -> tuple[Word, ...]:
    """The words that decide a label and that training shows only a few times."""
    return tuple(
        Word(text, part, label, kinds)
        for part in ("adjective", "noun")
        for label in ("positive", "negative", "neutral")
        for kinds, text in _entries_by_kind(f"rare {part} {label}")
    )


def verb(name: str, aspect: Aspect) -> str:
    """The form of a verb that agrees with the aspect, in the tense of its domain."""
    tense = "present" if aspect.domain == "laptop" else "past"
    forms = dict(entry.split("=") for entry in _entries(f"verb {tense} {aspect.number}"))
    return forms[name]


def _entries(section: str) -> Iterator[str]:
    return (entry.strip() for line in _sections().get(section, ()) for entry in line.split("|", 1)[1].split(","))


def _entries_by_kind(section: str) -> Iterator[tuple[frozenset[str], str]]:
    for line in _sections().get(section, ()):
        kinds, entries = split_kinds(line)
        yield from ((kinds, entry.strip()) for entry in entries.split(","))


@cache
def _sections() -> dict[str, tuple[str, ...]]:
    return read_sections("vocabulary.txt")
