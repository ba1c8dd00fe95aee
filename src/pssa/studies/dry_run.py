"""How much work exhibits are: cells, outcomes that are there and cells to carry out, counted before anything is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pssa.errors import InputError
from pssa.experiments.cells import Cell, with_needs
from pssa.experiments.ledger import LEDGER, Ledger
from pssa.experiments.schedule import plan
from pssa.experiments.scope import Scope
from pssa.experiments.workspace import Workroom
from pssa.studies.exhibit import Exhibit
from pssa.studies.filters import Wanted, choose, left_out

__all__ = ["Load", "Workload", "workload"]


@dataclass(frozen=True)
class Load:
    """Of cells and all that they need, each counted once."""

    cells: int
    there: int  # outcomes in the ledger
    to_do: int  # with models and evidence that are needed again, though their outcome is there


@dataclass(frozen=True)
class Workload:
    """What would be carried out."""

    exhibits: Mapping[str, Load]
    total: Load  # cells that exhibits share count once
    skipped: Mapping[str, str]  # exhibits that lack something, with what
    broken: Mapping[str, str]  # exhibits that cannot be planned, with why
    left_out: Mapping[str, str]  # models of which no exhibit has a cell, with what they lack

    def plain(self) -> dict[str, Any]:
        """Values for JSON."""
        return asdict(self)


def workload(names: Sequence[str | Exhibit], scope: Scope, out: Path, ledger: type[Ledger] = Ledger) -> Workload:
    """Count what the exhibits need and what the folder has of it; carries out and writes nothing.

    :param ledger: `FreshLedger` where outcomes of other sources do not count.
    :raises InputError: if a name or the folder cannot be used, or no exhibit can be shown.
    """
    _require_folder(out)
    wanted = Wanted.find(choose(names), scope)
    room, known = Workroom(out, scope.resources), ledger.read(out / LEDGER)

    def load(cells: Sequence[Cell]) -> Load:
        needed = with_needs(cells)
        there = sum(known.find(room.key(cell)) is not None for cell in needed)
        return Load(len(needed), there, len(plan(cells, room, known)))

    exhibits = {exhibit.name: load(cells) for exhibit, cells in wanted.exhibits.items()}
    return Workload(exhibits, load(wanted.cells), wanted.skipped, wanted.broken, left_out(scope))


def _require_folder(out: Path) -> None:
    """Refuse, before anything is written, what a folder could not be made of."""
    there = next(path for path in (out, *out.absolute().parents) if path.exists())
    if not there.is_dir():
        raise InputError(f"{out} cannot be written: {there} is no folder; choose another --out")
