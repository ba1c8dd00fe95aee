"""What was asked for: exhibits by name, the cells of each, and those that cannot be shown with what is there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pssa import models
from pssa.errors import InputError
from pssa.experiments.cells import Cell
from pssa.experiments.resources import DATA_SETS
from pssa.experiments.scope import Scope
from pssa.studies import exhibits
from pssa.studies.exhibit import Exhibit

__all__ = ["ALL", "Wanted", "choose", "lacks", "left_out"]

ALL = "all"


def choose(names: Sequence[str | Exhibit]) -> tuple[Exhibit, ...]:
    """Exhibits by name, each once; `all` is all of them, and one of your own is given as it is.

    :raises InputError: if there is none of a name.
    """
    found: dict[str, Exhibit] = {}
    for name in names:
        several = exhibits.names() if name == ALL else (name,)
        for each in several:
            exhibit = each if isinstance(each, Exhibit) else exhibits.find(each)
            found.setdefault(exhibit.name, exhibit)
    return tuple(found.values())


def lacks(exhibit: Exhibit, scope: Scope) -> str:
    """What the exhibit needs and is not there, as a reason; empty where everything is."""
    resources = scope.resources
    there = {
        "vectors": resources.vectors is not None,
        "encoder": resources.encoder is not None,
        "opinion_words": any(resources.sources[name].opinion_words for name in scope.data),
        **{name: name in scope.data for name in DATA_SETS},
    }
    names = {"vectors": "--vectors", "encoder": "--encoder", "opinion_words": "a data set with opinion words"}
    missing = [names.get(need, f"data set {need}") for need in exhibit.needs if not there[need]]
    return f"needs {' and '.join(missing)}" if missing else ""


def left_out(scope: Scope) -> dict[str, str]:
    """Models of which no exhibit has a cell, with what they lack."""
    resources = scope.resources
    lacking = (model for model in scope.models or models.names() if not resources.can_train(model))
    return {model: f"needs --{resources.start_of(model)}" for model in lacking}


@dataclass
class Wanted:
    """The exhibits that can be shown, with their cells; and the others."""

    exhibits: dict[Exhibit, tuple[Cell, ...]] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)

    @classmethod
    def find(cls, chosen: Iterable[Exhibit], scope: Scope) -> Wanted:
        """Ask every exhibit for its cells."""
        wanted = cls()
        for exhibit in chosen:
            if reason := lacks(exhibit, scope):
                wanted.skipped[exhibit.name] = reason
                continue
            try:
                wanted.exhibits[exhibit] = tuple(dict.fromkeys(exhibit.cells(scope)))
            except Exception as error:
                wanted.broken[exhibit.name] = f"{type(error).__name__}: {error}"
        if not wanted.exhibits:
            reasons = {**wanted.skipped, **wanted.broken}
            told = "; ".join(f"{name} {reason}" for name, reason in reasons.items())
            raise InputError(f"nothing can be shown: {told or 'no exhibit was named'}")
        return wanted

    @property
    def cells(self) -> list[Cell]:
        """Of all exhibits, each once."""
        return list(dict.fromkeys(cell for cells in self.exhibits.values() for cell in cells))
