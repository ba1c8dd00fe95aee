"""A simulated person who corrects mined evidence: the words that people marked, put in place of those that were mined.

The order `useful` begins with sentences in doubt that have frequent words. The use of a sentence is its doubt times its reach.
Doubt is 1 if no word was found or the best one is a stop word, else one minus the share of the best word, which is the one with
the highest share in the first round. Reach is the mean over the sentence's content words of log(1 + the number of sentences that
have the word), divided by 1 + the number of sentences before it in the order that have it: a sentence that repeats earlier ones
comes later.
"""

from __future__ import annotations

import heapq
import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from pssa.data.english import is_content_word
from pssa.data.evidence import Evidence, ExampleEvidence
from pssa.errors import InputError

ORDERS = ("random", "useful")
ALL = "all"


def correct_sentences(mined: Evidence, human: Evidence, sentences: int | str, order: str, seed: int) -> Evidence:
    """Return mined evidence with some instances corrected, out of those in which people marked a word.

    :param sentences: how many, or `all`.
    :param order: `random`, or `useful`: the most useful to correct first, judged by the mined evidence alone.
    :param seed: of the random order.
    """
    chosen = _choose(mined, human, order, seed)[: None if sentences == ALL else int(sentences)]
    examples = list(mined.examples)
    for index in chosen:
        examples[index] = replace(examples[index], findings=human.examples[index].findings)
    edits = (*mined.header.edits, f"{len(chosen)} instances corrected, in {order} order")
    return Evidence(replace(mined.header, edits=edits), tuple(examples))


def _choose(mined: Evidence, human: Evidence, order: str, seed: int) -> list[int]:
    """Return the instances with marked words in the order of correction."""
    if order not in ORDERS:
        raise InputError(f"unknown order {order!r}; known: {', '.join(ORDERS)}")
    marked = [index for index, example in enumerate(human.examples) if example.findings]
    if order == "useful":
        known = {*marked}
        return [index for index in order_by_use(mined.examples) if index in known]
    random.Random(seed).shuffle(marked)
    return marked


def order_by_use(examples: Sequence[ExampleEvidence]) -> list[int]:
    """Return the places of all examples, the most useful to correct first."""
    words = [_content_words(example) for example in examples]
    common = {word: math.log1p(count) for word, count in Counter(word for each in words for word in each).items()}
    doubts = [_doubt(example) for example in examples]
    shown: Counter[str] = Counter()

    def use(index: int) -> float:
        each = words[index]
        return doubts[index] * sum(common[word] / (1 + shown[word]) for word in each) / max(1, len(each))

    # The use of a sentence only falls while others are taken, so an old value that is still the highest is right.
    waiting = [(-use(index), index) for index in range(len(words))]
    heapq.heapify(waiting)
    found: list[int] = []
    while waiting:
        _, index = heapq.heappop(waiting)
        now = use(index)
        if waiting and (-now, index) > waiting[0]:
            heapq.heappush(waiting, (-now, index))
            continue
        shown.update(words[index])
        found.append(index)
    return found


def _doubt(example: ExampleEvidence) -> float:
    """Return how doubtful the words of an example are, from 0 to 1."""
    # A later round shares the saliency among the words that are left, so its scores are higher.
    best = min(example.findings, key=lambda finding: (finding.iteration, -finding.score), default=None)
    if best is None or not is_content_word(example.words[best.word]):
        return 1.0
    return 1.0 - min(1.0, max(0.0, best.score))


def _content_words(example: ExampleEvidence) -> Sequence[str]:
    start, end = example.aspect
    return sorted(
        {word.lower() for place, word in enumerate(example.words) if not start <= place < end and is_content_word(word)}
    )
