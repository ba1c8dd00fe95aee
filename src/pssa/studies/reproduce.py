"""Exhibits from beginning to end: what they need is planned and carried out, then each is shown and written into one folder.

    OUT/cells.jsonl        the ledger: what every cell came to; cells.csv has the short of it
    OUT/index.html         every exhibit; NAME.md and NAME/ each alone
    OUT/provenance.json    where the numbers come from

Killed or interrupted, the same call goes on: whatever the ledger has is not made again.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pssa.errors import InputError
from pssa.experiments.cells import Cell, name_of, with_needs
from pssa.experiments.engines import check_engine, open_engine
from pssa.experiments.ledger import LEDGER, Ledger, Record
from pssa.experiments.provenance import FreshLedger, Maker, Provenance, Signing, device_name, maker_here, was_made_here
from pssa.experiments.resources import Resources
from pssa.experiments.schedule import CarriedOut, Failure, Progress, carry_out_all, plan
from pssa.experiments.scope import Scope
from pssa.experiments.workspace import Workroom
from pssa.studies.exhibit import Exhibit
from pssa.studies.filters import Wanted, choose, left_out
from pssa.studies.render.showing import Showing

__all__ = ["Means", "Recorded", "Report", "reproduce", "show_only"]


@dataclass(frozen=True)
class Means:
    """How cells are carried out."""

    engine: str = "local"
    workers: int = 0  # 0: as many as fit
    address: str = ""  # of a Ray cluster
    fresh: bool = False  # make again what other sources made

    def __post_init__(self) -> None:
        check_engine(self.engine, self.workers, self.address)

    @property
    def ledger(self) -> type[Ledger]:
        """The kind that knows the outcomes which count."""
        return FreshLedger if self.fresh else Ledger


@dataclass(frozen=True)
class Report:
    """What became of it."""

    page: Path
    shown: tuple[str, ...]
    skipped: Mapping[str, str]  # exhibits that lack something, with what
    left_out: Mapping[str, str]  # models that lack something, with what
    broken: Mapping[str, str]  # exhibits that could not be planned or shown, with why
    failures: tuple[Failure, ...]
    made: int  # cells, now
    reused: int
    missing: int  # cells without an outcome
    seconds: float

    @property
    def is_well(self) -> bool:
        """Whether nothing failed; an exhibit that lacks something has not failed."""
        return not self.failures and not self.broken

    def plain(self) -> dict[str, Any]:
        """Values for JSON."""
        return {
            "page": str(self.page),
            "shown": list(self.shown),
            "skipped": dict(self.skipped),
            "left_out": dict(self.left_out),
            "broken": dict(self.broken),
            "cells": {"made": self.made, "reused": self.reused, "missing": self.missing},
            "failed": [{"cell": name_of(failure.cell), "reason": failure.reason} for failure in self.failures],
            "seconds": round(self.seconds, 3),
        }


class Recorded:
    """Findings from a ledger."""

    def __init__(self, ledger: Ledger, resources: Resources) -> None:
        self._ledger, self._resources = ledger, resources
        self._keys: dict[Cell, str] = {}

    def of(self, cell: Cell) -> Record | None:
        """What came out, or nothing where it was not carried out or failed."""
        if cell.place.data not in self._resources.sources:
            return None
        if cell not in self._keys:
            self._keys[cell] = self._resources.key(cell)
        return self._ledger.find(self._keys[cell])


def reproduce(
    names: Sequence[str | Exhibit],
    scope: Scope,
    out: Path,
    means: Means | None = None,
    progress: Progress | None = None,
    command: str = "",
) -> Report:
    """Carry out whatever the exhibits need and is not there yet, then show and write them.

    :param command: what was typed, for the provenance.
    :raises InputError: if a name, the resources or the folder cannot be used, or no exhibit can be shown.
    :raises RunError: if another process is at work in the folder.
    """
    began, means = time.perf_counter(), means or Means()
    wanted = Wanted.find(choose(names), scope)
    maker = maker_here("a Ray cluster" if means.engine == "ray" else device_name(scope.resources.device))
    tally = _Tally(progress)
    room = _room(scope, out, means)
    with means.ledger.open(out / LEDGER) as ledger:
        try:
            outcome = _Crew(means, maker, tally).carry_out(wanted.cells, room, ledger)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"{tally.told}; go on with: {command or 'the same call'}") from None
        if not outcome.failures:
            room.clear(with_needs(wanted.cells))
        return _show(wanted, _Asked(scope, out, command, began), ledger, outcome)


def show_only(names: Sequence[str | Exhibit], scope: Scope, out: Path, command: str = "") -> Report:
    """Show and write the exhibits from what is there; carries out nothing, and also works beside a process that does.

    :raises InputError: if nothing was carried out in the folder, or as `reproduce` does.
    """
    if not (out / LEDGER).is_file():
        raise InputError(f"{out} has no {LEDGER}, so nothing was carried out there; name another --out")
    began, wanted = time.perf_counter(), Wanted.find(choose(names), scope)
    ledger = Ledger.read(out / LEDGER)
    found = Recorded(ledger, scope.resources)
    outcome = CarriedOut(reused=sum(found.of(cell) is not None for cell in wanted.cells))
    return _show(wanted, _Asked(scope, out, command, began), ledger, outcome)


@dataclass(frozen=True)
class _Asked:
    """Of whom, where, in which words and since when."""

    scope: Scope
    out: Path
    command: str
    began: float


class _Tally:
    """How far it is."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._done, self._total = 0, 0

    def __call__(self, done: int, total: int, name: str) -> None:
        self._done, self._total = done, total
        if self._progress:
            self._progress(done, total, name)

    @property
    def told(self) -> str:
        """In words."""
        return f"{self._done} of {self._total} cells are over, and what came of them is kept"


def _room(scope: Scope, out: Path, means: Means) -> Workroom:
    resources = scope.resources
    if means.engine != "ray":
        return Workroom(out, resources)
    # Processes of a cluster have folders of their own to start from.
    sources = {name: source.absolute() for name, source in resources.sources.items()}
    vectors, encoder = (path and path.absolute() for path in (resources.vectors, resources.encoder))
    return Workroom(out.absolute(), replace(resources, sources=sources, vectors=vectors, encoder=encoder))


@dataclass(frozen=True)
class _Crew:
    """Who carries out cells, and who is told."""

    means: Means
    maker: Maker
    tally: _Tally

    def carry_out(self, cells: Sequence[Cell], room: Workroom, ledger: Ledger) -> CarriedOut:
        """Carry out what the ledger does not have."""
        _warn_of_others(cells, room, ledger)
        todo = plan(cells, room, ledger)
        if not todo:
            return CarriedOut(reused=len(cells))
        means, device = self.means, room.resources.device
        with open_engine(means.engine, means.workers, means.address, device) as engine:
            self.tally(0, len(todo), "")
            return carry_out_all(cells, room, ledger, Signing(engine, self.maker), self.tally)


def _warn_of_others(cells: Iterable[Cell], room: Workroom, ledger: Ledger) -> None:
    """Say how many outcomes the code that is here might not have come to."""
    found = [record for cell in with_needs(cells) if (record := ledger.find(room.key(cell))) is not None]
    others = sum(not was_made_here(record) for record in found)
    if others:
        warnings.warn(
            f"{others} of {len(found)} outcomes in {ledger.path} were made by other sources of this version and are "
            f"taken as they are; --fresh makes them again",
            stacklevel=4,
        )


def _show(wanted: Wanted, asked: _Asked, ledger: Ledger, outcome: CarriedOut) -> Report:
    scope, findings = asked.scope, Recorded(ledger, asked.scope.resources)
    maker = maker_here(device_name(scope.resources.device))
    seconds = time.perf_counter() - asked.began if outcome.done else None
    files = scope.resources.fingerprints()
    provenance = Provenance(asked.command, maker, files, range(scope.seeds), seconds)
    showing = Showing(asked.out, scope, findings, provenance, wanted.exhibits, list(ledger))
    broken = {**wanted.broken, **showing.write_exhibits()}
    left = {**wanted.skipped, **{name: f"failed: {reason}" for name, reason in broken.items()}}
    notes = [f"Left out: {'; '.join(f'{name} {reason}' for name, reason in left.items())}."] if left else []
    return Report(
        page=showing.write_rest(notes, outcome.failures),
        shown=tuple(exhibit.name for exhibit in wanted.exhibits if exhibit.name not in broken),
        skipped=wanted.skipped,
        left_out=left_out(scope),
        broken=broken,
        failures=tuple(outcome.failures),
        made=outcome.done,
        reused=outcome.reused,
        missing=sum(findings.of(cell) is None for cell in wanted.cells),
        seconds=time.perf_counter() - asked.began,
    )
