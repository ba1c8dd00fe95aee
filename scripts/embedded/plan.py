"""How many clauses of each sort the grammar adds to the sentences written by hand, and the drawing of them.

The numbers come from the label balance and from how rarely training may overrule a frequent word, not from the score of
any model.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from embedded.grammar import Clause, fits, say, say_rare
from embedded.vocabulary import FREQUENT, Word, rare_words

__all__ = ["TEST", "TRAIN", "Drawing", "Plan"]

_OPPOSITE = {"positive": "negative", "negative": "positive"}
_ATTEMPTS = 1000


@dataclass(frozen=True)
class Plan:
    """Numbers of clauses for one split, by frequent word or by label."""

    usual: Mapping[str, int]  # a frequent word with its usual label
    clash: Mapping[str, int]  # a frequent word overruled by a rare word
    same: Mapping[str, int]  # a frequent word beside a rare word that agrees
    denied: Mapping[str, int]  # a frequent word under negation
    common: Mapping[str, int]  # everyday adjectives
    negated: Mapping[str, int]  # everyday adjectives under negation, by the label that results
    facts: int  # neutral statements
    rare: tuple[int, ...]  # each rare word is brought up to one of these counts


TRAIN = Plan(
    usual={"huge": 46, "great": 60, "nice": 44, "terrible": 44, "slow": 42},
    clash={"huge": 4, "great": 4, "nice": 4, "terrible": 4, "slow": 4},
    same={"huge": 3, "great": 4, "nice": 3, "terrible": 4, "slow": 4},
    denied={"huge": 1, "great": 2, "nice": 2, "terrible": 1, "slow": 1},
    common={"positive": 35, "negative": 35},
    negated={"positive": 20, "negative": 20},
    facts=150,
    rare=(2, 2, 3, 3),
)

TEST = Plan(
    usual={"huge": 12, "great": 14, "nice": 12, "terrible": 10, "slow": 10},
    clash={"huge": 20, "great": 20, "nice": 14, "terrible": 14, "slow": 12},
    same={},
    denied={},
    common={"positive": 18, "negative": 10},
    negated={"positive": 8, "negative": 6},
    facts=42,
    rare=(0, 0, 1),
)


class Drawing:
    """Draws clauses, none of them twice, also across splits."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self._taken: set[str] = set()

    def draw(self, plan: Plan, written: Counter[str]) -> list[Clause]:
        """The clauses of one split, given how often its hand-written part already uses each rare word."""
        used = Counter(written)
        clauses = [self._say(f"usual {word}", FREQUENT[word]) for word in _repeat(plan.usual)]
        clauses += [self._say(f"negated {word}", _OPPOSITE[FREQUENT[word]]) for word in _repeat(plan.denied)]
        clauses += [self._say("common", label) for label in _repeat(plan.common)]
        clauses += [self._say("negated", label) for label in _repeat(plan.negated)]
        clauses += [self._say("fact", "neutral") for _ in range(plan.facts)]
        clauses += [self._say_least_used(f"same {word}", FREQUENT[word], used) for word in _repeat(plan.same)]
        for turn, word in enumerate(_repeat(plan.clash)):
            # One clash in four ends neutral: the strong word then says nothing at all.
            label = "neutral" if turn % 4 == 3 else _OPPOSITE[FREQUENT[word]]
            clauses.append(self._say_least_used(f"clash {word}", label, used))
        for rare in rare_words():
            missing = max(self.rng.choice(plan.rare) - used[rare.text], 0)
            clauses += [self._say_rare("rare", rare) for _ in range(missing)]
        return clauses

    def _say(self, section: str, label: str) -> Clause:
        return self._new(lambda: say(section, label, self.rng))

    def _say_rare(self, section: str, word: Word) -> Clause:
        return self._new(lambda: say_rare(section, word, self.rng))

    def _say_least_used(self, section: str, label: str, used: Counter[str]) -> Clause:
        """A clause around the rare word of this label that was used least, chance deciding between equals."""
        words = [word for word in rare_words() if word.label == label and fits(section, word)]
        self.rng.shuffle(words)
        word = min(words, key=lambda word: used[word.text])
        used[word.text] += 1
        return self._say_rare(section, word)

    def _new(self, make: Callable[[], Clause]) -> Clause:
        for _ in range(_ATTEMPTS):
            clause = make()
            if clause.markup not in self._taken:
                self._taken.add(clause.markup)
                return clause
        raise ValueError(f"no new clause in {_ATTEMPTS} attempts, last {clause.markup!r}; add templates or draw fewer")


def _repeat(quotas: Mapping[str, int]) -> Iterable[str]:
    return (name for name, count in quotas.items() for _ in range(count))
