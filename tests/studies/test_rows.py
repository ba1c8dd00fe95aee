"""Rows of the paper's tables: what stands behind their names."""

from __future__ import annotations

import pytest

from pssa.experiments.cells import Mining, Place, Training, settings
from pssa.studies.paper import GAMMA
from pssa.studies.rows import ATTENDING, METHODS, paper_rows, refined

PLACE = Place("rest", "tnet_att", 1)
PG = Mining(PLACE, "pg-as")


def test_names_of_methods_are_those_of_the_table() -> None:
    assert all(name == method.name for name, method in METHODS.items())
    assert [row.name for row in paper_rows("tnet")] == ["", "+KT"]
    for model in ATTENDING:
        assert [row.name for row in paper_rows(model)][-3:] == ["+Consensus", "+Human", "again"]


@pytest.mark.parametrize(
    ("name", "training"),
    [
        ("", Training(PLACE)),
        ("+Adaboost", Training(PLACE, "adaboost")),
        ("+PG-AS", Training(PLACE, evidence=(PG,))),
        ("+PG-AS_m", Training(PLACE, evidence=(PG,), settings=settings(words="misleading"))),
        (
            "+PG-AS, paper's penalty",
            Training(PLACE, evidence=(PG,), settings=settings(gamma=GAMMA["rest"], penalty="letter")),
        ),
        ("again", Training(PLACE, evidence=(Mining(PLACE, "aw-as"),), settings=settings(gamma=0.0))),
    ],
)
def test_a_row_in_a_place_is_a_training(name: str, training: Training) -> None:
    assert METHODS[name].training_in(PLACE) == training


def test_the_paper_s_penalty_is_tried_on_one_data_set_of_encoders() -> None:
    row = METHODS["+AW-AS, paper's penalty"]
    assert row.is_tried("memnet", "rest")
    assert row.is_tried("bertabsa_att", "laptop")
    assert not row.is_tried("bertabsa_att", "rest")
    assert METHODS["+AW-AS"].is_tried("bertabsa_att", "rest")


def test_a_refined_model_is_mined_by_one_that_is_refined_alike() -> None:
    chosen = settings(refine="average")
    place = Place("rest", "bertabsa", 0)
    assert refined("average").training_in(place) == Training(
        place, evidence=(Mining(place, "pg-as", chosen),), settings=chosen
    )
