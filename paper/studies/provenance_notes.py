"""The provenance of exhibits as readers see it: a line at the foot of each page that unfolds, and a table of all exhibits.

OUT/NAME/provenance.json   the provenance of an exhibit, from when it was last shown
OUT/provenance.json        that of the last call, and under `exhibits` that of every exhibit in the folder
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from paper.experiments.provenance import Contribution, Provenance
from paper.studies.exhibit import Details, Part, Table, TableRow
from paper.studies.exhibits import reading_order
from pssa.data.files import write_atomically

FILE = "provenance.json"
_NOT_RECORDED = "not recorded"
_COLUMNS = ("cells", "commit", "sources", "torch", "device", "finished")  # of one exhibit
_OVERVIEW = ("exhibit", "cells", "commits", "devices", "finished")


def describe_provenance(provenance: Provenance, made: Sequence[Contribution], title: str = "Provenance") -> Details:
    """Return the foot of an exhibit's page: who made its outcomes, of which files, and how it was shown."""
    files = ", ".join(f"{name} `{digest}`" for name, digest in provenance.files.items())
    parts: list[Table | str] = [provenance.sentence()]
    if made:
        parts.append(Table("made-by", "Outcomes", _COLUMNS, tuple(map(_row, made))))
    if files:
        parts.append(f"Files, by the beginning of their SHA-256: {files}.")
    summary = _summary(made) if made else _count(len(provenance.files), "file")
    return Details(f"{title}: {summary}", tuple(parts))


def _row(made: Contribution) -> TableRow:
    commit, sources = (f"`{made[name]}`" if made[name] else _NOT_RECORDED for name in ("commit", "sources"))
    return made["cells"], commit, sources, made["torch"], made["device"], _days([made])


def _summary(made: Sequence[Contribution]) -> str:
    """Return cells, commits, days and devices in one line."""
    cells, commits, (device, *others) = _n_cells(made), _n_commits(made), _devices(made)
    beside = f" and {_count(len(others), 'other device')}" if others else ""
    finished = [f"finished {_days(made)}"] if _dated(made) else []
    return ", ".join([_count(cells, "cell"), _count(commits, "commit"), *finished, f"on {device}{beside}"])


def _n_cells(made: Iterable[Contribution]) -> int:
    return sum(each["cells"] for each in made)


def _n_commits(made: Iterable[Contribution]) -> int:
    return len({each["commit"] or each["sources"] for each in made})


def _devices(made: Iterable[Contribution]) -> list[str]:
    """Return the devices, that of most cells first."""
    cells: dict[str, int] = {}
    for each in made:
        name = each["device"] or "an unknown device"
        cells[name] = cells.get(name, 0) + each["cells"]
    return sorted(cells, key=lambda name: (-cells[name], name))


def _dated(made: Iterable[Contribution]) -> list[Contribution]:
    return [each for each in made if each.get("first_day")]


def _days(made: Sequence[Contribution]) -> str:
    """Return the days on which cells were finished, such as `2026-11-02 to 2026-11-05`."""
    dated = _dated(made)
    if not dated:
        return _NOT_RECORDED
    first, last = min(each["first_day"] for each in dated), max(each["last_day"] for each in dated)
    return first if first == last else f"{first} to {last}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def write_exhibit_provenance(folder: Path, exhibit: str, provenance: Provenance, made: Sequence[Contribution]) -> None:
    """Write the provenance of an exhibit beside its files."""
    _write(folder / exhibit / FILE, provenance.as_dict(made))


def write_provenance(folder: Path, provenance: Provenance, made: Sequence[Contribution]) -> list[Part]:
    """Write the provenance of this call and of all exhibits in the folder; return both for the page."""
    exhibits = _read_all(folder)
    _write(folder / FILE, {**provenance.as_dict(made), "exhibits": exhibits})
    table = Table("exhibits", "By exhibit", _OVERVIEW, tuple(_overview(*each) for each in exhibits.items()))
    return [table, describe_provenance(provenance, made, "The last call")]


def _overview(name: str, entry: Mapping[str, Any]) -> TableRow:
    made = entry["made_by"]
    return name, _n_cells(made), _n_commits(made), "; ".join(_devices(made)), _days(made) if made else ""


def _read_all(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the provenance of the exhibits in a folder, in reading order; those that an older version showed have none."""
    found = {path.parent.name: _read(path) for path in folder.glob(f"*/{FILE}")}
    return {name: entry for name in sorted(found, key=reading_order) if (entry := found[name])}


def _read(path: Path) -> dict[str, Any]:
    """Return an entry; empty if somebody changed the file to something else."""
    try:
        entry = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return entry if isinstance(entry, dict) and {"command", "made_by"} <= entry.keys() else {}


def _write(path: Path, values: Mapping[str, Any]) -> None:
    write_atomically(path, (json.dumps(values, ensure_ascii=False, indent=1) + "\n").encode())
