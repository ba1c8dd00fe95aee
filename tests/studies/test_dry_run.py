"""How much work exhibits are, counted on toys."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from tests.experiments.rooms import tiny_resources
from tests.studies.stand_in import MORE, QUICK, counting

from pssa.experiments.cells import Look, Mining, Place, Training, describe
from pssa.experiments.ledger import Ledger
from pssa.experiments.provenance import FreshLedger, maker_here
from pssa.experiments.scope import Scope
from pssa.studies.dry_run import Load, workload
from pssa.studies.exhibit import Exhibit

PLACE = Place("laptop", "memnet", 0)
LOOKED = counting("looked", lambda scope: [Look(Training(PLACE), "agreement")])


def scope_and_ledger(folder: Path, *cells: Training | Mining, **more: object) -> Scope:
    """A ledger with outcomes of these cells."""
    scope = Scope(tiny_resources(folder), seeds=1)
    with Ledger.open(folder / "out" / "cells.jsonl") as ledger:
        for cell in cells:
            ledger.append({"key": scope.resources.key(cell), "cell": describe(cell), **more})
    return scope


def test_cells_that_exhibits_share_count_once(tmp_path: Path) -> None:
    # A baseline, a mining and the training that it supervises; the same baseline and one that trains on.
    found = workload([QUICK, MORE], scope_and_ledger(tmp_path, Training(PLACE, "kt")), tmp_path / "out")
    assert found.exhibits == {"quick": Load(3, 0, 3), "more": Load(2, 1, 1)}
    assert found.total == Load(4, 1, 3)


def test_a_model_whose_parameters_are_needed_again_is_to_do(tmp_path: Path) -> None:
    scope = scope_and_ledger(tmp_path, Training(PLACE))
    assert workload([LOOKED], scope, tmp_path / "out").total == Load(cells=2, there=1, to_do=2)


def test_what_other_sources_made_can_be_left_out(tmp_path: Path) -> None:
    scope = scope_and_ledger(tmp_path, Training(PLACE), made={"sources": "others"})
    assert workload([MORE], scope, tmp_path / "out", FreshLedger).total == Load(2, 0, 2)
    scope = scope_and_ledger(tmp_path, Training(PLACE), made=asdict(maker_here("cpu")))
    assert workload([MORE], scope, tmp_path / "out", FreshLedger).total == Load(2, 1, 1)


def test_an_exhibit_that_cannot_be_planned_does_not_hide_the_others(tmp_path: Path) -> None:
    def fail(scope: Scope) -> list[Training]:
        raise ValueError("no plan")

    broken = Exhibit("broken", "Broken", fail, QUICK.show)
    found = workload([broken, MORE], scope_and_ledger(tmp_path), tmp_path / "nowhere")
    assert (found.broken, found.total) == ({"broken": "ValueError: no plan"}, Load(2, 0, 2))
    assert not (tmp_path / "nowhere").exists()
