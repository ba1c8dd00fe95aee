"""Refined self-attention, on toys."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.models.encoders import write_encoder
from tests.paper.experiments.rooms import tiny_resources
from tests.paper.studies.exhibits.toys import carried_out, row_of

from paper.experiments.cells import Mining, Place, Training, settings
from paper.experiments.resources import Scope
from paper.studies.exhibits import find
from pssa.runs.settings import Config

EXHIBIT = find("self-attention")
ATT, PLAIN, CLS = (Place("laptop", model, 0) for model in ("bertabsa_att", "bertabsa", "bertabsa_cls"))
HEADS = ("random_head", "smallest_entropy", "average")


def refined(place: Place, heads: str) -> Training:
    chosen = settings(refine=heads)
    return Training(place, evidence=(Mining(place, "pg-as", chosen),), settings=chosen)


def test_miners_of_refined_models_are_refined_and_trained_anew() -> None:
    (mining,) = refined(CLS, "average").evidence
    assert not mining.needs_weights


def test_the_heads_are_options_of_the_models() -> None:
    for heads in HEADS:
        for model in ("bertabsa", "bertabsa_cls"):
            assert Config().updated({"model": model, "refine": heads}).options == {"refine": heads}


@pytest.mark.slow
def test_a_refined_row_is_mined_and_trained_for_real(tmp_path: Path) -> None:
    write_encoder(tmp_path / "encoder")
    resources = replace(tiny_resources(tmp_path, 20), encoder=tmp_path / "encoder")
    row = refined(CLS, "average")
    found = carried_out([row, *row.needs], resources, tmp_path / "out")
    assert sum(each["active"] + each["misleading"] for each in found.records[row.evidence[0]]["rounds"].values()) > 0
    (table,) = EXHIBIT.show(Scope(resources, 1), found)
    assert row_of(table, "BERTABSA-CLS (PG-AS)", "average")[0] == 1
    assert row_of(table, "BERTABSA-CLS (PG-AS)", "average")[3] is not None
