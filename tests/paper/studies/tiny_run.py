"""Two small exhibits carried out in a process of its own, for tests that kill it.

python -m tests.paper.studies.tiny_run RESOURCES OUT WORKERS
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.paper.experiments.rooms import tiny_resources

from paper.experiments.cells import Cell, Training
from paper.experiments.ledger import RecordLookup
from paper.experiments.resources import Scope
from paper.studies.exhibit import Exhibit, Figure, Part, PlotLine, Table
from paper.studies.exhibits._rows import METHODS
from paper.studies.reproduce import ExecutionOptions, reproduce

SEEDS = 2


def supervised_cells(scope: Scope) -> Iterator[Cell]:
    """The baseline and one supervised row."""
    for place in scope.places("memnet", "laptop"):
        yield from (METHODS[name].training_in(place) for name in ("", "+AW-AS"))


def longer_cells(scope: Scope) -> Iterator[Cell]:
    """The same baseline, and one that trains on."""
    for place in scope.places("memnet", "laptop"):
        yield from (METHODS[name].training_in(place) for name in ("", "+KT"))


def _scores(scope: Scope, lookup: RecordLookup, cells: Iterator[Cell]) -> Table:
    rows = []
    for cell in cells:
        record = lookup(cell) or {}
        kind = cell.evidence.method if isinstance(cell, Training) and cell.evidence else ""
        rows.append((kind or "plain", cell.place.seed, record.get("accuracy"), record.get("predicted")))
    return Table("scores", "Scores", ("evidence", "seed", "accuracy", "predicted"), tuple(rows))


def show_supervised(scope: Scope, lookup: RecordLookup) -> Sequence[Part]:
    """A table and a figure."""
    table = _scores(scope, lookup, supervised_cells(scope))
    points = [(x, y) for _, x, y, _ in table.rows if isinstance(x, int) and isinstance(y, float)]
    line = PlotLine("all", tuple(x for x, _ in points), tuple(y for _, y in points))
    return [table, Figure("curve", "Scores by seed", "seed", "accuracy", (("MN", (line,)),))]


def show_longer(scope: Scope, lookup: RecordLookup) -> Sequence[Part]:
    """A table."""
    return [_scores(scope, lookup, longer_cells(scope))]


SUPERVISED = Exhibit("supervised", "Supervised", show_supervised)
LONGER = Exhibit("longer", "Longer", show_longer)


def main(words: Sequence[str]) -> int:
    """Carry them out."""
    files, out, workers = words
    scope = Scope(tiny_resources(Path(files)), seeds=SEEDS)
    means = ExecutionOptions(workers=int(workers))
    report = reproduce([SUPERVISED, LONGER], scope, Path(out), means, command="tiny run")
    return 0 if report.is_complete else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
