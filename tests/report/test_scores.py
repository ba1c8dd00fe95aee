"""Scores of one run, or of two."""

from __future__ import annotations

from pathlib import Path

from tests.report.documents import Element, parse

from pssa.data.example import Corpus
from pssa.evaluation import score
from pssa.report.scores import show_scores
from pssa.runs import load
from pssa.runs.evaluate import Evaluation, compare, evaluate

LABELS = ("positive", "negative")
GOLD = ("positive",) * 4 + ("negative",) * 4
GOOD = Evaluation(score(GOLD, GOLD, LABELS), {}, GOLD, GOLD)
# Three of four positives are right, and half of the negatives.
_SAID = ("positive",) * 3 + ("negative",) * 3 + ("positive",) * 2
FAIR = Evaluation(score(GOLD, _SAID, LABELS), {}, GOLD, _SAID)


def cells(table: Element) -> list[list[str]]:
    return [[cell.text for cell in row.children] for row in table.all("tr")]


def tables(source: str) -> dict[str, list[list[str]]]:
    return {table.all("caption")[0].text: cells(table) for table in parse(source).all("table")}


def test_one_run_has_scores_classes_and_confusion() -> None:
    found = tables(show_scores({"fair": FAIR}).body.source)
    # F1 of positives is 6/9, of negatives 4/7.
    assert found["Scores in percent"][1] == ["fair", "8", "62.50", "61.90"]
    assert found["Classes, in percent"][1:] == [
        ["positive", "60.00", "75.00", "66.67", "4"],
        ["negative", "66.67", "50.00", "57.14", "4"],
    ]
    assert found["Confusion: gold in rows, predicted in columns"] == [
        ["gold", "positive", "negative"],
        ["positive", "3", "1"],
        ["negative", "2", "2"],
    ]


def test_confusions_say_their_share_and_whether_they_are_right() -> None:
    titles = [cell.attributes["title"] for cell in parse(show_scores({"fair": FAIR}).body.source).all("span")]
    assert titles == [
        f"{share} of the row, {worth}"
        for share, worth in (("75.0%", "right"), ("25.0%", "wrong"), ("50.0%", "wrong"), ("50.0%", "right"))
    ]


def test_two_runs_are_tested_as_the_command_tests_them() -> None:
    source = show_scores({"good": GOOD, "<fair>": FAIR}).body.source
    expected = compare(GOOD, FAIR, resamples=1000, seed=0)
    rows = tables(source)["good against <fair>"]
    assert rows[1][:2] == ["accuracy", "+37.50"]
    assert rows[1][3] == f"{expected.bootstrap.p_accuracy:.3f}"
    assert f"two-sided: p = {expected.p_mcnemar:.3f}" in source
    assert "1000 resamples" in source


def test_tags_of_the_data_are_scored_apart(run: Path, held_out: Corpus) -> None:
    result = evaluate(load(run), held_out)
    rows = tables(show_scores({"mined": result}).body.source)["By tag of the test data: accuracy / macro-F1"]
    assert [row[0] for row in rows[1:]] == list(result.slices)
    first = next(iter(result.slices.values()))
    assert rows[1][1:] == [str(first.instances), f"{100 * first.accuracy:.1f} / {100 * first.macro_f1:.1f}"]
