"""Exhibits that only count what came of their cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tests.paper.studies.tiny_run import longer_cells, supervised_cells

from paper.experiments.cells import Cell
from paper.experiments.ledger import RecordLookup
from paper.experiments.resources import Scope
from paper.studies.exhibit import Exhibit, Part

BASE = "laptop memnet seed 0 base"
MINE = "laptop memnet seed 0 mine aw-as"
FINAL = "laptop memnet seed 0 base +aw-as"
KT = "laptop memnet seed 0 kt"


def counting(name: str, cells: Callable[[Scope], Iterable[Cell]], **more: Any) -> Exhibit:
    """An exhibit that only counts its outcomes."""

    def show(scope: Scope, lookup: RecordLookup) -> list[Part]:
        return [f"{sum(lookup(cell) is not None for cell in cells(scope))} outcomes."]

    return Exhibit(name, name.title(), show, **more)


QUICK = counting("quick", supervised_cells)
MORE = counting("more", longer_cells)
