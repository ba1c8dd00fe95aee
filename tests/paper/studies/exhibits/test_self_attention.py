"""Refined self-attention, on toys."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.models.encoders import write_encoder
from tests.paper.experiments.rooms import FakeLookup, tiny_resources
from tests.paper.studies.exhibits.toys import ALL_OF_IT, blind, carried_out, knowing, row_of, toy_scope

from paper.experiments.cells import Cell, Mining, Place, Training, settings
from paper.experiments.ledger import Record
from paper.experiments.resources import Scope
from paper.studies.exhibits import find
from pssa.runs.settings import Config

EXHIBIT = find("self-attention")
ATT, PLAIN, CLS = (Place("laptop", model, 0) for model in ("bertabsa_att", "bertabsa", "bertabsa_cls"))
HEADS = ("random_head", "smallest_entropy", "average")


def refined(place: Place, heads: str) -> Training:
    chosen = settings(refine=heads)
    return Training(place, evidence=(Mining(place, "pg-as", chosen),), settings=chosen)


def test_cells_are_the_ten_rows(tmp_path: Path) -> None:
    assert list(EXHIBIT.cells(toy_scope(tmp_path))) == [
        Training(ATT),
        Training(ATT, evidence=(Mining(ATT, "pg-as"),)),
        Training(PLAIN),
        *(refined(PLAIN, heads) for heads in HEADS),
        Training(CLS),
        *(refined(CLS, heads) for heads in HEADS),
    ]


def test_miners_of_refined_models_are_refined_and_trained_anew() -> None:
    (mining,) = refined(CLS, "average").evidence
    assert not mining.needs_weights


def test_the_heads_are_options_of_the_models() -> None:
    for heads in HEADS:
        for model in ("bertabsa", "bertabsa_cls"):
            assert Config().updated({"model": model, "refine": heads}).options == {"refine": heads}


def test_rows_gain_over_their_own_model(tmp_path: Path) -> None:
    records: dict[Cell, Record] = {
        Training(CLS): blind(),
        refined(CLS, "average"): knowing(),
        Training(PLAIN): knowing(),
    }
    (table,) = EXHIBIT.show(toy_scope(tmp_path), FakeLookup(records))
    assert row_of(table, "BERTABSA-CLS (PG-AS)", "average") == (
        *(1, "100.00", "100.00", ALL_OF_IT),
        *("81.01 / 78.01", "+18.99 / +21.99"),
    )
    assert row_of(table, "BERTABSA-CLS", None)[:4] == (1, "33.33", "16.67", None)


def test_what_is_missing_is_empty(tmp_path: Path) -> None:
    (table,) = EXHIBIT.show(toy_scope(tmp_path), FakeLookup())
    not_measured = row_of(table, "BERTABSA (PG-AS)", "smallest entropy")
    assert not_measured == (0, None, None, None, "81.85 / 78.45", None)
    assert len(getattr(table, "rows", ())) == 10


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
