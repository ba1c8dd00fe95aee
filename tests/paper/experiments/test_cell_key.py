"""A key holds what decides an outcome, and nothing that does not: the ledger survives new versions and new settings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.paper.experiments.described import from_description
from tests.paper.experiments.rooms import tiny_resources

import pssa
from paper.experiments import cell_key
from paper.experiments.cells import Analysis, Cell, Mining, Place, Training
from paper.experiments.resources import MEASURED_WITH
from pssa.runs import resolve as resolving

RESULTS = Path(__file__).parents[3] / "results"
HERE = Place("laptop", "memnet", 0)
# Options whose defaults have changed since the first records: what those were measured with.
_TNET = {"gating": "adaptive", "initial_bound": 0.01}
FIRST_OPTIONS: dict[str, dict[str, Any]] = {"memnet": {"hops": 1}, "tnet": _TNET, "tnet_att": _TNET}
AGREED = Mining(HERE, "consensus")
CELLS: dict[str, Cell] = {
    "baseline": Training(HERE),
    "mining": Mining(HERE, "pg-as"),
    "rounds": Training(HERE, evidence=Mining(HERE, "pg-as")),
    "consensus": AGREED,
    "human": Mining(HERE, "human"),
    "supervised": Training(HERE, evidence=AGREED),
    "look": Analysis(Training(HERE, evidence=AGREED), "heat"),
}


@pytest.fixture(autouse=True)
def _no_memory() -> Iterator[None]:
    yield
    cell_key._changed.cache_clear()


@pytest.mark.parametrize(
    ("table", "model", "value", "changed"),
    [
        ("_TUNED_GAMMA", "memnet", 3.0, {"rounds"}),
        ("_CONSENSUS_GAMMA", "memnet", 3.0, {"supervised", "look"}),
        ("_EPSILON", "memnet", 2.5, {"mining", "rounds", "consensus", "supervised", "look"}),
        ("_TUNED_GAMMA", "tnet_att", 3.0, set()),
    ],
)
def test_a_default_that_changes_makes_other_cells_of_those_that_it_decides(
    table: str, model: str, value: float, changed: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resources = tiny_resources(tmp_path)
    before = {name: resources.key(cell) for name, cell in CELLS.items()}
    cell_key._changed.cache_clear()
    monkeypatch.setitem(getattr(resolving, table), model, value)
    assert {name for name, cell in CELLS.items() if resources.key(cell) != before[name]} == changed


def test_a_default_that_has_changed_makes_other_cells_of_those_it_decides(tmp_path: Path) -> None:
    today = tiny_resources(tmp_path)
    measured = replace(today, settings={**today.settings, **MEASURED_WITH})
    found = {name for name, cell in CELLS.items() if today.key(cell) != measured.key(cell)}
    assert found == {"consensus", "supervised", "look"}


def test_a_new_version_keeps_every_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    resources = tiny_resources(tmp_path)
    before = {name: resources.key(cell) for name, cell in CELLS.items()}
    monkeypatch.setattr(pssa, "__version__", "99.0")
    assert {name: resources.key(cell) for name, cell in CELLS.items()} == before


def test_every_record_of_the_results_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    records = [json.loads(line) for line in (RESULTS / "cells.jsonl").read_text("utf-8").splitlines()]
    assert len(records) > 1000
    lost = [record for record in records if record["key"] not in _keys(record)]
    # At first a consensus had the gamma of rounds.
    monkeypatch.setattr(resolving, "_CONSENSUS_GAMMA", {})
    cell_key._changed.cache_clear()
    assert [record["cell"] for record in lost if record["key"] not in _keys(record)] == []


def _keys(record: dict[str, Any]) -> Iterator[str]:
    cell = from_description(record["cell"])
    for first in ({}, FIRST_OPTIONS.get(cell.place.model, {})):
        yield cell_key.cell_key(cell, record["files"], {**MEASURED_WITH, **first})
