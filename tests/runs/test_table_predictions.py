"""`Classifier.predict` and `explain` for lists and tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import pssa
from pssa.errors import InputError, PssaWarning
from pssa.runs import Classifier

ROWS = [
    {"text": "the screen is great.", "aspect": "screen", "label": "positive"},
    {"text": "the price is poor.", "aspect": "price", "label": "negative"},
]
PROBABILITIES = ["probability_positive", "probability_negative", "probability_neutral"]


@pytest.fixture(scope="module")
def classifier(finished_run: Path) -> Classifier:
    return pssa.load(finished_run)


def test_a_frame_comes_back_with_labels_and_probabilities(classifier: Classifier) -> None:
    frame = pd.DataFrame(ROWS, index=["a", "b"])
    scored = classifier.predict(frame)
    answers = [classifier.predict(row["text"], row["aspect"]) for row in ROWS]
    assert list(scored.columns) == ["text", "aspect", "gold", "label", *PROBABILITIES, "notes"]
    assert list(scored.index) == ["a", "b"]
    assert list(scored["label"]) == [answer.label for answer in answers]
    assert scored[PROBABILITIES].sum(axis=1).to_list() == pytest.approx([1, 1])
    assert list(scored["gold"]) == ["positive", "negative"]


def test_polars_and_dicts_get_the_same_numbers(classifier: Classifier) -> None:
    assert classifier.predict(pl.DataFrame(ROWS)).to_dicts() == classifier.predict(ROWS)


def test_lists_of_texts_and_aspects_give_a_list(classifier: Classifier) -> None:
    texts, aspects = [row["text"] for row in ROWS], [row["aspect"] for row in ROWS]
    assert [answer.aspect for answer in classifier.predict(texts, aspects)] == aspects
    assert [found.text for found in classifier.explain(texts, aspects)] == texts
    assert classifier.predict([], []) == []


@pytest.mark.parametrize("aspects", [["screen"], "screen"])
def test_every_text_needs_its_aspect(classifier: Classifier, aspects: Any) -> None:
    with pytest.raises(InputError, match="there are 2 texts; expected a list with"):
        classifier.predict([row["text"] for row in ROWS], aspects)


def test_what_is_no_table_is_refused(classifier: Classifier) -> None:
    with pytest.raises(InputError, match="the table is a dict; expected a frame"):
        classifier.predict({"text": ["a menu"], "aspect": ["menu"]})


def test_a_bad_row_stops_or_is_skipped_and_doubtful_ones_are_counted(classifier: Classifier) -> None:
    frame = pd.DataFrame([*ROWS, {"text": "the menu.", "aspect": "soup"}])
    with pytest.raises(InputError, match="DataFrame, line 3: aspect 'soup' is not"):
        classifier.predict(frame)
    with pytest.warns(UserWarning, match="1 of 3 rows cannot be scored"):
        scored = classifier.predict(frame, errors="skip")
    assert scored["label"].isna().to_list() == [False, False, True]
    with pytest.raises(InputError, match="errors is 'ignore'"):
        classifier.predict(frame, errors="ignore")
    rows = [{"text": "a screen is a screen", "aspect": "screen"}] * 2
    with pytest.warns(UserWarning, match="in 2 of 2 rows the aspect occurs several"):
        classifier.predict(rows)


def test_an_explanation_draws_itself(classifier: Classifier) -> None:
    page = classifier.explain("the <b>screen</b> is great.", "screen")._repr_html_()
    assert "heat-map" in page
    assert "<b>screen" not in page


def test_evaluation_takes_a_run_and_a_frame(finished_run: Path, classifier: Classifier) -> None:
    by_path = pssa.load(finished_run).evaluate(pd.DataFrame(ROWS))
    assert by_path == classifier.evaluate(pssa.read(ROWS))
    assert by_path.majority.accuracy == 0.5
    assert "macro-F1" in by_path._repr_html_()


def test_a_run_without_a_tagger_asks_the_starter_and_says_so_once(classifier: Classifier) -> None:
    frame = pd.DataFrame([{"text": "The screen is great."}])
    with pytest.warns(PssaWarning, match="starter") as told:
        scored = [classifier.predict(frame), classifier.predict(frame)]
    assert [list(each["aspect"]) for each in scored] == [["screen"]] * 2
    assert len(told) == 1
