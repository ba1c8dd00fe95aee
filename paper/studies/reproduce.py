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
from dataclasses import dataclass
from pathlib import Path

from paper.experiments.cells import Cell, Place, with_needs
from paper.experiments.ledger import LEDGER, Ledger, Record, RecordLookup
from paper.experiments.provenance import (
    Contribution,
    contributions,
    describe_call,
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
    pages = _Pages(names, scope, out, command, options.files)
    workspace, cells = Workspace(out.absolute(), scope.resources), pages.selection.cells
    device = "a Ray cluster" if options.engine == "ray" else device_name(scope.resources.device)
    with Ledger.open(out / LEDGER, options.accepts) as ledger:
        _warn_of_other_code(cells, workspace, ledger)
        schedule = CellSchedule(workspace, ledger, this_environment(device), progress)
        outcome = ScheduleResult(reused=len(cells))
        try:
            if plan(cells, workspace, ledger):
                with open_pool(options.engine, options.workers, options.address, scope.resources.device) as pool:
                    outcome = schedule.execute(cells, pool)
        except KeyboardInterrupt:
            kept = f"{schedule.n_done} of {schedule.n_cells} cells are done, and their records are kept"
            raise KeyboardInterrupt(f"{kept}; resume with: {command or 'the same call'}") from None
        if not outcome.failures:
            workspace.clear(with_needs(cells))
        return pages.write(ledger, outcome)


def show_only(
    names: Sequence[str | Exhibit], scope: Scope, out: Path, command: str = "", files: bool = False
) -> Reproduction:
    """Show and write the exhibits from the records that exist; execute nothing. Works while another process executes cells.

    :raises InputError: if the folder has no records, or as `reproduce` does.
    """
    if not (out / LEDGER).is_file():
        raise InputError(f"{out} has no {LEDGER}, so there is nothing to show; choose another --out")
    pages, ledger = _Pages(names, scope, out, command, files), Ledger.read(out / LEDGER)
    lookup = scope.resources.lookup_in(ledger)
    return pages.write(ledger, ScheduleResult(reused=sum(lookup(cell) is not None for cell in pages.selection.cells)))


def _warn_of_other_code(cells: Iterable[Cell], workspace: Workspace, ledger: Ledger) -> None:
    """Warn of records that the current code might not reproduce."""
    found = [record for cell in with_needs(cells) if (record := ledger.find(workspace.key(cell))) is not None]
    others = sum(not is_from_this_code(record) for record in found)
    if others:
        text = f"{others} of {len(found)} records in {ledger.path} were made by other code and are reused"
        warnings.warn(PssaWarning(f"{text}; use --fresh to execute these cells again"), stacklevel=3)


class _Pages:
    """The pages of exhibits in a folder."""

    def __init__(self, names: Sequence[str | Exhibit], scope: Scope, out: Path, command: str, files: bool) -> None:
        self.selection = Selection.find(choose(names), scope)
        self._scope, self._out, self._command, self._files = scope, out, command, files

    def write(self, ledger: Ledger, outcome: ScheduleResult) -> Reproduction:
        """Show and write every exhibit, then the first page."""
        selection, lookup = self.selection, self._scope.resources.lookup_in(ledger)
        commits = find_commits(sources_without_commit(record for _, record in _recorded(lookup, selection.cells)))
        broken = dict(selection.broken)
        for exhibit, cells in selection.exhibits.items():
            try:
                parts = drop_empty_rows(exhibit.parts(self._scope, lookup))
            except Exception as error:
                # A fault in one exhibit must not cost the others, which may have taken days.
                broken[exhibit.name] = f"{type(error).__name__}: {error}"
                continue
            missing = sum(lookup(cell) is None for cell in cells)
            about = [*in_short(exhibit.name, parts), *self._starting_points(cells)]
            about += [_INCOMPLETE.format(missing, len(cells))] if missing else []
            foot = self._provenance(list(_recorded(lookup, cells)), commits, bool(outcome.done))
            unmeasured = f"{missing} of {len(cells)}" if missing else ""
            try:
                write_exhibit(self._out, exhibit, [*about, *parts, foot], unmeasured, self._files)
            except ValueError as error:
                broken[exhibit.name] = str(error)
        return Reproduction(
            page=write_front_page(self._out),
            shown=tuple(exhibit.name for exhibit in selection.exhibits if exhibit.name not in broken),
            skipped=selection.skipped,
            left_out=untrainable_models(self._scope),
            broken=broken,
            failures=outcome.failures,
            made=outcome.done,
            reused=outcome.reused,
            missing=sum(lookup(cell) is None for cell in selection.cells),
        )

    def _starting_points(self, cells: Sequence[Cell]) -> list[Part]:
        """Name the vectors and the encoders that models start from, which are not the paper's, with the most seeds of each."""
        seeds: dict[str, int] = {}
        for place in (cell.place for cell in cells):
            if name := self._start(place):
                seeds[name] = max(seeds.get(name, 0), place.seed + 1)
        found = [f"{name} (at most {_count(count, 'seed')})" for name, count in sorted(seeds.items(), reverse=True)]
        beside = ", where the paper has BERT-large" if any(uses_encoder(cell.place.model) for cell in cells) else ""
        return [f"Models start from {' and '.join(found)}{beside}."] if found else []

    def _start(self, place: Place) -> str:
        """Return what the model of a place starts from, in words; empty if it is not there."""
        resources = self._scope.resources
        path, name, kind = resources.vectors, "", "word vectors"
        if place.small_encoder:
            path, name, kind = resources.small_encoder, resources.small_encoder_name, "the small encoder"
        elif uses_encoder(place.model):
            path, name, kind = resources.encoder, resources.encoder_name, "the encoder"
        return f"{kind} `{name or path.name}`" if path else ""

    def _provenance(
        self, found: Sequence[tuple[Cell, Record]], commits: Mapping[str, str], is_executed: bool
    ) -> Details:
        """Return the foot of an exhibit, a line that unfolds: who made its outcomes, of which files, and how it was shown.

        :param found: its cells that have a record; without any it shows the files themselves.
        """
        n_seeds = len({cell.place.seed for cell, _ in found}) or self._scope.seeds
        parts: list[Table | str] = [describe_call(self._command, is_executed, n_seeds)]
        files = files_read(found) if found else self._scope.resources.fingerprints()
        summary = _count(len(files), "file")
        if found:
            made = contributions((record for _, record in found), commits)
            parts.append(_outcomes(made))
            devices: Counter[str] = Counter()
            for each in made:
                devices[each.by.device or "an unknown device"] += each.cells
            device, *others = [name for name, _ in devices.most_common()]
            days = _days(made)
            told = [
                _count(len(found), "cell"),
                _count(len({each.by.commit or each.by.sources for each in made}), "commit"),
            ]
            told += [f"finished {days}"] if days else []
            beside = f" and {_count(len(others), 'other device')}" if others else ""
            summary = ", ".join([*told, f"on {device}{beside}"])
        if files:
            listed = ", ".join(f"{name} `{digest}`" for name, digest in files.items())
            parts.append(f"Files, by the beginning of their SHA-256: {listed}.")
        return Details(f"Provenance: {summary}", tuple(parts))


def _recorded(lookup: RecordLookup, cells: Iterable[Cell]) -> Iterator[tuple[Cell, Record]]:
    """Yield the cells, and those that they need, that have a record, with it."""
    return ((cell, record) for cell in with_needs(cells) if (record := lookup(cell)) is not None)


def _outcomes(made: Sequence[Contribution]) -> Table:
    unknown = "not recorded"
    rows = tuple(
        (
            each.cells,
            *(f"`{name}`" if name else unknown for name in (each.by.commit, each.by.sources)),
            *(each.by.torch, each.by.device, _days([each]) or unknown),
        )
        for each in made
    )
    return Table("made-by", "Outcomes", ("cells", "commit", "sources", "torch", "device", "finished"), rows)


def _days(made: Sequence[Contribution]) -> str:
    """Return the days on which cells were finished, such as `2026-11-02 to 2026-11-05`; empty if they are not known."""
    days = sorted(day for each in made for day in each.days)
    return " to ".join(dict.fromkeys([*days[:1], *days[-1:]]))


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
