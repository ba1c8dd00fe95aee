"""Score a tagger by exact spans, and a classifier on whole reviews; texts without aspects count too."""

from __future__ import annotations

from collections.abc import Sequence

from pssa.aspects.find import Finder
from pssa.aspects.spans import AspectSentence
from pssa.data.reviews import NO_OPINION, Review
from pssa.evaluation.metrics import SpanScores, score_spans
from pssa.evaluation.reviews import ReviewAnswer, ReviewScores, score_reviews
from pssa.runs.answers import Answer, Question
from pssa.runs.classifier import Classifier


def evaluate_aspects(finder: Finder, sentences: Sequence[AspectSentence]) -> SpanScores:
    """Compare what a tagger finds in each sentence, read as one sentence, with its aspects."""
    found = finder.find_in_sentences([sentence.text for sentence in sentences])
    return score_spans([sentence.aspects for sentence in sentences], found)


def evaluate_reviews(classifier: Classifier, reviews: Sequence[Review]) -> ReviewScores:
    """Score what a classifier finds in whole reviews, and what it says of the marked aspects.

    The top word is that with the highest share in the reasons of the classifier, where reviews mark the words of opinions.
    """
    found: list[list[Answer]] | None = None
    if classifier.finds:
        found = classifier.start([Question(review.text) for review in reviews])()
    # Only some models say something about a text as a whole.
    says_overall = found is not None and any(not answer.end for inside in found for answer in inside)
    marked = [tuple(span for span, label in review.aspects.items() if label) for review in reviews]
    asked = [Question(review.text, spans) for review, spans in zip(reviews, marked, strict=True)]
    marks_words = any(opinion.words for review in reviews for opinion in review.opinions)
    answers = []
    for row, (spans, judged) in enumerate(zip(marked, classifier.start(asked, reasons=marks_words)(), strict=True)):
        inside = found[row] if found else []
        overall = next((_top_label(answer) for answer in inside if not answer.end), NO_OPINION)
        tops = [max(answer.words, key=lambda word: word.share) for answer in judged] if marks_words else []
        answers.append(
            ReviewAnswer(
                {(answer.start, answer.end): _top_label(answer) for answer in inside if answer.end} if found else None,
                {span: _top_label(answer) for span, answer in zip(spans, judged, strict=True)},
                {span: (word.start, word.end) for span, word in zip(spans, tops, strict=False)},
                overall if says_overall else None,
            )
        )
    return score_reviews(reviews, answers, classifier.labels)


def _top_label(answer: Answer) -> str:
    return max(answer.probabilities, key=answer.probabilities.__getitem__)
