"""Exhibits chosen by name, those whose needs are missing, and dry runs that count cells."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest
from tests.paper.experiments.rooms import tiny_resources
from tests.paper.studies.stand_in import MORE, counting

from paper.experiments.cells import Analysis, Cell, Mining, Place, Training, describe
from paper.experiments.ledger import Ledger, RecordLookup
from paper.experiments.provenance import is_from_this_code, this_environment
from paper.experiments.resources import DataSource, Resources, Scope
from paper.studies.exhibit import Exhibit, Part
from paper.studies.filters import Selection, choose, dry_run, missing_needs
from pssa.errors import InputError

PLACE = Place("laptop", "memnet", 0)
BARE = Scope(Resources({"laptop": DataSource(Path("train.txt"))}))


def exhibit(name: str, *cells: Cell, needs: tuple[str, ...] = ()) -> Exhibit:
    return Exhibit(name, name.title(), lambda scope, lookup: [str(lookup(cell)) for cell in cells], needs)


def test_exhibits_are_chosen_by_name_each_once() -> None:
    own = exhibit("own")
    assert [found.name for found in choose(["overall", own, "overall"])] == ["overall", "own"]


def test_an_unknown_exhibit_is_refused_with_those_there_are() -> None:
    with pytest.raises(InputError, match="unknown exhibit 'overal'; known"):
        choose(["overal"])


@pytest.mark.parametrize(
    ("needs", "reason"),
    [
        ((), ""),
        (("laptop",), ""),
        (("vectors",), "needs --vectors"),
        (("encoder", "rest"), "needs --encoder and data set rest"),
        (("opinion_words",), "needs a data set with opinion words"),
    ],
)
def test_missing_needs_are_named(needs: tuple[str, ...], reason: str) -> None:
    assert missing_needs(exhibit("x", needs=needs), BARE) == reason


def test_cells_of_all_exhibits_are_wanted_once() -> None:
    base, kt = Training(PLACE), Training(PLACE, "kt")
    wanted = Selection.find([exhibit("a", base, kt, base), exhibit("b", kt), exhibit("c", needs=("encoder",))], BARE)
    assert [(found.name, cells) for found, cells in wanted.exhibits.items()] == [("a", (base, kt)), ("b", (kt,))]
    assert wanted.cells == [base, kt]
    assert wanted.skipped == {"c": "needs --encoder"}


def test_an_exhibit_that_fails_to_plan_does_not_cost_the_others() -> None:
    def show(scope: Scope, lookup: RecordLookup) -> list[Part]:
        raise KeyError("rest")

    broken = Exhibit("broken", "Broken", show)
    wanted = Selection.find([broken, exhibit("sound", Training(PLACE))], BARE)
    assert [found.name for found in wanted.exhibits] == ["sound"]
    assert wanted.broken == {"broken": "KeyError: 'rest'"}


def test_where_nothing_can_be_shown_the_reasons_are_told() -> None:
    with pytest.raises(InputError, match="exhibit can be shown: a needs --encoder"):
        Selection.find([exhibit("a", needs=("encoder",)), exhibit("b", needs=("vectors",))], BARE)
    with pytest.raises(InputError, match="no exhibit can be shown: none was named"):
        Selection.find([], BARE)


PLACE = Place("laptop", "memnet", 0)
LOOKED = counting("looked", lambda scope: [Analysis(Training(PLACE), "agreement")])


def scope_and_ledger(folder: Path, *cells: Training | Mining, **more: object) -> Scope:
    """A ledger with outcomes of these cells."""
    scope = Scope(tiny_resources(folder), seeds=1)
    with Ledger.open(folder / "out" / "cells.jsonl") as ledger:
        for cell in cells:
            ledger.append({"key": scope.resources.key(cell), "cell": describe(cell), **more})
    return scope


def counts(cells: int, there: int, to_do: int) -> dict[str, int]:
    return {"cells": cells, "there": there, "to_do": to_do}


def test_a_model_whose_parameters_are_needed_again_is_to_do(tmp_path: Path) -> None:
    scope = scope_and_ledger(tmp_path, Training(PLACE))
    assert dry_run([LOOKED], scope, tmp_path / "out")["total"] == counts(2, 1, 2)


def test_what_other_sources_made_can_be_left_out(tmp_path: Path) -> None:
    scope = scope_and_ledger(tmp_path, Training(PLACE), made={"sources": "others"})
    assert dry_run([MORE], scope, tmp_path / "out", is_from_this_code)["total"] == counts(2, 0, 2)
    scope = scope_and_ledger(tmp_path, Training(PLACE), made=asdict(this_environment("cpu")))
    assert dry_run([MORE], scope, tmp_path / "out", is_from_this_code)["total"] == counts(2, 1, 1)
