"""Scores of found aspects, alone and with their labels, counted by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import pytest
from tests.runs.toy_runtime import ToyRuntime

import pssa
from pssa.aspects import AspectSentence, NameFinder, evaluate_aspects, evaluate_end_to_end, evaluate_reviews
from pssa.data.example import Corpus, Example
from pssa.data.reviews import Opinion, Review
from pssa.errors import InputError
from pssa.evaluation import SpanScores
from pssa.runs.answers import Answer, Question
from pssa.runs.classifier import Classifier


@dataclass
class Says:
    """Stands in for a classifier: the label of each aspect."""

    labels: dict[str, str]

    def start(self, questions: Sequence[Question]) -> Callable[[], list[list[Answer]]]:
        return lambda: [
            [Answer(self.labels[each.text[a:b]], {}, each.text[a:b], a, b) for a, b in each.aspects or ()]
            for each in questions
        ]


SENTENCES = (
    AspectSentence.build("The Screen isn't bad, the fan's loud.", [(4, 10), (26, 29)]),
    AspectSentence.build("A keyboard.", []),
    AspectSentence.build("The staff!", [(4, 9)]),
)


def labelled(*given: tuple[str, str, str]) -> Corpus:
    return Corpus(
        tuple(
            Example.from_text(text, (text.index(aspect), text.index(aspect) + len(aspect)), label=label)
            for text, aspect, label in given
        )
    )


def test_an_aspect_is_right_with_its_label_wherever_the_labels_are_written() -> None:
    finder = NameFinder(("screen", "fan", "keyboard", "staff"))
    classifier: Any = Says({"Screen": "positive", "fan": "positive", "keyboard": "neutral", "staff": "negative"})
    # Labels of a tokenised file; that of the staff is not known.
    corpus = labelled(
        ("the screen is n't bad , the fan 's loud .", "screen", "positive"),
        ("the screen is n't bad , the fan 's loud .", "fan", "negative"),
    )
    assert evaluate_aspects(finder, SENTENCES).right == 3
    scores = evaluate_end_to_end(finder, cast(Classifier, classifier), SENTENCES, corpus)
    assert (scores.gold, scores.found, scores.right, scores.left_out) == (2, 3, 1, 1)
    assert scores.as_dict()["f1"] == pytest.approx(2 / 5)


def test_labels_of_other_sentences_are_refused() -> None:
    classifier: Any = Says({"fan": "positive"})
    with pytest.raises(InputError, match="label"):
        evaluate_end_to_end(NameFinder(("fan",)), classifier, SENTENCES, labelled(("Another.", "Another", "positive")))


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

    scores = evaluate_reviews(classifier, [review], NameFinder(("food", "rain")))
    assert scores.spans == SpanScores(gold=3, found=2, right=2)
    assert scores.labels is not None
    assert scores.labels.accuracy == pytest.approx(sum(right) / 3)
    assert scores.top_word == pytest.approx(sum(top == words for top, words in zip(tops, (0, 27, 43), strict=True)) / 3)
    assert scores.overall is None  # nothing is said about a text whose aspects are looked for by name
    blind = ToyRuntime()
    blind.finds = False
    assert evaluate_reviews(Classifier(blind), [review]).spans is None
