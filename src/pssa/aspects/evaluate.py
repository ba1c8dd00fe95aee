"""Precision, recall and F1 of exact spans, as SemEval-2014 counts them for aspect term extraction (Pontiki et al. 2014).

An aspect is right if both its offsets are. All sentences are counted together, those without aspects included.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from pssa.aspects.spans import AspectSentence
from pssa.data.tokenize import Span

if TYPE_CHECKING:
    from pssa.aspects.find import AspectFinder


@dataclass(frozen=True)
class SpanScores:
    """Counts of aspects, and what follows from them."""

    gold: int  # aspects in the data
    found: int
    right: int  # found, with the offsets of an aspect in the data

    @property
    def precision(self) -> float:
        """Share of the found aspects that are right; 0 if none is found."""
        return self.right / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        """Share of the aspects in the data that are found; 0 if there are none."""
        return self.right / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return 2 * self.right / (self.gold + self.found) if self.gold + self.found else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1, **asdict(self)}


def score_spans(gold: Iterable[Sequence[Span]], found: Iterable[Sequence[Span]]) -> SpanScores:
    """Count the spans of each sentence, in the same order."""
    n_gold = n_found = n_right = 0
    for expected, given in zip(gold, found, strict=True):
        n_gold, n_found = n_gold + len(set(expected)), n_found + len(set(given))
        n_right += len(set(expected) & set(given))
    return SpanScores(n_gold, n_found, n_right)


def evaluate_aspects(finder: AspectFinder, sentences: Sequence[AspectSentence]) -> SpanScores:
    """Compare what a tagger finds in each sentence, read as one sentence, with its aspects."""
    found = finder.find_in_sentences([sentence.text for sentence in sentences])
    return score_spans([sentence.aspects for sentence in sentences], found)
