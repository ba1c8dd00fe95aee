"""Clauses to add: one with opposite opinions on other aspects, taken from the file itself, and one that says nothing.

A clause of the pool is `the`, an aspect and a form of `be`, as a sentence of the file has them, with the opinion word that
follows there or one that fits anything. It may follow an instance whose aspect it does not concern: the two belong to different
topics, or stand in one sentence of the file with different labels.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random

from pssa.data.english import looks_plural
from pssa.data.example import Example
from pssa.stress.draft import Draft, append, ends_sentence
from pssa.stress.lexicon import SIGNS, find_opinion_word, lines_of, words_by_name, words_of
from pssa.stress.negation import INTENSIFIERS

_BE = ("is", "was", "are", "were")
_DETERMINERS = ("the", "their", "its", "our", "my", "this")
_ENDS = (",", ".", "!", ";", "and", "but", ")", "-")
_STARTS = (".", "!", ";", "but", "and", ",", "(", "-", "that", "while", "although", "though")
_MOST_CLAUSES = 2
_MAX_POOL = 1000  # clauses of each sign
_MAX_ASPECT = 2  # words of an aspect in the pool
_NEUTRAL = lines_of("neutral_clauses")
_TOPIC_OF = {word: topic for topic, words in words_by_name("topics").items() for word in words}
_GENERAL = {1: lines_of("good_of_anything"), -1: lines_of("bad_of_anything")}
_WHOLES = words_of("wholes")
# Topics that concern no other part of what is reviewed.
_INDEPENDENT = ("service", "price")


@dataclass(frozen=True)
class Clause:
    """A clause of the file: `the service was slow`."""

    words: tuple[str, ...]
    aspect: str
    sign: int

    def differs(self, other: Clause) -> bool:
        """Return whether the two say different things about different topics."""
        return topic_of(self.aspect) != topic_of(other.aspect) and self.words[-1] != other.words[-1]


class ClausePool:
    """The clauses of a file by the sign of their opinion, and which aspects may stand beside each other."""

    def __init__(self, corpus: Sequence[Example]) -> None:
        clauses = dict.fromkeys(clause for example in corpus for clause in _find_clauses(example))
        self._clauses = {
            sign: list(islice((clause for clause in clauses if clause.sign == sign), _MAX_POOL)) for sign in (1, -1)
        }
        self._contrasts = _find_contrasts(corpus)

    def add_opposite(self, example: Example, siblings: Sequence[Example]) -> Draft | None:
        """Return the text with up to two clauses of the other sign; a neutral target gets either. None without a clause."""
        random = Random(f"clause {example.text} {example.aspect}")
        sign = SIGNS.get(example.label or "", 0)
        wanted = -sign or random.choice((1, -1))
        words = {word.lower() for word in example.words}
        fitting = [clause for clause in self._clauses[wanted] if self._fits(clause, example, siblings, words)]
        random.shuffle(fitting)
        chosen: list[Clause] = []
        for clause in fitting:
            if len(chosen) < _MOST_CLAUSES and all(clause.differs(each) for each in chosen):
                chosen.append(clause)
        if not chosen:
            return None
        joined = " and ".join(" ".join(clause.words) for clause in chosen)
        link = "but " if sign else "" if ends_sentence(example) else "and "
        return append(example, link + joined)

    def _fits(self, clause: Clause, example: Example, siblings: Sequence[Example], words: set[str]) -> bool:
        if {*clause.aspect.split()} & words:
            return False
        topic, own = topic_of(clause.aspect), topic_of(example.aspect_text.lower())
        if topic and any(topic_of(sibling.aspect_text.lower()) == topic for sibling in siblings):
            return False
        pair = (example.aspect_text.lower(), clause.aspect)
        if pair in self._contrasts and not _WHOLES & {*pair}:
            return True
        return topic is not None and (own is not None or topic in _INDEPENDENT)


def add_neutral(example: Example) -> Draft:
    """Return the text with a clause that has no opinion."""
    return append(example, Random(f"neutral {example.text}").choice(_NEUTRAL))


def topic_of(aspect: str) -> str | None:
    """Return the topic of an aspect by its last known word."""
    found = [_TOPIC_OF[word] for word in aspect.split() if word in _TOPIC_OF]
    return found[-1] if found else None


def _find_clauses(example: Example) -> Iterator[Clause]:
    """Yield what the sentence says, if it says `the ASPECT is ADJECTIVE`, and the same with opinions that fit anything."""
    start, end = example.aspect
    words = [word.lower() for word in example.words]
    if end - start > _MAX_ASPECT or words[end : end + 1] not in [[be] for be in _BE]:
        return
    subject, aspect = _subject(words, start, end), " ".join(words[start:end])
    if not subject or not all(word.isalpha() for word in subject):
        return
    adjective, sign = _opinion_after(words, end + 1), SIGNS.get(example.label or "")
    known = find_opinion_word(adjective)
    if known and sign == (known.sign if known.antonym else 0):
        yield Clause((*subject, words[end], adjective), aspect, sign)
    for sign, adjectives in _GENERAL.items():
        chosen = Random(f"{aspect} {sign}").choice(adjectives)
        yield Clause((*subject, words[end], chosen), aspect, sign)


def _opinion_after(words: Sequence[str], place: int) -> str:
    """Return the one word that a form of `be` before `place` says, without its degree; empty where more follows."""
    while place < len(words) and words[place] in INTENSIFIERS - {"as", "that", "more", "most", "too"}:
        place += 1
    is_last = words[place + 1 : place + 2] in [[mark] for mark in _ENDS]
    return words[place] if is_last and words[place].isalpha() else ""


def _subject(words: Sequence[str], start: int, end: int) -> tuple[str, ...]:
    """Return the aspect with its article if it is the whole subject of the verb after it; else nothing."""
    has_determiner = start > 0 and words[start - 1] in _DETERMINERS
    first = start - has_determiner
    before = words[first - 1] if first else "."
    is_plural = words[end] in ("are", "were")
    # After a comma or `and`, the verb may belong to several nouns; and writers err.
    if before not in _STARTS or (is_plural and before in ("and", ",")) or looks_plural(words[end - 1]) > is_plural:
        return ()
    return (*(("the",) if has_determiner else ()), *words[start:end])


def _find_contrasts(corpus: Sequence[Example]) -> set[tuple[str, str]]:
    """Return pairs of aspects that stand in one sentence with labels of opposite sign."""
    sentences: dict[str, list[Example]] = defaultdict(list)
    for example in corpus:
        sentences[example.sentence_id].append(example)
    return {
        (one.aspect_text.lower(), other.aspect_text.lower())
        for siblings in sentences.values()
        for one in siblings
        for other in siblings
        if {one.label, other.label} == {*SIGNS}
    }
