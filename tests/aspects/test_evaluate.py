"""Scores of a run on whole reviews, counted by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.runs.toy_runtime import ToyRuntime

import pssa
from pssa.aspects import NameFinder, evaluate_reviews
from pssa.data.reviews import Opinion, Review
from pssa.evaluation import SpanScores
from pssa.runs.classifier import Classifier


def test_a_run_is_scored_on_whole_reviews_with_each_aspect_in_its_sentence() -> None:
    classifier = pssa.load("starter")
    text = "Good food . The waiter was rude , the food cold . It rained ."
    review = Review(
        text,
        (
            Opinion("positive", (5, 9), ((0, 4),)),
            Opinion("negative", (16, 22), ((27, 31),)),
            Opinion("negative", (38, 42), ((43, 47),)),
            Opinion("positive"),
        ),
    )
    sentences = ("Good food .", (5, 9), 0), (text[12:49], (4, 10), 12), (text[12:49], (26, 30), 12)
    expected = [classifier.explain(sentence, span) for sentence, span, _ in sentences]
    tops = [
        found.spans[found.shares.index(max(found.shares))][0] + start
        for found, (*_, start) in zip(expected, sentences, strict=True)
    ]
    right = [
        found.answer.label == label for found, label in zip(expected, ("positive", "negative", "negative"), strict=True)
    ]

    scores = evaluate_reviews(replace(classifier, finder=NameFinder(("food", "rain"))), [review])
    assert scores.spans == SpanScores(gold=3, found=2, right=2)
    assert scores.labelled_spans == SpanScores(gold=3, found=2, right=right[0] + right[2])
    assert scores.labels is not None
    assert scores.labels.accuracy == pytest.approx(sum(right) / 3)
    assert scores.top_word == pytest.approx(sum(top == words for top, words in zip(tops, (0, 27, 43), strict=True)) / 3)
    assert scores.overall is None  # nothing is said about a text whose aspects are looked for by name
    blind = ToyRuntime()
    blind.finds = False
    assert evaluate_reviews(Classifier(blind), [review]).spans is None
