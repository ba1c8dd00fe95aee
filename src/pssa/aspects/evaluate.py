"""Score a tagger by exact spans, and a classifier, with a tagger or without, on whole reviews.

All sentences are counted together, those without aspects included.

End to end, a tagger finds aspects and a classifier judges them: an aspect is right if its offsets and its label are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pssa.aspects.find import Finder
from pssa.aspects.spans import AspectSentence
from pssa.data.example import Corpus
from pssa.data.reviews import NO_OPINION, Review
from pssa.data.tokenize import Span
from pssa.errors import InputError
from pssa.evaluation.metrics import SpanScores, score_spans
from pssa.evaluation.reviews import ReviewAnswer, ReviewScores, score_reviews
from pssa.runs.answers import Answer, Question
from pssa.runs.classifier import Classifier

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
    asked = [Question(sentence.text, inside) for sentence, inside in zip(sentences, spans, strict=True)]
    answers = classifier.start(asked)()
    n_gold = n_found = n_right = n_left_out = 0
    for sentence, inside in zip(sentences, answers, strict=True):
        gold = {span: labels.get(_place(sentence.text, span)) for span in sentence.aspects}
        n_left_out += sum(label is None for label in gold.values())
        n_gold += sum(label is not None for label in gold.values())
        for answer in inside:
            span = (answer.start, answer.end)
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
    """Score what a classifier finds in whole reviews, and what it says of the marked aspects.

    The top word is that with the highest share in the reasons of the classifier.

    :param finder: of the aspects, in place of the classifier's own.
    """
    classifier = classifier if finder is None else replace(classifier, finder=finder)
    found: list[list[Answer]] | None = None
    if classifier.finds:
        found = classifier.start([Question(review.text) for review in reviews])()
    # Only some models say something about a text as a whole.
    says_overall = found is not None and any(not answer.end for inside in found for answer in inside)
    marked = [tuple(span for span, label in review.aspects.items() if label) for review in reviews]
    asked = [Question(review.text, spans) for review, spans in zip(reviews, marked, strict=True)]
    answers = []
    for row, (spans, judged) in enumerate(zip(marked, classifier.start(asked, reasons=True)(), strict=True)):
        inside = found[row] if found else []
        overall = next((_top_label(answer) for answer in inside if not answer.end), NO_OPINION)
        tops = [max(answer.words, key=lambda word: word.share) for answer in judged]
        answers.append(
            ReviewAnswer(
                [(answer.start, answer.end) for answer in inside if answer.end] if found else None,
                {span: _top_label(answer) for span, answer in zip(spans, judged, strict=True)},
                {span: (word.start, word.end) for span, word in zip(spans, tops, strict=True)},
                overall if says_overall else None,
            )
        )
    return score_reviews(reviews, answers, classifier.labels)


def _top_label(answer: Answer) -> str:
    return max(answer.probabilities, key=answer.probabilities.__getitem__)
