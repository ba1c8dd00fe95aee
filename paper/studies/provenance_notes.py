"""The provenance of an exhibit as readers see it: a line at the foot of its page that unfolds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from paper.experiments.provenance import Contribution, Provenance
from paper.studies.exhibit import Details, Table, TableRow

_NOT_RECORDED = "not recorded"
_COLUMNS = ("cells", "commit", "sources", "torch", "device", "finished")  # of one exhibit


def describe_provenance(provenance: Provenance, made: Sequence[Contribution]) -> Details:
    """Return the foot of an exhibit's page: who made its outcomes, of which files, and how it was shown."""
    files = ", ".join(f"{name} `{digest}`" for name, digest in provenance.files.items())
    parts: list[Table | str] = [provenance.sentence()]
    if made:
        parts.append(Table("made-by", "Outcomes", _COLUMNS, tuple(map(_row, made))))
    if files:
        parts.append(f"Files, by the beginning of their SHA-256: {files}.")
    summary = _summary(made) if made else _count(len(provenance.files), "file")
    return Details(f"Provenance: {summary}", tuple(parts))


def _row(made: Contribution) -> TableRow:
    commit, sources = (f"`{made[name]}`" if made[name] else _NOT_RECORDED for name in ("commit", "sources"))
    return made["cells"], commit, sources, made["torch"], made["device"], _days([made])


def _summary(made: Sequence[Contribution]) -> str:
    """Return cells, commits, days and devices in one line."""
    cells, commits, (device, *others) = sum(each["cells"] for each in made), _n_commits(made), _devices(made)
    beside = f" and {_count(len(others), 'other device')}" if others else ""
    finished = [f"finished {_days(made)}"] if _dated(made) else []
    return ", ".join([_count(cells, "cell"), _count(commits, "commit"), *finished, f"on {device}{beside}"])


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
