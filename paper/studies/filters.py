"""Selection of exhibits by name, with their cells, without those whose needs are missing; and a dry run that counts cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paper.experiments.cells import Cell, with_needs
from paper.experiments.ledger import LEDGER, Ledger, Record
from paper.experiments.resources import DATA_SETS, Scope
from paper.experiments.schedule import plan
from paper.experiments.workspace import Workspace
from paper.studies import exhibits
from paper.studies.exhibit import Exhibit
from pssa import models
from pssa.errors import InputError

ALL = "all"


def choose(names: Sequence[str | Exhibit]) -> tuple[Exhibit, ...]:
    """Return exhibits by name, each once; `all` means all of them, and an exhibit of your own is kept as it is.

    :raises InputError: if there is no exhibit of a name.
    """
    found: dict[str, Exhibit] = {}
    for name in names:
        for each in exhibits.names() if name == ALL else (name,):
            exhibit = each if isinstance(each, Exhibit) else exhibits.find(each)
            found.setdefault(exhibit.name, exhibit)
    return tuple(found.values())


def missing_needs(exhibit: Exhibit, scope: Scope) -> str:
    """Return what the exhibit needs and the scope lacks, as a reason; empty if nothing is missing."""
    resources = scope.resources
    needs = {
        "vectors": (resources.vectors is not None, "--vectors"),
        "encoder": (resources.encoder is not None, "--encoder"),
        "opinion_words": (any(map(scope.has_opinion_words, scope.data)), "a data set with opinion words"),
        **{name: (name in scope.data, f"data set {name}") for name in DATA_SETS},
    }
    missing = [name for is_there, name in map(needs.__getitem__, exhibit.needs) if not is_there]
    return f"needs {' and '.join(missing)}" if missing else ""


def untrainable_models(scope: Scope) -> dict[str, str]:
    """Return the models in scope that cannot be trained, with the reason."""
    resources = scope.resources
    lacking = (model for model in scope.models or models.names() if not resources.can_train(model))
    return {model: f"needs --{resources.start_of(model)}" for model in lacking}


@dataclass
class Selection:
    """The exhibits that can be shown, with their cells; and the others, with the reason."""

    exhibits: dict[Exhibit, tuple[Cell, ...]] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)

    @classmethod
    def find(cls, chosen: Iterable[Exhibit], scope: Scope) -> Selection:
        """Collect the cells of every exhibit.

        :raises InputError: if no exhibit can be shown.
        """
        selection = cls()
        for exhibit in chosen:
            if reason := missing_needs(exhibit, scope):
                selection.skipped[exhibit.name] = reason
                continue
            try:
                selection.exhibits[exhibit] = exhibit.cells(scope)
            except Exception as error:
                selection.broken[exhibit.name] = f"{type(error).__name__}: {error}"
        if not selection.exhibits:
            listed = "; ".join(f"{name} {why}" for name, why in {**selection.skipped, **selection.broken}.items())
            raise InputError(f"no exhibit can be shown: {listed or 'none was named'}")
        return selection

    @property
    def cells(self) -> list[Cell]:
        """The cells of all exhibits, each once."""
        return list(dict.fromkeys(cell for cells in self.exhibits.values() for cell in cells))


def dry_run(
    names: Sequence[str | Exhibit], scope: Scope, out: Path, accepts: Callable[[Record], bool] | None = None
) -> dict[str, Any]:
    """Count the cells that the exhibits need and those that the folder has; execute and write nothing.

    Return counts by exhibit, their total, in which shared cells count once, and what is left out, with the reason: exhibits
    (`skipped`, `broken`) and models (`left_out`). `to_do` includes models and evidence that are needed again.

    :param accepts: which records are reused; None: all.
    :raises InputError: if a name or the folder cannot be used, or no exhibit can be shown.
    """
    existing = next(path for path in (out, *out.absolute().parents) if path.exists())
    if not existing.is_dir():
        raise InputError(f"{out} cannot be written: {existing} is not a folder; choose another --out")
    selection = Selection.find(choose(names), scope)
    workspace, ledger = Workspace(out, scope.resources), Ledger.read(out / LEDGER, accepts)

    def count(cells: Sequence[Cell]) -> dict[str, int]:
        needed = with_needs(cells)
        there = sum(ledger.find(workspace.key(cell)) is not None for cell in needed)
        return {"cells": len(needed), "there": there, "to_do": len(plan(cells, workspace, ledger))}

    return {
        "exhibits": {exhibit.name: count(cells) for exhibit, cells in selection.exhibits.items()},
        "total": count(selection.cells),
        "skipped": selection.skipped,
        "broken": selection.broken,
        "left_out": untrainable_models(scope),
    }
