"""Scores by hand, and equal to scikit-learn's on random cases."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pssa.errors import InputError
from pssa.evaluation.metrics import ClassScores, SpanScores, score, score_spans

LABELS = ("positive", "negative", "neutral")
pairs = st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1, max_size=60)


def test_a_case_worked_by_hand_and_a_declared_label_that_never_occurs_lowers_macro_f1() -> None:
    gold = ["positive", "positive", "positive", "negative", "negative"]
    predicted = ["positive", "positive", "negative", "negative", "neutral"]
    scores = score(gold, predicted, LABELS)
    assert scores.confusion == ((2, 1, 0), (0, 1, 1), (0, 0, 0))
    assert (scores.instances, scores.accuracy) == (5, 3 / 5)
    assert scores.per_class == {
        "positive": ClassScores(precision=1.0, recall=2 / 3, f1=0.8, support=3),
        "negative": ClassScores(precision=0.5, recall=0.5, f1=0.5, support=2),
        "neutral": ClassScores(precision=0.0, recall=0.0, f1=0.0, support=0),
    }
    assert scores.macro_f1 == pytest.approx(1.3 / 3)
    assert score(["a", "b"], ["a", "b"], ("a", "b")).macro_f1 == 1.0
    assert score(["a", "b"], ["a", "b"], ("a", "b", "c")).macro_f1 == pytest.approx(2 / 3)


@pytest.mark.slow
@settings(deadline=None)  # the first example imports scikit-learn
@given(pairs)
def test_scores_equal_those_of_scikit_learn(drawn: list[tuple[str, str]]) -> None:
    from sklearn.metrics import accuracy_score, confusion_matrix, f1_score, precision_recall_fscore_support

    gold, predicted = [g for g, _ in drawn], [p for _, p in drawn]
    scores = score(gold, predicted, LABELS)
    assert scores.accuracy == accuracy_score(gold, predicted)
    expected = f1_score(gold, predicted, average="macro", labels=list(LABELS), zero_division=0)
    assert scores.macro_f1 == pytest.approx(expected, rel=1e-14)
    assert [list(row) for row in scores.confusion] == confusion_matrix(gold, predicted, labels=list(LABELS)).tolist()
    columns = precision_recall_fscore_support(gold, predicted, labels=list(LABELS), zero_division=0)
    for label, (precision, recall, f1, support) in zip(LABELS, zip(*columns, strict=True), strict=True):
        ours = scores.per_class[label]
        assert (ours.precision, ours.recall, ours.support) == (precision, recall, support)
        assert ours.f1 == pytest.approx(f1, rel=1e-14)


def test_scores_survive_json() -> None:
    record = score(["positive", "negative"], ["positive", "positive"], LABELS).as_dict()
    assert json.loads(json.dumps(record)) == record
    assert record["instances"] == 2
    assert record["accuracy"] == 0.5
    assert record["per_class"] == {
        "positive": {"precision": 0.5, "recall": 1.0, "f1": 2 / 3, "support": 1},
        "negative": {"precision": 0.0, "recall": 0.0, "f1": 0.0, "support": 1},
        "neutral": {"precision": 0.0, "recall": 0.0, "f1": 0.0, "support": 0},
    }


@pytest.mark.parametrize(
    ("gold", "predicted", "labels", "what"),
    [
        (["a"], ["a", "b"], ("a", "b"), "1 gold labels and 2 predictions"),
        ([], [], ("a", "b"), "no instances to score"),
        (["a"], ["c"], ("a", "b"), "label 'c' is not one of the labels a, b"),
        (["c"], ["a"], ("a", "b"), "label 'c' is not one of the labels a, b"),
        (["a"], ["a"], ("a", "a"), "declared twice"),
    ],
)
def test_what_has_no_score_is_refused(
    gold: list[str], predicted: list[str], labels: tuple[str, ...], what: str
) -> None:
    with pytest.raises(InputError, match=what):
        score(gold, predicted, labels)


def test_exact_spans_are_counted_as_semeval_does() -> None:
    gold = [[(0, 4), (5, 9)], [], [(0, 3)]]
    found = [[(0, 4), (5, 8)], [(1, 2)], []]
    scores = score_spans(gold, found)
    assert scores == SpanScores(gold=3, found=3, right=1)
    assert scores.as_dict() == {"precision": 1 / 3, "recall": 1 / 3, "f1": 1 / 3, "gold": 3, "found": 3, "right": 1}
    assert SpanScores(0, 0, 0).f1 == SpanScores(0, 0, 0).precision == SpanScores(0, 0, 0).recall == 0
