"""The first screen of a report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.report.documents import parse

from pssa.data.example import Corpus
from pssa.evaluation import score
from pssa.report.run_reader import ReportedRun
from pssa.report.summary import label_drivers, summary_section
from pssa.runs import load
from pssa.runs.evaluate import Evaluation

LABELS = ("positive", "negative")
GOLD = ("positive",) * 30 + ("negative",) * 20


def judged(n_right: int) -> Evaluation:
    """A model that is right on so many positives, and on every negative."""
    predicted = ("positive",) * n_right + ("negative",) * (50 - n_right)
    return Evaluation(score(GOLD, predicted, LABELS), {}, GOLD, predicted)


@pytest.fixture(scope="module")
def reported(run: Path) -> ReportedRun:
    return ReportedRun.open(run)


def said(reported: ReportedRun, results: dict[str, Evaluation], overlap: int | None = None) -> str:
    return parse(summary_section(reported, results, {}, overlap, ()).html).text.replace("\N{NO-BREAK SPACE}", " ")


def test_scores_stand_beside_the_majority_and_the_model_before_mining(reported: ReportedRun) -> None:
    text = said(reported, {"mined": judged(30), "mined, initial model": judged(15)})
    assert "It is right on 100.0 % of 50 test instances; macro-F1 100.0 %." in text
    assert "Always answering positive would be right on 60.0 %; macro-F1 37.5 %." in text
    assert "The model before mining is right on 70.0 %" in text
    assert "mined is significantly better" in text
    assert "p < 0.001" in text
    assert "The difference may be chance" in said(reported, {"mined": judged(25), "other": judged(25)})
    assert "mined is significantly worse" in said(reported, {"mined": judged(15), "other": judged(30)})


def test_labels_come_with_their_mistakes_the_best_first(reported: ReportedRun) -> None:
    found = summary_section(reported, {"mined": judged(15)}, {}, None, ())
    rows = [[cell.text for cell in row.children] for row in parse(found.html).all("table")[0].all("tr")]
    assert rows[1:] == [
        ["negative", "72.7 %", "20", "none mistaken"],
        ["positive", "66.7 %", "30", "15 taken for negative"],
    ]


def test_small_or_known_test_data_is_said(reported: ReportedRun) -> None:
    text = said(reported, {"mined": judged(20)}, overlap=3)
    assert "This test set is small: on other sentences like these, expect it to be right on 67.0 % to 88.8 %." in text
    assert "3 have a text that the run was trained on" in text


def test_without_test_data_the_held_out_score_counts(reported: ReportedRun) -> None:
    assert reported.metrics is not None
    searched = replace(reported, metrics=reported.metrics | {"dev": {"accuracy": 0.5, "macro_f1": 0.25}})
    assert "before mining, it is right on 50.0 %; macro-F1 25.0 %." in said(searched, {})
    assert "there is no score" in said(replace(reported, metrics=reported.metrics | {"dev": None}), {})
    assert "unfinished" in said(replace(reported, metrics=None), {})


def test_drivers_are_content_words_of_predicted_labels(run: Path, held_out: Corpus) -> None:
    classifier = load(run)
    drivers = label_drivers(classifier, held_out.examples)
    assert set(drivers) <= set(classifier.torch.predicted_labels(held_out))
    words = {word for found in drivers.values() for word in found}
    assert words
    assert not words & {"the", "is", ".", ",", "and"}
