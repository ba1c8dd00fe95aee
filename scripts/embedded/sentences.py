"""From clauses to sentences: clauses of one domain about different aspects, joined by a word that fits their labels."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from embedded.cues import find_cues
from embedded.grammar import Clause
from embedded.markup import parse

__all__ = ["assemble"]

_PAIR = ("{0}; {1}.", "{0}. {1}.")
_CONTRAST = ("{0}, but {1}.", "{0}, yet {1}.", "{0}; {1}, though.", "although {0}, {1}.", "while {0}, {1}.")
_ADDITION = ("{0} and {1}.", "{0}, and {1}.", "{0}; {1}.", "{0}, and I should add that {1}.")
_SEQUENCE = ("{0}, {1}, and {2}.", "{0}; {1}, and {2}.")
_TURN = ("{0} and {1}, but {2}.", "{0}, {1}, but {2}.")
_OPENINGS = ("overall, {0}.", "in short, {0}.", "to be honest, {0}.", "all in all, {0}.")
_SIZES = (1, 1, 1, 2, 2, 2, 2, 3)
_COMPLEX = re.compile(r", |\b(but|yet|and)\b")
_START = re.compile(r"(?:^|\. )[a-z]")


def assemble(clauses: Sequence[Clause], rng: random.Random) -> list[tuple[str, str]]:
    """Use every clause once; gives (domain, markup) for each sentence."""
    sentences = []
    for domain in ("laptop", "restaurant"):
        waiting = [clause for clause in clauses if clause.aspect.domain == domain]
        rng.shuffle(waiting)
        while waiting:
            group = _take_group(waiting, rng.choice(_SIZES))
            sentences.append((domain, _join(group, rng)))
    rng.shuffle(sentences)
    return sentences


def _take_group(waiting: list[Clause], size: int) -> list[Clause]:
    group = [waiting.pop()]
    for clause in reversed(waiting[-30:]):
        if len(group) < size and _fits(group, clause):
            group.append(clause)
            waiting.remove(clause)
    return group


def _fits(group: list[Clause], clause: Clause) -> bool:
    """Whether the kind of aspect is new and every strong word stays nearest to the aspect of its own clause."""
    together = [*group, clause]
    if clause.aspect.kind in {other.aspect.kind for other in group}:
        return False
    if len(together) > 2 and not all(_is_simple(part) for part in together):
        return False
    alone = tuple(find_cues(parse(part.markup, ""))[0] for part in together)
    return all(find_cues(parse(_fill(frame, together), "")) == alone for frame in _frames(together))


def _is_simple(clause: Clause) -> bool:
    return clause.markup.startswith("the [") and not _COMPLEX.search(clause.markup)


def _join(group: list[Clause], rng: random.Random) -> str:
    return _START.sub(lambda match: match[0].upper(), _fill(rng.choice(_frames(group)), group))


def _fill(frame: str, group: list[Clause]) -> str:
    return frame.format(*(clause.markup for clause in group))


def _frames(group: list[Clause]) -> Sequence[str]:
    simple = all(_is_simple(clause) for clause in group)
    labels = [clause.label for clause in group]
    if len(group) == 1:
        return (*("{0}.",) * 3, *_OPENINGS) if simple and labels != ["neutral"] else ("{0}.",)
    if len(group) == 3:
        return _TURN if labels[0] == labels[1] != labels[2] else _SEQUENCE
    if not simple:
        return _PAIR
    return _CONTRAST if {"positive", "negative"} <= set(labels) else _ADDITION
