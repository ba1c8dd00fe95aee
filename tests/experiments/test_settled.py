"""Keys hold the defaults that decide an outcome, and no others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.experiments.rooms import tiny_resources

from pssa.experiments import settled as settling
from pssa.experiments.cells import Cell, Look, Mining, Place, Timing, Training
from pssa.experiments.settled import settled
from pssa.runs import defaults

HERE = Place("laptop", "memnet", 0)
AGREED = Mining(HERE, "consensus")
CELLS: dict[str, Cell] = {
    "baseline": Training(HERE),
    "mining": Mining(HERE, "pg-as"),
    "consensus": AGREED,
    "human": Mining(HERE, "human"),
    "supervised": Training(HERE, evidence=(AGREED,)),
    "look": Look(Training(HERE, evidence=(AGREED,)), "heat"),
    "timing": Timing(HERE, ("base", "pg-as")),
}


@pytest.fixture(autouse=True)
def _no_memory() -> Iterator[None]:
    yield
    settling._sections.cache_clear()


@pytest.mark.parametrize(
    ("table", "model", "value", "changed"),
    [
        ("_TUNED_GAMMA", "memnet", 3.0, {"supervised", "look", "timing"}),
        ("_EPSILON", "memnet", 2.5, {"mining", "consensus", "supervised", "look", "timing"}),
        ("_TUNED_GAMMA", "tnet_att", 3.0, set()),
    ],
)
def test_a_default_that_changes_makes_other_cells_of_those_that_it_decides(
    table: str, model: str, value: float, changed: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resources = tiny_resources(tmp_path)
    before = {name: resources.key(cell) for name, cell in CELLS.items()}
    settling._sections.cache_clear()
    monkeypatch.setitem(getattr(defaults, table), model, value)
    assert {name for name, cell in CELLS.items() if resources.key(cell) != before[name]} == changed


def test_defaults_of_training_and_of_a_consensus_count_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    resources = tiny_resources(tmp_path)
    before = {name: resources.key(cell) for name, cell in CELLS.items()}
    settling._sections.cache_clear()
    monkeypatch.setitem(defaults._USUAL_CONSENSUS, "consensus_threshold", 0.3)
    found = {name for name, cell in CELLS.items() if resources.key(cell) != before[name]}
    assert found == {"consensus", "supervised", "look"}
    settling._sections.cache_clear()
    monkeypatch.setitem(defaults._USUAL_TRAINING["words"], "max_epochs", 30)
    found = {name for name, cell in CELLS.items() if resources.key(cell) != before[name]}
    assert found == set(CELLS) - {"human"}


def test_files_are_left_to_their_fingerprints() -> None:
    (found,) = settled(CELLS["supervised"], {"vectors": "glove.txt"})
    assert found["supervision"]["gamma"] == defaults._TUNED_GAMMA["memnet"]
    assert not {"train", "vectors", "encoder", "evidence", "columns"} & {
        name for section in found.values() for name in section
    }
