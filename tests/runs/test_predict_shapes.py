"""The answer has the shape of the question, whatever computes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.runs.toy_runtime import ToyRuntime

import pssa
from pssa.aspects.names import NameFinder
from pssa.errors import InputError, PssaWarning
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


ROWS = [
    {"text": "the screen is great.", "aspect": "screen", "label": "positive"},
    {"text": "the price is poor.", "aspect": "price", "label": "negative"},
]
PROBABILITIES = ["probability_positive", "probability_negative", "probability_neutral"]


@pytest.fixture(scope="module")
def trained(finished_run: Path) -> Classifier:
    return pssa.load(finished_run)


def test_a_frame_comes_back_with_labels_and_probabilities(trained: Classifier) -> None:
    frame = pd.DataFrame(ROWS, index=["a", "b"])
    scored = trained.predict(frame)
    answers = [trained.predict(row["text"], row["aspect"]) for row in ROWS]
    assert list(scored.columns) == ["text", "aspect", "gold", "label", *PROBABILITIES, "notes"]
    assert list(scored.index) == ["a", "b"]
    assert list(scored["label"]) == [answer.label for answer in answers]
    assert scored[PROBABILITIES].sum(axis=1).to_list() == pytest.approx([1, 1])
    assert list(scored["gold"]) == ["positive", "negative"]


def test_lists_of_texts_and_aspects_have_explanations(trained: Classifier) -> None:
    texts, aspects = [row["text"] for row in ROWS], [row["aspect"] for row in ROWS]
    assert [found.text for found in trained.explain(texts, aspects)] == texts
    assert trained.predict([], []) == []
    assert trained.explain([], []) == []


@pytest.mark.parametrize("aspects", [["screen"], "screen"])
def test_every_text_needs_its_aspect(trained: Classifier, aspects: Any) -> None:
    with pytest.raises(InputError, match="there are 2 texts; expected a list with"):
        trained.predict([row["text"] for row in ROWS], aspects)


def test_what_is_no_table_is_refused(trained: Classifier) -> None:
    with pytest.raises(InputError, match="the table is a dict; expected a frame"):
        trained.predict({"text": ["a menu"], "aspect": ["menu"]})


def test_a_bad_row_stops_or_is_skipped_and_doubtful_ones_are_counted(trained: Classifier) -> None:
    frame = pd.DataFrame([*ROWS, {"text": "the menu.", "aspect": "soup"}])
    with pytest.raises(InputError, match="DataFrame, line 3: aspect 'soup' is not"):
        trained.predict(frame)
    with pytest.warns(UserWarning, match="1 of 3 rows cannot be scored"):
        scored = trained.predict(frame, errors="skip")
    assert scored["label"].isna().to_list() == [False, False, True]
    with pytest.raises(InputError, match="errors is 'ignore'"):
        trained.predict(frame, errors="ignore")
    rows = [{"text": "a screen is a screen", "aspect": "screen"}] * 2
    with pytest.warns(UserWarning, match="in 2 of 2 rows the aspect occurs several"):
        trained.predict(rows)


def test_evaluation_takes_a_run_and_a_frame(finished_run: Path, trained: Classifier) -> None:
    by_path = pssa.load(finished_run).evaluate(pd.DataFrame(ROWS))
    assert by_path == trained.evaluate(pssa.read(ROWS))
    assert by_path.majority.accuracy == 0.5
    assert "macro-F1" in by_path._repr_html_()


def test_a_run_without_a_tagger_asks_the_starter_and_says_so_once(trained: Classifier) -> None:
    frame = pd.DataFrame([{"text": "The screen is great."}])
    with pytest.warns(PssaWarning, match="starter") as told:
        scored = [trained.predict(frame), trained.predict(frame)]
    assert [list(each["aspect"]) for each in scored] == [["screen"]] * 2
    assert len(told) == 1
