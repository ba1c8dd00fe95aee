"""Reproduce exhibits: plan and execute the cells that they need, then show each and write it into one folder.

    OUT/cells.jsonl        the ledger: the record of every cell
    OUT/README.md          what they say in short, and the list of tables
    OUT/NAME.md, NAME/     every exhibit

After a kill or an interrupt the same call resumes: cells with a record are not executed again.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from paper.experiments.cells import Cell, Place, with_needs
from paper.experiments.ledger import LEDGER, Ledger, Record, RecordLookup
from paper.experiments.provenance import (
    Contribution,
    Provenance,
    contributions,
    device_name,
    files_read,
    is_from_this_code,
    sources_without_commit,
    this_environment,
)
from paper.experiments.resources import Scope
from paper.experiments.schedule import CellSchedule, Progress, ScheduleResult, check_engine, open_pool, plan
from paper.experiments.sources import find_commits
from paper.experiments.workspace import Workspace
from paper.studies.exhibit import Details, Exhibit, Part, Table
from paper.studies.filters import Selection, choose, untrainable_models
from paper.studies.front_page import in_short, write_front_page
from paper.studies.pages import drop_empty_rows, write_exhibit
from pssa.errors import InputError, PssaWarning
from pssa.models import uses_encoder

_INCOMPLETE = "Incomplete: {} of {} cells have no outcome yet, or failed; their fields are empty or left out."


@dataclass(frozen=True)
class ExecutionOptions:
    """Options for executing cells."""

    engine: str = "local"
    workers: int = 0  # 0: as many as fit
    address: str = ""  # of a Ray cluster
    fresh: bool = False  # execute cells again whose record other code made
    files: bool = False  # write CSV, LaTeX and PNG too

    def __post_init__(self) -> None:
        check_engine(self.engine, self.workers, self.address)

    @property
    def accepts(self) -> Callable[[Record], bool] | None:
        """Which records of the ledger are reused; None: all."""
        return is_from_this_code if self.fresh else None

    def workspace(self, out: Path, scope: Scope) -> Workspace:
        """Return the workspace of an output folder, under absolute paths for workers of a cluster."""
        if self.engine == "ray":
            return Workspace(out.absolute(), scope.resources.absolute())
        return Workspace(out, scope.resources)


@dataclass(frozen=True)
class Reproduction:
    """The outcome of a reproduction: exhibits and cells."""

    page: Path
    shown: tuple[str, ...]
    skipped: Mapping[str, str]  # exhibits whose needs are missing, with the reason
    left_out: Mapping[str, str]  # models whose vectors or encoder are missing, with the reason
    broken: Mapping[str, str]  # exhibits that could not be planned or shown, with the reason
    failures: Mapping[Cell, str]  # cells that failed, with the reason
    made: int  # cells executed now
    reused: int
    missing: int  # cells without a record

    @property
    def is_complete(self) -> bool:
        """Whether nothing failed; a skipped exhibit has not failed."""
        return not self.failures and not self.broken


def reproduce(
    names: Sequence[str | Exhibit],
    scope: Scope,
    out: Path,
    options: ExecutionOptions | None = None,
    progress: Progress | None = None,
    command: str = "",
) -> Reproduction:
    """Execute the missing cells of the exhibits, then show and write the exhibits.

    :param command: the command line, for the provenance.
    :raises InputError: if a name, the resources or the folder cannot be used, or no exhibit can be shown.
    :raises RunError: if another process uses the folder.
    """
    options = options or ExecutionOptions()
    results = _Results(choose(names), scope, out, command, options.files)
    device = "a Ray cluster" if options.engine == "ray" else device_name(scope.resources.device)
    workspace, cells = options.workspace(out, scope), results.selection.cells
    counts = (0, 0)

    def count(done: int, total: int, name: str) -> None:
        nonlocal counts
        counts = (done, total)
        if progress:
            progress(done, total, name)

    with Ledger.open(out / LEDGER, options.accepts) as ledger:
        _warn_of_other_code(cells, workspace, ledger)
        try:
            outcome = _execute(cells, CellSchedule(workspace, ledger, this_environment(device), count), options)
        except KeyboardInterrupt:
            kept = f"{counts[0]} of {counts[1]} cells are done, and their records are kept"
            raise KeyboardInterrupt(f"{kept}; resume with: {command or 'the same call'}") from None
        if not outcome.failures:
            workspace.clear(with_needs(cells))
        return results.write(ledger, outcome)


def show_only(
    names: Sequence[str | Exhibit], scope: Scope, out: Path, command: str = "", files: bool = False
) -> Reproduction:
    """Show and write the exhibits from the records that exist; execute nothing. Works while another process executes cells.

    :raises InputError: if the folder has no records, or as `reproduce` does.
    """
    if not (out / LEDGER).is_file():
        raise InputError(f"{out} has no {LEDGER}, so there is nothing to show; choose another --out")
    results = _Results(choose(names), scope, out, command, files)
    ledger = Ledger.read(out / LEDGER)
    lookup = scope.resources.lookup_in(ledger)
    outcome = ScheduleResult(reused=sum(lookup(cell) is not None for cell in results.selection.cells))
    return results.write(ledger, outcome)


def _execute(cells: Sequence[Cell], schedule: CellSchedule, options: ExecutionOptions) -> ScheduleResult:
    todo = plan(cells, schedule.workspace, schedule.ledger)
    if not todo:
        return ScheduleResult(reused=len(cells))
    device = schedule.workspace.resources.device
    with open_pool(options.engine, options.workers, options.address, device) as pool:
        if schedule.progress:
            schedule.progress(0, len(todo), "")
        return schedule.execute(cells, pool)


def _warn_of_other_code(cells: Iterable[Cell], workspace: Workspace, ledger: Ledger) -> None:
    """Warn of records that the current code might not reproduce."""
    found = [record for cell in with_needs(cells) if (record := ledger.find(workspace.key(cell))) is not None]
    others = sum(not is_from_this_code(record) for record in found)
    if others:
        warnings.warn(
            PssaWarning(
                f"{others} of {len(found)} records in {ledger.path} were made by other code and are reused; "
                f"use --fresh to execute these cells again"
            ),
            stacklevel=3,
        )


@dataclass
class _Results:
    """Exhibits to be shown in a folder."""

    exhibits: Sequence[Exhibit]
    scope: Scope
    out: Path
    command: str
    files: bool

    def __post_init__(self) -> None:
        self.selection = Selection.find(self.exhibits, self.scope)

    def write(self, ledger: Ledger, outcome: ScheduleResult) -> Reproduction:
        """Show every exhibit, then write the page, the table of cells and the provenance."""
        resources, selection = self.scope.resources, self.selection
        lookup = resources.lookup_in(ledger)
        provenance = Provenance(
            self.command,
            this_environment(device_name(resources.device)),
            resources.fingerprints(),
            range(self.scope.seeds),
            bool(outcome.done),
        )
        unnamed = sources_without_commit(record for _, record in _recorded(lookup, selection.cells))
        origins = _Origins(lookup, provenance, find_commits(unnamed))
        broken = {**selection.broken, **self._write_exhibits(lookup, origins)}
        return Reproduction(
            page=write_front_page(self.out),
            shown=tuple(exhibit.name for exhibit in selection.exhibits if exhibit.name not in broken),
            skipped=selection.skipped,
            left_out=untrainable_models(self.scope),
            broken=broken,
            failures=outcome.failures,
            made=outcome.done,
            reused=outcome.reused,
            missing=sum(lookup(cell) is None for cell in selection.cells),
        )

    def _write_exhibits(self, lookup: RecordLookup, origins: _Origins) -> dict[str, str]:
        """Show and write every exhibit; return those that could not be shown, with the reason."""
        broken = {}
        for exhibit, cells in self.selection.exhibits.items():
            try:
                parts = drop_empty_rows(exhibit.show(exhibit.encoders.within(self.scope), lookup))
            except Exception as error:
                # A fault in one exhibit must not cost the others, which may have taken days.
                broken[exhibit.name] = f"{type(error).__name__}: {error}"
                continue
            provenance, made = origins.of(cells)
            try:
                missing = sum(lookup(cell) is None for cell in cells)
                about = [*in_short(exhibit.name, parts), *self._starting_points(cells)]
                about += [_INCOMPLETE.format(missing, len(cells))] if missing else []
                shown = [*about, *parts, _describe_provenance(provenance, made)]
                unmeasured = f"{missing} of {len(cells)}" if missing else ""
                write_exhibit(self.out, exhibit, shown, unmeasured, self.files)
            except ValueError as error:
                broken[exhibit.name] = str(error)
        return broken

    def _starting_points(self, cells: Sequence[Cell]) -> list[Part]:
        """Name the vectors and the encoders that models start from, which are not the paper's, with the most seeds of each."""
        seeds: dict[str, int] = {}
        for place in (cell.place for cell in cells):
            if name := self._start(place):
                seeds[name] = max(seeds.get(name, 0), place.seed + 1)
        counts = sorted(seeds.items(), reverse=True)
        found = [f"{name} (at most {count} {'seed' if count == 1 else 'seeds'})" for name, count in counts]
        beside = ", where the paper has BERT-large" if any(uses_encoder(cell.place.model) for cell in cells) else ""
        return [f"Models start from {' and '.join(found)}{beside}."] if found else []

    def _start(self, place: Place) -> str:
        """Return what the model of a place starts from, in words; empty if it is not there."""
        resources = self.scope.resources
        path, name, kind = resources.vectors, "", "word vectors"
        if place.small_encoder:
            path, name, kind = resources.small_encoder, resources.small_encoder_name, "the small encoder"
        elif uses_encoder(place.model):
            path, name, kind = resources.encoder, resources.encoder_name, "the encoder"
        return f"{kind} `{name or path.name}`" if path else ""


@dataclass(frozen=True)
class _Origins:
    """Where the records of cells come from."""

    lookup: RecordLookup
    call: Provenance  # of this reproduction
    commits: Mapping[str, str]  # of sources whose records name none

    def of(self, cells: Iterable[Cell]) -> tuple[Provenance, list[Contribution]]:
        """Return the provenance of an exhibit that shows these cells: only the files and seeds of its own records."""
        found = list(_recorded(self.lookup, cells))
        if not found:  # it shows the files themselves
            return self.call, []
        seeds = sorted({cell.place.seed for cell, _ in found})
        return replace(self.call, files=files_read(found), seeds=seeds), self.contributions(cells)

    def contributions(self, cells: Iterable[Cell]) -> list[Contribution]:
        """Return who made the records of cells and of what they need."""
        return contributions((record for _, record in _recorded(self.lookup, cells)), self.commits)


def _recorded(lookup: RecordLookup, cells: Iterable[Cell]) -> Iterator[tuple[Cell, Record]]:
    """Yield the cells, and those that they need, that have a record, with it."""
    return ((cell, record) for cell in with_needs(cells) if (record := lookup(cell)) is not None)


_UNKNOWN = "not recorded"


def _describe_provenance(provenance: Provenance, made: Sequence[Contribution]) -> Details:
    """Return the foot of an exhibit, a line that unfolds: who made its outcomes, of which files, and how it was shown."""
    parts: list[Table | str] = [provenance.sentence()]
    summary = _count(len(provenance.files), "file")
    if made:
        rows = tuple(
            (
                each["cells"],
                *(f"`{each[name]}`" if each[name] else _UNKNOWN for name in ("commit", "sources")),
                *(each["torch"], each["device"], _days([each])),
            )
            for each in made
        )
        parts.append(Table("made-by", "Outcomes", ("cells", "commit", "sources", "torch", "device", "finished"), rows))
        devices: Counter[str] = Counter()
        for each in made:
            devices[each["device"] or "an unknown device"] += each["cells"]
        device, *others = [name for name, _ in devices.most_common()]
        days = _days(made)
        commits = len({each["commit"] or each["sources"] for each in made})
        told = [_count(devices.total(), "cell"), _count(commits, "commit")] + (
            [f"finished {days}"] if days != _UNKNOWN else []
        )
        beside = f" and {_count(len(others), 'other device')}" if others else ""
        summary = ", ".join([*told, f"on {device}{beside}"])
    if provenance.files:
        files = ", ".join(f"{name} `{digest}`" for name, digest in provenance.files.items())
        parts.append(f"Files, by the beginning of their SHA-256: {files}.")
    return Details(f"Provenance: {summary}", tuple(parts))


def _days(made: Sequence[Contribution]) -> str:
    """Return the days on which cells were finished, such as `2026-11-02 to 2026-11-05`."""
    dated = [each for each in made if each.get("first_day")]
    ends = [pick(each[name] for each in dated) for pick, name in ((min, "first_day"), (max, "last_day")) if dated]
    return " to ".join(dict.fromkeys(ends)) or _UNKNOWN


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
