"""The paper's numbers, spot-checked against its text, and against each other where two tables print the same."""

from __future__ import annotations

import statistics

import pytest

from paper.studies import paper
from paper.studies.paper import CORPUS_SIZE, OVERALL, RANDOM_MASKING, SELF_ATTENTION

DATA = ("laptop", "rest", "twitter")


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
