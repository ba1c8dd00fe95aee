"""The paper's table of smaller training corpora: the first 25, 50 and 75 % of train, and all of it.

The paper has it for BERTABSA-ATT only; MN and TNet-ATT are ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pssa.experiments.cells import Cell
from pssa.experiments.ledger import RecordLookup
from pssa.experiments.resources import Scope
from pssa.studies.exhibit import Exhibit, Figure, Part, Table, TableRow, format_percent
from pssa.studies.exhibits._rows import (
    COLUMNS,
    FAMILIES,
    FEW_SEEDS,
    NAMES,
    STARS,
    ModelRow,
    Scoreboard,
    cells_of,
    entries,
)
from pssa.studies.paper import CORPUS_SIZE

__all__ = ["EXHIBIT"]

SHARES = (0.25, 0.5, 0.75, 1.0)
_METHODS = ("", "+Boosting", "+Adaboost", "+AW-AS", "+PG-AS")
_NOTES = (
    f"`gain`: mean difference to the same model without the method on the same part, accuracy / macro-F1. {STARS}",
    f"At most {FEW_SEEDS} seeds. A part is the first lines of train, which is shuffled, as in the released code; "
    "the number of epochs is searched for in each part, where it is not fixed.",
)


def cells(scope: Scope) -> Iterator[Cell]:
    """Yield the trainings; those on all of train are shared with the overall results."""
    rows = (_at(entry, share) for family in FAMILIES for share in SHARES for entry in _entries(family))
    return cells_of(scope, rows)


def show(scope: Scope, lookup: RecordLookup) -> Sequence[Part]:
    """Return a table per family of models and data set, and a figure per family."""
    board, parts = Scoreboard(scope, lookup), list[Part]()
    for family in (family for family in FAMILIES if scope.has(family[-1])):
        parts += [_figure(scope, board, family)]
        parts += [_table(scope, board, family, data) for data in scope.data]
    return parts


def _entries(family: tuple[str, ...]) -> tuple[ModelRow, ...]:
    return entries(family, _METHODS, FEW_SEEDS)


def _at(entry: ModelRow, share: float) -> ModelRow:
    return replace(entry, share=share)


def _shares(board: Scoreboard, family: tuple[str, ...], data: str) -> tuple[float, ...]:
    """Return the shares to show: all of train only if a part of it was trained on too."""
    parts = SHARES[:-1]
    is_measured = any(board.row(_at(entry, share), data) for share in parts for entry in _entries(family))
    return SHARES if is_measured else parts


def _table(scope: Scope, board: Scoreboard, family: tuple[str, ...], data: str) -> Table:
    rows: list[TableRow] = []
    for share in _shares(board, family, data):
        for entry in (_at(entry, share) for entry in _entries(family) if scope.has(entry.model)):
            paper = CORPUS_SIZE[share].get((entry.model, entry.method.name, data))
            rows.append((format_percent(share, 0), *board.fields(entry, data, paper)))
    name, title = f"corpus-size-{family[-1]}-{data}", f"{NAMES[family[-1]]}, {data.upper()}"
    return Table(name, title, ("corpus", *COLUMNS), tuple(rows), _NOTES, ("seeds",))


def _figure(scope: Scope, board: Scoreboard, family: tuple[str, ...]) -> Figure:
    panels = []
    for data in scope.data:
        shares = _shares(board, family, data)
        drawn = (
            board.line(entry.name, {100 * share: _at(entry, share) for share in shares}, data)
            for entry in _entries(family)
        )
        panels.append((data.upper(), tuple(line for line in drawn if line)))
    title = f"{NAMES[family[-1]]}: macro-F1 by share of the training corpus"
    return Figure(f"corpus-size-{family[-1]}", title, "% of train", "macro-F1", tuple(panels))


EXHIBIT = Exhibit("corpus-size", "Smaller training corpora", cells, show)
