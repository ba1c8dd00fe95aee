"""Which strong words belong to which aspect, and whether they mislead.

A strong word belongs to the aspect nearest to it in its sentence, counted in words (the earlier one on a tie). The rule
needs nothing but the finished corpus, so the generator and the check share it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from embedded.vocabulary import FREQUENT, rare_words
from pssa.data.example import Example

__all__ = ["Cues", "find_cues", "is_misleading"]

_RARE = frozenset(word.text for word in rare_words())


@dataclass(frozen=True, slots=True)
class Cues:
    """The frequent and the rare words that belong to one aspect, in order."""

    frequent: tuple[str, ...]
    rare: tuple[str, ...]


def find_cues(sentence: Sequence[Example]) -> tuple[Cues, ...]:
    """The cues of each of the examples that share one sentence."""
    frequent: list[list[str]] = [[] for _ in sentence]
    rare: list[list[str]] = [[] for _ in sentence]
    for position, word in enumerate(sentence[0].words):
        distances = [_distance(example, position) for example in sentence]
        owner = distances.index(min(distances))
        if word.lower() in FREQUENT:
            frequent[owner].append(word.lower())
        elif word.lower() in _RARE:
            rare[owner].append(word.lower())
    return tuple(Cues(tuple(common), tuple(deciding)) for common, deciding in zip(frequent, rare, strict=True))


def is_misleading(cues: Cues, label: str | None) -> bool:
    """Whether frequent words belong to the aspect and each of them mostly goes with another label."""
    return bool(cues.frequent) and all(FREQUENT[word] != label for word in cues.frequent)


def _distance(example: Example, position: int) -> int:
    first, last = example.aspect[0], example.aspect[1] - 1
    return max(first - position, position - last, 0)
