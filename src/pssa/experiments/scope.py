"""Which models, data sets and seeds a study covers, and how it looks up the records of its cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pssa.experiments.cells import Cell, Place, Setting
from pssa.experiments.ledger import Record
from pssa.experiments.resources import Resources


@dataclass(frozen=True)
class Scope:
    """What was asked for, as far as the resources allow it."""

    resources: Resources
    seeds: int = 5
    models: tuple[str, ...] = ()  # none: all
    data_sets: tuple[str, ...] = ()  # none: all that are there

    @property
    def data(self) -> tuple[str, ...]:
        """The data sets that are there and asked for."""
        return tuple(name for name in self.resources.sources if not self.data_sets or name in self.data_sets)

    def has(self, model: str) -> bool:
        """Whether a model is asked for and can be trained."""
        return (not self.models or model in self.models) and self.resources.can_train(model)

    def places(
        self, model: str, data: str, seeds: int = 0, settings: tuple[Setting, ...] = (), held_out: bool = False
    ) -> tuple[Place, ...]:
        """A place per seed, at most `seeds` of them; none where the model or the data is not in scope."""
        if data not in self.data or not self.has(model):
            return ()
        wanted = min(self.seeds, seeds) if seeds else self.seeds
        return tuple(Place(data, model, seed, held_out=held_out, settings=settings) for seed in range(wanted))


class Findings(Protocol):
    """Outcomes by cell."""

    def of(self, cell: Cell) -> Record | None:
        """What came out, or nothing where it was not carried out or failed."""
        ...
