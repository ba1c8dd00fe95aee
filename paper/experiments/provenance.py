"""Provenance of numbers: the command, the code, the libraries, the machine and the files; never the user or a path.

Every record names the environment that made it, and when it was finished, so one ledger can hold records of several machines
and versions. Where a copy of the sources outside a repository made it, the history of the repository tells the commit.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from paper.experiments.cells import Cell
from paper.experiments.ledger import Record
from paper.experiments.sources import commit, source_digest
from pssa import __version__

_PARTS = {"train": "train", "test": "test", "words": "opinion_words"}  # of a data set, as records name them
_LIBRARIES = ("torch", "transformers", "numpy")
_UNKNOWN = "unknown"


@dataclass(frozen=True)
class Environment:
    """The code, library and device that executed a cell."""

    sources: str  # digest of the code
    commit: str | None = None
    torch: str | None = None
    device: str | None = None


@dataclass(frozen=True)
class Contribution:
    """What one environment contributed."""

    by: Environment
    cells: int
    days: tuple[str, ...]  # on which they were finished, as far as records say so, in order


def describe_call(command: str, is_executed: bool, n_seeds: int) -> str:
    """Return a call as text, without times, so that the same records always give the same text."""
    call = f"`{command}`, " if command else ""
    said = f"{'Made' if is_executed else 'Shown'} by {call}pssa {__version__}"
    if is_executed:  # otherwise the installed libraries computed nothing
        said = ", ".join([said, *(f"{name} {version}" for name, version in versions().items() if version)])
    return f"{said}; {n_seeds} {'seed' if n_seeds == 1 else 'seeds'} at most."


def this_environment(device: str) -> Environment:
    """Return the environment of this process, on a device of this name."""
    return Environment(source_digest(), commit(), versions()["torch"], device)


def is_from_this_code(record: Record) -> bool:
    """Return whether the sources of this installation made a record."""
    return _environment_of(record).sources == source_digest()


def now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def contributions(records: Iterable[Record], commits: Mapping[str, str]) -> list[Contribution]:
    """Return what each environment contributed, most cells first.

    :param commits: of sources whose records name none, as `find_commits` returns them.
    """
    found: dict[Environment, list[Record]] = {}
    for record in records:
        found.setdefault(_environment_of(record), []).append(record)
    made = [
        Contribution(
            replace(by, commit=by.commit or commits.get(by.sources)),
            len(each),
            tuple(sorted({record["finished"][:10] for record in each if "finished" in record})),
        )
        for by, each in found.items()
    ]
    return sorted(made, key=lambda each: (-each.cells, each.by.sources, each.by.torch or "", each.by.device or ""))


def files_read(found: Iterable[tuple[Cell, Record]]) -> dict[str, str]:
    """Return the fingerprints of the files that cells have read, by the names that `Resources.fingerprints` has for them."""
    files = {
        _file_name(cell, kind): value.partition(" ")[0]  # after it, names of columns
        for cell, record in found
        for kind, value in record.get("files", {}).items()
        if isinstance(value, str)
    }
    return dict(sorted(files.items(), key=lambda each: ("/" not in each[0], each[0])))


def _file_name(cell: Cell, kind: str) -> str:
    """Return the name of a file, such as `laptop/train`, for its name in a record, such as `train`."""
    part = kind.removeprefix("other ")
    if part in _PARTS:
        return f"{cell.place.data if part == kind else getattr(cell, 'on', '')}/{_PARTS[part]}"
    if kind == "start":
        return f"start {Path(dict(cell.place.settings).get('from_pretrained', '')).name}"
    return "small encoder" if kind == "encoder" and cell.place.small_encoder else kind


def sources_without_commit(records: Iterable[Record]) -> set[str]:
    """Return the digests of the sources that made records outside a repository."""
    makers = {_environment_of(record) for record in records}
    return {by.sources for by in makers if by.commit is None and by.sources != _UNKNOWN}


def _environment_of(record: Record) -> Environment:
    return Environment(**{"sources": _UNKNOWN, **record.get("made", {})})


@cache
def versions() -> dict[str, str | None]:
    """Return the versions of Python and of the libraries that compute."""
    return {"python": platform.python_version(), **{name: _version(name) for name in _LIBRARIES}}


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def device_name(device: str) -> str:
    """Return the product name of the device that `auto`, `cpu` or `cuda` selects."""
    import torch

    from pssa.runs.devices import choose_device

    if choose_device(device).type == "cuda":
        return str(torch.cuda.get_device_name())
    about = Path("/proc/cpuinfo")
    lines = about.read_text("utf-8", "replace").splitlines() if about.is_file() else []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    processor = next(named, "") or platform.processor() or platform.machine()
    return f"{processor}, {os.cpu_count()} cores"
