"""Scores of whole reviews, counted by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from pssa.data.reviews import Opinion, Review
from pssa.errors import InputError
from pssa.evaluation import ReviewAnswer, SpanScores, score_reviews

#             0    5      12
FIRST = Review(
    "loud fan , bright screen",
    (
        Opinion("negative", (5, 8), ((0, 4),)),
        Opinion("positive", (18, 24), ((11, 17),)),
        Opinion("positive", (18, 24)),  # the same aspect again, without marked words
        Opinion("positive", None),
        Opinion("positive", None, ((11, 17),)),
    ),
)
# The mouse has two labels; its implied opinions differ.
SECOND = Review(
    "good mouse , bad mouse , dear cable",
    (
        Opinion("positive", (5, 10), ((0, 4),)),
        Opinion("negative", (5, 10), ((13, 16),)),
        Opinion("negative", (30, 35), ((25, 29), (13, 16))),
        Opinion("positive"),
        Opinion("negative"),
    ),
)
THIRD = Review("it came on monday")
REVIEWS = (FIRST, SECOND, THIRD)

ANSWERS = (
    ReviewAnswer(
        found=[(5, 8), (5, 8), (17, 24)],
        labels={(5, 8): "negative", (18, 24): "negative"},
        top_words={(5, 8): (0, 4), (18, 24): (9, 10)},
        overall="positive",
    ),
    ReviewAnswer(
        found=[(5, 10), (30, 35)],
        labels={(5, 10): "positive", (30, 35): "negative"},
        top_words={(5, 10): (0, 4), (30, 35): (13, 16)},
        overall="negative",
    ),
    ReviewAnswer(found=[], labels={}, top_words={}, overall="negative"),
)


def test_a_case_worked_by_hand() -> None:
    scores = score_reviews(REVIEWS, ANSWERS)
    # In the data the fan, the screen, the mouse and the cable; found the fan (once), half a screen, the mouse and the cable.
    assert scores.spans == SpanScores(gold=4, found=4, right=3)
    assert (scores.reviews, scores.two_labels, scores.overall_differ) == (3, 1, 1)
    # Answers about fan (negative), screen (positive) and cable (negative), all said to be negative.
    assert scores.labels is not None
    assert (scores.labels.instances, scores.labels.accuracy) == (3, 2 / 3)
    assert scores.labels.macro_f1 == pytest.approx((0 + 0.8 + 0) / 3)
    assert scores.labels.commonest_share == 2 / 3
    # The cable's word is one of two marked places, the screen's is not marked; the mouse does not count.
    assert (scores.top_word, scores.top_word_instances) == (2 / 3, 3)
    # The first text is positive, the third has no opinion.
    assert scores.overall is not None
    assert scores.overall.confusion == ((1, 0, 0, 0), (0, 0, 0, 0), (0, 0, 0, 0), (0, 1, 0, 0))
    assert scores.overall.macro_f1 == 1 / 4


def test_scores_are_plain_values_for_json() -> None:
    values = json.loads(json.dumps(score_reviews(REVIEWS, ANSWERS).as_dict()))
    assert values["spans"]["f1"] == 3 / 4
    assert values["overall"]["commonest_share"] == 1 / 2
    assert values["overall"]["labels"][-1] == "none"


def test_a_part_that_a_model_does_not_answer_has_no_score() -> None:
    scores = score_reviews(REVIEWS, [ReviewAnswer(found=answer.found) for answer in ANSWERS])
    assert scores.spans == SpanScores(gold=4, found=4, right=3)
    assert (scores.labels, scores.top_word, scores.overall) == (None, None, None)
    assert scores.as_dict()["labels"] is None


def test_a_found_aspect_counts_with_its_label() -> None:
    found = [{(5, 8): "negative", (17, 24): "positive"}, {(5, 10): "positive", (30, 35): "positive"}, {}]
    scores = score_reviews(REVIEWS, [ReviewAnswer(found=each) for each in found])
    assert scores.spans == SpanScores(gold=4, found=4, right=3)
    # The mouse has two labels and is left out; the cable is found with another label than its own.
    assert scores.labelled_spans == SpanScores(gold=3, found=3, right=1)
    assert scores.as_dict()["spans"]["labelled"]["right"] == 1
    assert score_reviews(REVIEWS, ANSWERS).labelled_spans is None


def test_a_top_word_counts_only_where_words_are_marked() -> None:
    alone = replace(FIRST, opinions=(Opinion("negative", (5, 8)), *FIRST.opinions[1:]))
    scores = score_reviews([alone], ANSWERS[:1])
    assert (scores.top_word, scores.top_word_instances) == (0.0, 1)
    without = score_reviews([THIRD], [ReviewAnswer(labels={}, top_words={})])
    assert (without.labels, without.top_word) == (None, None)


def test_a_word_lies_in_an_opinion_as_a_whole() -> None:
    review = Review("works well-enough today", (Opinion("positive", (18, 23), ((6, 17),)),))
    words: dict[tuple[int, int], bool] = {(6, 17): True, (6, 10): True, (0, 10): False, (0, 5): False}
    for word, lies in words.items():
        assert score_reviews([review], [ReviewAnswer(top_words={(18, 23): word})]).top_word == lies
    assert score_reviews([review], [ReviewAnswer(top_words={})]).top_word == 0  # no word at all


@pytest.mark.parametrize(
    ("reviews", "answers", "what"),
    [
        ((), (), "at least one"),
        (REVIEWS, ANSWERS[:2], "3 reviews and 2 answers"),
        (REVIEWS, (*ANSWERS[:2], ReviewAnswer()), "`found`"),
        ((FIRST,), (replace(ANSWERS[0], labels={(5, 8): "negative"}),), "18-24"),
        ((FIRST,), (replace(ANSWERS[0], labels={(5, 8): "bad", (18, 24): "positive"}),), "bad"),
        ((FIRST,), (replace(ANSWERS[0], overall="mixed"),), "mixed"),
    ],
)
def test_answers_that_misfit_are_refused(reviews: Sequence[Review], answers: Sequence[ReviewAnswer], what: str) -> None:
    with pytest.raises(InputError, match=what):
        score_reviews(reviews, answers)
