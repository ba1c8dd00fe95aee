"""The order in which correcting evidence is most useful: sentences in doubt first, with words that many sentences have.

The use of a sentence is its doubt times its reach. Doubt is 1 if no word was found or the best one is a stop word, else one minus
the share of the best word, which is the one with the highest share in the first round. Reach is the mean over the sentence's
content words of log(1 + the number of sentences that have the word), divided by 1 + the number of sentences before it in the
order that have it: a sentence that says what earlier ones said comes later.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pssa.data.evidence import ExampleEvidence
from pssa.data.stop_words import is_content_word


@dataclass(frozen=True)
class Usefulness:
    """What correcting one example is worth, and why."""

    index: int  # of the example among those given
    use: float
    reason: str


def order_by_use(examples: Sequence[ExampleEvidence]) -> list[Usefulness]:
    """Return all examples, the most useful to correct first."""
    words = [_content_words(example) for example in examples]
    common = {word: math.log1p(count) for word, count in Counter(word for each in words for word in each).items()}
    doubts = [_doubt(example) for example in examples]
    shown: Counter[str] = Counter()

    def use(index: int) -> float:
        each = words[index]
        return doubts[index][0] * sum(common[word] / (1 + shown[word]) for word in each) / max(1, len(each))

    # The use of a sentence only falls while others are taken, so an old value that is still the highest is right.
    waiting = [(-use(index), index) for index in range(len(words))]
    heapq.heapify(waiting)
    found: list[Usefulness] = []
    while waiting:
        _, index = heapq.heappop(waiting)
        now = use(index)
        if waiting and (-now, index) > waiting[0]:
            heapq.heappush(waiting, (-now, index))
            continue
        shown.update(words[index])
        found.append(Usefulness(index, now, doubts[index][1]))
    return found


def _doubt(example: ExampleEvidence) -> tuple[float, str]:
    """Return how doubtful the words of an example are, from 0 to 1, and why."""
    # A later round shares the saliency among the words that are left, so its scores are higher.
    best = min(example.findings, key=lambda finding: (finding.iteration, -finding.score), default=None)
    if best is None:
        return 1.0, "no word was found"
    if not is_content_word(example.words[best.word]):
        return 1.0, "the best word is a stop word"
    share = min(1.0, max(0.0, best.score))
    return 1.0 - share, f"the best word has a share of {share:.2f}"


def _content_words(example: ExampleEvidence) -> Sequence[str]:
    start, end = example.aspect
    return sorted(
        {word.lower() for place, word in enumerate(example.words) if not start <= place < end and is_content_word(word)}
    )
