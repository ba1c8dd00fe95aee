"""Splits by sentence: all aspects of a sentence, and all copies of it, are in the same part.

Groups are assigned one by one, the large first, each to the part whose label counts it brings nearest to their target; the seed
decides the order among groups of one size.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from pssa.data.example import Corpus, sentence_key
from pssa.errors import InputError


def hold_out(corpus: Corpus, fraction: float, seed: int) -> tuple[list[int], list[int]]:
    """Return positions to train on and positions held out, about `fraction` of all, with similar shares of labels.

    :raises InputError: if `fraction` is not between 0 and 1 or there are fewer than two sentences.
    """
    if not 0 < fraction < 1:
        raise InputError(f"the held-out fraction is {fraction}; expected more than 0 and less than 1")
    trained, held_out = _deal(corpus, (1 - fraction, fraction), seed)
    return trained, held_out


def folds(corpus: Corpus, n: int, seed: int) -> list[list[int]]:
    """Split the corpus into `n` disjoint lists of positions of similar size and shares of labels.

    :raises InputError: if `n` is below 2 or there are fewer than `n` sentences.
    """
    if n < 2:
        raise InputError(f"the number of folds is {n}; expected 2 or more")
    return _deal(corpus, (1 / n,) * n, seed)


def _deal(corpus: Corpus, shares: Sequence[float], seed: int) -> list[list[int]]:
    groups = sentence_groups(corpus)
    if len(groups) < len(shares):
        raise InputError(f"{len(groups)} different sentences cannot be split into {len(shares)} parts; give more data")
    random.Random(seed).shuffle(groups)
    groups.sort(key=len, reverse=True)  # stable: the shuffled order stays among groups of one size
    labels = [example.label for example in corpus]
    totals = Counter(labels)
    targets = [{label: share * total for label, total in totals.items()} for share in shares]
    dealt: list[Counter[str | None]] = [Counter() for _ in shares]
    parts: list[list[list[int]]] = [[] for _ in shares]
    for group in groups:
        counts = Counter(labels[position] for position in group)
        number = min(range(len(shares)), key=lambda number: _cost(counts, dealt[number], targets[number]))
        dealt[number] += counts
        parts[number].append(group)
    for part in parts:  # small corpora leave some empty
        if not part:
            part.append(max(parts, key=len).pop())
    return [sorted(position for group in part for position in group) for part in parts]


def _cost(counts: Counter[str | None], dealt: Counter[str | None], target: dict[str | None, float]) -> float:
    """Return how much a group adds to the part's chi-square distance from its target, by label and in size."""
    by_label = sum(_growth(count, dealt[label] - target[label], target[label]) for label, count in counts.items())
    size = sum(target.values())
    return by_label + _growth(counts.total(), dealt.total() - size, size)


def _growth(count: int, surplus: float, target: float) -> float:
    return ((surplus + count) ** 2 - surplus**2) / target


def sentence_groups(corpus: Corpus) -> list[list[int]]:
    """Return groups of positions that share a sentence id or a text, directly or through others, by first appearance."""
    parent = list(range(len(corpus)))

    def root(position: int) -> int:
        while parent[position] != position:
            parent[position] = parent[parent[position]]
            position = parent[position]
        return position

    first: dict[tuple[str, str], int] = {}
    for position, example in enumerate(corpus):
        for key in (("id", example.sentence_id), ("text", sentence_key(example.text))):
            one, other = sorted((root(first.setdefault(key, position)), root(position)))
            parent[other] = one
    groups: dict[int, list[int]] = {}
    for position in range(len(corpus)):
        groups.setdefault(root(position), []).append(position)
    return list(groups.values())
