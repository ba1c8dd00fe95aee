"""The grammar's clauses: a template of templates.txt, an aspect it suits and the words that suit the aspect."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from functools import cache

from embedded.markup import read_sections
from embedded.vocabulary import Aspect, Word, aspects, common_words, kinds_of, split_kinds, verb

__all__ = ["Clause", "fits", "say", "say_rare"]

_OPPOSITE = {"positive": "negative", "negative": "positive"}
_SLOT = re.compile(r"(\ba )?\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause in markup, without capital and full stop, about one aspect."""

    markup: str
    aspect: Aspect
    label: str


@dataclass(frozen=True, slots=True)
class _Template:
    kinds: frozenset[str]
    text: str


def say(section: str, label: str, rng: random.Random) -> Clause:
    """A clause of this section with everyday words; in a negated section they have the opposite label."""
    template = rng.choice(_templates(section))
    aspect = _choose_aspect(template.kinds, rng)
    said = _OPPOSITE[label] if section.startswith("negated") else label
    suited = [word for word in common_words(said) if aspect.kind in word.kinds]
    if "{common}" in template.text:
        return _fill(template, aspect, label, {"common": rng.choice(suited).text})
    if "{specific}" in template.text:
        specific = [word.text for word in suited if word.kinds < kinds_of("any")]
        return _fill(template, aspect, label, {"specific": rng.choice(specific)})
    return _fill(template, aspect, label, {})


def say_rare(section: str, word: Word, rng: random.Random) -> Clause:
    """A clause of this section around a rare word that fits it."""
    template = rng.choice(_suited(section, word))
    return _fill(template, _choose_aspect(template.kinds & word.kinds, rng), word.label, {"rare": word.text})


def fits(section: str, word: Word) -> bool:
    """Whether the section has a template for this rare word."""
    return bool(_suited(section, word))


def _suited(section: str, word: Word) -> list[_Template]:
    return [template for template in _templates(f"{section} {word.part}") if template.kinds & word.kinds]


def _choose_aspect(kinds: frozenset[str], rng: random.Random) -> Aspect:
    # The domain first: otherwise the one with more kinds would have more sentences.
    domains = [kinds & kinds_of(domain) for domain in ("laptop", "restaurant")]
    chosen = rng.choice([suited for suited in domains if suited])
    return rng.choice([aspect for kind in sorted(chosen) for aspect in aspects(kind)])


def _fill(template: _Template, aspect: Aspect, label: str, words: dict[str, str]) -> Clause:
    def value(slot: re.Match[str]) -> str:
        name = slot[2]
        if name == "a":
            return f"[{aspect.text}|{label}]"
        word = words[name] if name in words else verb(name, aspect)
        article = "" if slot[1] is None else "an " if word[0] in "aeiou" else "a "
        return article + word

    return Clause(_SLOT.sub(value, template.text), aspect, label)


@cache
def _templates(section: str) -> tuple[_Template, ...]:
    return tuple(_Template(*split_kinds(line)) for line in read_sections("templates.txt").get(section, ()))
