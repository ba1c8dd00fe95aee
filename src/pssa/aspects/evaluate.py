"""Precision, recall and F1 of exact spans, as SemEval-2014 counts them for aspect term extraction (Pontiki et al. 2014).

An aspect is right if both its offsets are. All sentences are counted together, those without aspects included.

End to end, a tagger finds aspects and a classifier judges them: an aspect is right if its offsets and its label are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pssa.aspects.find import Finder, FoundAspect, examples_of
from pssa.aspects.spans import AspectSentence
from pssa.data.example import Corpus
from pssa.data.tokenize import Span
from pssa.errors import InputError
from pssa.runs.classifier import Classifier

_NO_LETTERS = re.compile(r"[\W_]+")


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


@dataclass(frozen=True)
class EndToEndScores(SpanScores):
    """Counts of aspects with their labels; right are those with both."""

    # Aspects of the data whose label is not known, such as `conflict`: they count neither as gold nor as found.
    left_out: int = 0


def evaluate_aspects(finder: Finder, sentences: Sequence[AspectSentence]) -> SpanScores:
    """Compare what a tagger finds in each sentence, read as one sentence, with its aspects."""
    found = finder.find_in_sentences([sentence.text for sentence in sentences])
    return score_spans([sentence.aspects for sentence in sentences], found)


def evaluate_end_to_end(
    finder: Finder, classifier: Classifier, sentences: Sequence[AspectSentence], labelled: Corpus
) -> EndToEndScores:
    """Let the classifier judge what the tagger finds, and compare both with labelled instances.

    :param labelled: the instances whose labels the aspects of the sentences have. They may come from another file: they are
        found by their text and aspect, whatever its case, white space and punctuation.
    :raises InputError: if none of them is an aspect of a sentence.
    """
    labels = {_place(example.text, example.aspect_chars): example.label for example in labelled}
    spans = finder.find_in_sentences([sentence.text for sentence in sentences])
    found = [
        [FoundAspect(sentence.text[start:end], start, end, sentence.text, 0) for start, end in inside]
        for sentence, inside in zip(sentences, spans, strict=True)
    ]
    answers = iter(classifier.answer(examples_of([each for inside in found for each in inside])))
    n_gold = n_found = n_right = n_left_out = 0
    for sentence, inside in zip(sentences, found, strict=True):
        gold = {span: labels.get(_place(sentence.text, span)) for span in sentence.aspects}
        n_left_out += sum(label is None for label in gold.values())
        n_gold += sum(label is not None for label in gold.values())
        for each, answer in zip(inside, answers, strict=False):  # the answers go on
            span = (each.start, each.end)
            if span in gold and gold[span] is None:
                continue
            n_found += 1
            n_right += gold.get(span) == answer.label
    if not n_gold:
        raise InputError("none of the aspects has a label; give labelled instances of the same sentences")
    return EndToEndScores(n_gold, n_found, n_right, n_left_out)


def _place(text: str, span: Span) -> tuple[str, int, str]:
    """Return the text, the place of the aspect and the aspect as they are in every spelling of a sentence."""
    start, end = span
    return _squeeze(text), len(_squeeze(text[:start])), _squeeze(text[start:end])


def _squeeze(text: str) -> str:
    return _NO_LETTERS.sub("", text.casefold())
