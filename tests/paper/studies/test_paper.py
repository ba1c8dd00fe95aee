"""The paper's numbers, spot-checked against its text, and against each other where two tables print the same."""

from __future__ import annotations

import statistics

import pytest

from paper.studies import paper
from paper.studies.paper import CORPUS_SIZE, DATASETS, OVERALL, RANDOM_MASKING, SELF_ATTENTION, SPEED, SPEED_PARTS

DATA = ("laptop", "rest", "twitter")


def test_tables_are_whole() -> None:
    assert len(OVERALL) == 34 * 3
    assert len(RANDOM_MASKING) == 7 * 3
    assert [len(rows) for rows in CORPUS_SIZE.values()] == [6 * 3] * 4
    assert len(SELF_ATTENTION) == 10 * 3
    assert len(SPEED) == 8 * 3
    assert len(SPEED_PARTS) == 6 * 3


def test_scores_are_accuracy_first() -> None:
    assert OVERALL["memnet", "", "laptop"] == (68.97, 63.28)
    assert OVERALL["tnet_att", "+PG-AS", "twitter"] == (73.41, 71.99)
    assert RANDOM_MASKING["bertabsa_att", "+RM-AS", "rest"] == (87.06, 80.95)
    assert CORPUS_SIZE[0.25]["bertabsa_att", "+PG-AS", "twitter"] == (73.27, 72.15)
    assert CORPUS_SIZE[0.5]["bertabsa", "", "rest"] == (84.91, 77.65)
    assert CORPUS_SIZE[0.75]["bertabsa_att", "+AW-AS", "laptop"] == (82.09, 78.91)
    assert SELF_ATTENTION["bertabsa_cls", "smallest_entropy", "laptop"] == (80.66, 77.30)
    assert SELF_ATTENTION["bertabsa", "average", "twitter"] == (77.12, 76.01)


@pytest.mark.parametrize("table", [RANDOM_MASKING, CORPUS_SIZE[1.0], SELF_ATTENTION])
def test_rows_that_tables_share_are_the_same_but_for_ensembles(table: dict[tuple[str, str, str], paper.Scores]) -> None:
    shared = {row for row in table if row in OVERALL}
    different = {row[1] for row in shared if table[row] != OVERALL[row]}
    assert different <= {"+Boosting", "+Adaboost"}
    assert {("bertabsa_att", "+PG-AS", data) for data in DATA} <= shared


def test_the_mean_gain_of_partial_gradients_is_known() -> None:
    gains = [
        (OVERALL[model, "+PG-AS", data][metric] - OVERALL[model, "", data][metric])
        for metric in (0, 1)
        for model in ("memnet", "tnet_att", "bertabsa_att")
        for data in DATA
    ]
    assert statistics.mean(gains[:9]) == pytest.approx(1.51, abs=0.005)
    assert statistics.mean(gains[9:]) == pytest.approx(2.24, abs=0.005)


def test_instances_of_the_data_sets() -> None:
    totals = {part: sum(counts) for part, counts in DATASETS.items()}
    assert totals == {
        ("laptop", "train"): 2292,
        ("laptop", "test"): 639,
        ("rest", "train"): 3591,
        ("rest", "test"): 1121,
        ("twitter", "train"): 6257,
        ("twitter", "test"): 694,
    }


@pytest.mark.parametrize("method", ["+AW-AS", "+PG-AS"])
@pytest.mark.parametrize("data", DATA)
def test_training_is_five_iterations_and_a_final_training(method: str, data: str) -> None:
    parts = 5 * SPEED_PARTS[method, "iteration", data] + SPEED_PARTS[method, "final", data]
    assert SPEED["bertabsa_att", method, data][0] == pytest.approx(parts, abs=0.2)


def test_costs_as_the_text_tells_them() -> None:
    multiples = [SPEED["bertabsa_att", "+PG-AS", data][0] / SPEED["bertabsa_att", "", data][0] for data in DATA]
    assert [round(multiple, 1) for multiple in multiples] == [16.2, 14.6, 17.7]
    assert SPEED["bertabsa", "", "laptop"] == (627.09, 6.56)
    assert SPEED["bertabsa_att", "+Adaboost", "rest"] == (6810.22, 61.32)


def test_thresholds_and_weights_as_the_text_tells_them() -> None:
    assert paper.EPSILON["bertabsa_att", "aw-as"] == 5.0
    assert paper.EPSILON["bertabsa_att", "pg-as"] == 4.0
    assert paper.EPSILON["memnet", "aw-as"] == 3.0
    assert paper.GAMMA == {"laptop": 0.1, "rest": 0.5, "twitter": 0.1}
    assert paper.CASE_STUDY[134, "fast"] == [0.087, 0.005, 0.376]
