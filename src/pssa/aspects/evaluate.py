"""Score a tagger by exact spans, and a classifier, with a tagger or without, on whole reviews.

All sentences are counted together, those without aspects included.

End to end, a tagger finds aspects and a classifier judges them: an aspect is right if its offsets and its label are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pssa.aspects.find import Finder, FoundAspect, examples_of, find_in_texts
from pssa.aspects.sentences import split_sentences
from pssa.aspects.spans import AspectSentence
from pssa.data.example import Corpus
from pssa.data.reviews import Review
from pssa.data.tokenize import Span
from pssa.errors import InputError
from pssa.evaluation.metrics import SpanScores, score_spans
from pssa.evaluation.reviews import ReviewAnswer, ReviewScores, score_reviews
from pssa.runs.classifier import Classifier
from pssa.runs.explain import explain

_NO_LETTERS = re.compile(r"[\W_]+")


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


def evaluate_reviews(classifier: Classifier, reviews: Sequence[Review], finder: Finder | None = None) -> ReviewScores:
    """Score the aspects that a tagger finds in whole reviews, and what a classifier says of the marked ones in their sentence.

    The top word is that with the highest share in the usual explanation of the classifier.
    """
    found = None if finder is None else find_in_texts(finder, [review.text for review in reviews])
    marked = [(row, span) for row, review in enumerate(reviews) for span, label in review.aspects.items() if label]
    aspects = [_in_sentence(reviews[row].text, span) for row, span in marked]
    labels: list[dict[Span, str]] = [{} for _ in reviews]
    top_words: list[dict[Span, Span]] = [{} for _ in reviews]
    for (row, span), aspect, each in zip(marked, aspects, explain(classifier, examples_of(aspects)), strict=True):
        probabilities = each.answer.probabilities
        labels[row][span] = max(probabilities, key=probabilities.__getitem__)
        start, end = each.spans[each.shares.index(max(each.shares))]
        top_words[row][span] = start + aspect.sentence_start, end + aspect.sentence_start
    answers = [
        ReviewAnswer([(each.start, each.end) for each in found[row]] if found else None, labels[row], top_words[row])
        for row in range(len(reviews))
    ]
    return score_reviews(reviews, answers, classifier.labels)


def _in_sentence(text: str, span: Span) -> FoundAspect:
    """Return an aspect in its sentence; in the text, if it is in several."""
    inside = ((start, end) for start, end in split_sentences(text) if start <= span[0] and span[1] <= end)
    start, end = next(inside, (0, len(text)))
    return FoundAspect(text[slice(*span)], *span, text[start:end], start)
