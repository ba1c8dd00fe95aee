"""The answer has the shape of the question, whatever computes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.runs.toy_runtime import ToyRuntime

import pssa
from pssa.aspects.names import NameFinder
from pssa.errors import InputError
from pssa.runs import Answer, Classifier

TEXT = "We had the good soup. The bad waiter was there."
OTHER = "A bad soup."


@pytest.fixture(params=["toy", "starter"])
def classifier(request: pytest.FixtureRequest) -> Classifier:
    return Classifier(ToyRuntime()) if request.param == "toy" else pssa.load("starter")


def places(answers: list[Answer]) -> list[tuple[str, int, int]]:
    return [(each.aspect, each.start, each.end) for each in answers]


FOUND, ELSEWHERE = [("soup", 16, 20), ("waiter", 30, 36)], [("soup", 6, 10)]


def test_a_text_has_a_list_of_answers(classifier: Classifier) -> None:
    answers = classifier.predict(TEXT)
    assert places(answers) == FOUND
    for answer in answers:
        assert answer.label == max(answer.probabilities, key=answer.probabilities.__getitem__)
        assert sum(answer.probabilities.values()) == pytest.approx(1)


def test_texts_have_a_list_each_and_blank_ones_an_empty_list(classifier: Classifier) -> None:
    assert [places(each) for each in classifier.predict([TEXT, "", OTHER, "  "])] == [FOUND, [], ELSEWHERE, []]
    assert classifier.predict([]) == []


@pytest.mark.parametrize("kind", [pd.Series, pl.Series, pa.chunked_array])
def test_a_series_has_a_list_for_each_text(classifier: Classifier, kind: Callable[[Any], Any]) -> None:
    given = kind([[TEXT, None, OTHER]]) if kind is pa.chunked_array else kind([TEXT, None, OTHER])
    assert [places(each) for each in classifier.predict(given)] == [FOUND, [], ELSEWHERE]


def test_a_series_of_anything_else_is_refused(classifier: Classifier) -> None:
    with pytest.raises(InputError, match="line 2"):
        classifier.predict(pd.Series([TEXT, 3]))
    with pytest.raises(InputError):
        classifier.predict(np.array([3]))


def test_an_aspect_has_one_answer_which_is_that_of_the_aspect_found(classifier: Classifier) -> None:
    for found in classifier.predict(TEXT):
        for aspect in (found.aspect, (found.start, found.end)):
            named = classifier.predict(TEXT, aspect)
            assert places([named]) == places([found])
            assert (named.label, named.notes) == (found.label, found.notes)
            assert named.probabilities == pytest.approx(found.probabilities, abs=1e-6)


def test_pairs_have_an_answer_each(classifier: Classifier) -> None:
    answers = classifier.predict([(TEXT, "waiter"), (OTHER, "soup"), (TEXT, (16, 20))])
    assert places(answers) == [FOUND[1], ELSEWHERE[0], FOUND[0]]
    assert places(classifier.predict([TEXT, OTHER], ["waiter", "soup"])) == [FOUND[1], ELSEWHERE[0]]


def test_a_pair_has_one_answer(classifier: Classifier) -> None:
    for aspect in ("waiter", (30, 36)):
        assert classifier.predict((TEXT, aspect)) == classifier.predict(TEXT, aspect)


def test_probabilities_have_the_shape_of_the_question(classifier: Classifier) -> None:
    rows = [[answer.probabilities[label] for label in classifier.labels] for answer in classifier.predict(TEXT)]
    assert classifier.predict_proba(TEXT) == pytest.approx(np.array(rows))
    assert classifier.predict_proba(TEXT, "waiter") == pytest.approx(np.array(rows[1]))
    assert classifier.predict_proba([(TEXT, "waiter"), (TEXT, "soup")]) == pytest.approx(np.array(rows[::-1]))
    first, blank = classifier.predict_proba([TEXT, ""])
    assert (first.shape, blank.shape) == ((2, len(classifier.labels)), (0, len(classifier.labels)))
    with pytest.raises(InputError, match="columns"):
        classifier.predict_proba([{"text": TEXT}])


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, list])
def test_a_frame_has_a_row_for_each_aspect(classifier: Classifier, kind: Callable[[Any], Any]) -> None:
    given = [{"id": 1, "text": TEXT, "aspect": None, "label": "x"}, {"id": 2, "text": OTHER, "aspect": "soup"}]
    given += [{"id": 3, "text": "I came on Monday.", "aspect": None}]
    scored = classifier.predict(kind(given))
    rows = scored if isinstance(scored, list) else pl.DataFrame(scored).to_dicts()
    assert [(row["id"], row["aspect"]) for row in rows] == [(1, "soup"), (1, "waiter"), (2, "soup"), (3, None)]
    assert [(row["aspect"], row["from"], row["to"]) for row in rows[:3]] == FOUND + ELSEWHERE
    labels = [each.label for each in [*classifier.predict(TEXT), classifier.predict(OTHER, "soup")]]
    assert [row["label"] for row in rows] == [*labels, None]
    assert [row.get("gold") for row in rows] == ["x", "x", None, None]
    alone = classifier.predict(TEXT, "soup").probabilities["positive"]
    assert rows[0]["probability_positive"] == pytest.approx(alone, abs=1e-6)


def test_the_context_of_a_named_aspect_is_its_sentence(classifier: Classifier) -> None:
    alone = classifier.predict("The bad waiter was there.", "waiter")
    assert classifier.predict(TEXT, "waiter").probabilities == pytest.approx(alone.probabilities, abs=1e-6)


def test_names_are_looked_for_in_place_of_what_is_found(classifier: Classifier) -> None:
    named = replace(classifier, finder=NameFinder(("waiter",)))
    assert places(named.predict(TEXT)) == [FOUND[1]]


def test_a_classifier_abstains_over_any_runtime(classifier: Classifier) -> None:
    assert {answer.label for answer in classifier.abstaining(threshold=0.999).predict(TEXT)} == {"uncertain"}


def test_a_runtime_without_a_model_in_torch_says_so() -> None:
    classifier = Classifier(ToyRuntime())
    assert classifier.predict(TEXT)[0].score == 0.75
    assert classifier.predict(TEXT, "soup").score is None
    with pytest.raises(InputError, match="gradient"):
        classifier.explain(TEXT, "soup", saliency="gradient")
