"""A sentence of the paper as something that can be measured: the cells that it needs, and a number that decides."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pssa.experiments.cells import Cell, Place
from pssa.experiments.comparison import Difference, Row, differ, gather
from pssa.experiments.ledger import Record
from pssa.experiments.reading import Plain, Reading
from pssa.experiments.scope import Findings, Scope
from pssa.studies.rows import ATTENDING

__all__ = ["Asked", "Claim", "Found", "Measured", "verdict"]

_SAID = {True: "", False: " (no)", None: " (?)"}


@dataclass(frozen=True)
class Asked:
    """Cells of one kind, one for each seed."""

    cell: Callable[[Place], Cell]
    seeds: int = 3  # at most; 0: all
    model: str = ""  # another than the claim's
    held_out: bool = False

    def cells(self, scope: Scope, model: str, data: str) -> dict[int, Cell]:
        """By seed; none where the model is not in scope."""
        places = scope.places(self.model or model, data, self.seeds, held_out=self.held_out)
        return {place.seed: self.cell(place) for place in places}


@dataclass(frozen=True)
class Found:
    """What came of a claim's cells for one model on one data set."""

    scope: Scope
    model: str
    data: str
    rows: Mapping[str, Row]

    def records(self, name: str) -> list[Record]:
        """Of what was asked for under a name."""
        return list(self.rows[name].values())

    @property
    def seeds(self) -> list[int]:
        """Those that everything was asked for with."""
        return sorted(set.intersection(*(set(row) for row in self.rows.values()))) if self.rows else []

    def only(self, seed: int) -> Found:
        """The same of one seed."""
        return replace(self, rows={name: {seed: row[seed]} for name, row in self.rows.items()})

    def difference(self, ours: str = "ours", theirs: str = "theirs") -> Difference | None:
        """Of one row to another."""
        return differ(self.scope, Place(self.data, self.model, 0), self.rows[ours], self.rows[theirs])


@dataclass(frozen=True)
class Measured:
    """Numbers, and whether the claim holds by them."""

    text: str
    holds: bool | None  # None: chance explains what there is, or seeds do not agree
    numbers: tuple[float | None, ...]  # in the order in which the text tells them
    chances: tuple[float, ...] = ()  # p of each, where they are differences that were tested
    seeds: int = 0  # that it is of

    @property
    def reading(self) -> Reading:
        """As a field of a table."""
        parts: dict[str, Plain] = {"holds": self.holds}
        parts |= {f"number {place}": number for place, number in enumerate(self.numbers, start=1)}
        parts |= {f"p {place}": p for place, p in enumerate(self.chances, start=1)}
        return Reading(self.text + _SAID[self.holds], parts)


@dataclass(frozen=True)
class Claim:
    """What the paper says, and when we say that it holds."""

    says: str
    rule: str
    measure: Callable[[Found], Measured | None]
    asked: Mapping[str, Asked] = field(default_factory=dict)
    models: tuple[str, ...] = ATTENDING  # none: it is about the data alone

    def subjects(self, scope: Scope) -> tuple[str, ...]:
        """The models in scope that it is measured with; an empty name where it is about the data."""
        return tuple(model for model in self.models if scope.has(model)) if self.models else ("",)

    def cells(self, scope: Scope) -> Iterator[Cell]:
        """All that it needs."""
        for model in self.subjects(scope):
            for data in scope.data:
                for asked in self.asked.values():
                    yield from asked.cells(scope, model, data).values()

    def look(self, scope: Scope, findings: Findings, model: str, data: str) -> Measured | None:
        """Measure it; nothing where records are missing."""
        rows = {name: gather(findings, asked.cells(scope, model, data)) for name, asked in self.asked.items()}
        found = Found(scope, model, data, rows)
        measured = self.measure(found) if all(rows.values()) else None
        return measured and replace(measured, seeds=len(found.seeds))


def verdict(measured: Sequence[Measured | None]) -> str:
    """A claim holds if it does on every data set that was measured, and does not if one of them says the contrary."""
    known = [each.holds for each in measured if each is not None]
    if not known:
        return "not measured"
    if False in known:
        return "does not hold"
    return "undecided" if None in known else "holds"
