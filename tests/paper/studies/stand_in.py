"""Cells carried out in no time, and exhibits that only count what came of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tests.paper.studies.tiny_run import LONGER, SUPERVISED

from paper.experiments.cells import Cell, Mining, cell_name, describe
from paper.experiments.ledger import Record, RecordLookup
from paper.experiments.resources import Scope
from paper.experiments.work import CellJob
from paper.studies.exhibit import Exhibit, Part

BASE = "laptop memnet seed 0 base"
MINE = "laptop memnet seed 0 mine aw-as"
FINAL = "laptop memnet seed 0 base +aw-as"
KT = "laptop memnet seed 0 kt"


class StandIn:
    """Carries out cells in no time, fails where it shall, and remembers."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.failing: dict[str, BaseException] = {}

    def __call__(self, job: CellJob) -> Record:
        name = cell_name(job.cell)
        if name in self.failing:
            raise self.failing[name]
        self.done.append(name)
        if isinstance(job.cell, Mining):
            path = job.workspace.evidence(job.cell)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("")
        if job.keep_weights:
            job.workspace.weights(job.cell).mkdir(parents=True, exist_ok=True)
            (job.workspace.weights(job.cell) / "model.safetensors").write_text("")
        found = {"epochs": 2, "accuracy": 0.5, "macro_f1": 0.25, "predicted": "01", "seconds": 1.0}
        return {"key": job.key, "cell": describe(job.cell), **found}


def counting(name: str, cells: Callable[[Scope], Iterable[Cell]], **more: Any) -> Exhibit:
    """An exhibit that only counts its outcomes."""

    def show(scope: Scope, lookup: RecordLookup) -> list[Part]:
        return [f"{sum(lookup(cell) is not None for cell in cells(scope))} outcomes."]

    return Exhibit(name, name.title(), cells, show, **more)


QUICK = counting("quick", SUPERVISED.cells)
MORE = counting("more", LONGER.cells)
