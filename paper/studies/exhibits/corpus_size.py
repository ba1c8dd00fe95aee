"""The paper's table of smaller training corpora: the first 25 and 50 % of train, and all of it.

The paper has it for BERTABSA-ATT only; MN and TNet-ATT are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from paper.experiments.ledger import RecordLookup
from paper.experiments.resources import Scope
from paper.studies.exhibit import SWEEP, Exhibit, Figure, Part, Table, TableRow, format_percent, plot_line
from paper.studies.exhibits._rows import (
    ATTENDING,
    COLUMNS,
    FEW_SEEDS,
    NAMES,
    STARS,
    ModelRow,
    Scoreboard,
    entries,
)
from paper.studies.paper import CORPUS_SIZE

__all__ = ["EXHIBIT"]

SHARES = (0.25, 0.5, 1.0)
_METHODS = ("", "+PG-AS")
_NOTES = (
    f"`gain`: mean difference to the same model without the method on the same part, accuracy / macro-F1. {STARS}",
    f"At most {FEW_SEEDS} seeds. A part is the first lines of train, which is shuffled, as in the released code; "
    "the number of epochs is searched for in each part, where it is not fixed.",
    "Left out of the paper's table for their cost: 75 % of train, between the two last points; +AW-AS and the ensembles, "
    "which the overall results have on all of train; and models that do not attend.",
)


def show(scope: Scope, lookup: RecordLookup) -> Sequence[Part]:
    """Return a table per model and data set, and a figure per model."""
    board, parts = Scoreboard(scope, lookup), list[Part]()
    for model in (model for model in ATTENDING if scope.has(model)):
        parts += [_figure(scope, board, model)]
        parts += [_table(scope, board, model, data) for data in scope.data]
    return parts


def _entries(model: str) -> tuple[ModelRow, ...]:
    return entries((model,), _METHODS, FEW_SEEDS)


def _at(entry: ModelRow, share: float) -> ModelRow:
    return replace(entry, share=share)


def _shares(board: Scoreboard, model: str, data: str) -> tuple[float, ...]:
    """Return the shares to show: all of train only if a part of it was trained on too."""
    parts = SHARES[:-1]
    found = {share: [board.row(_at(entry, share), data) for entry in _entries(model)] for share in SHARES}
    return SHARES if any(row for share in parts for row in found[share]) else parts


def _table(scope: Scope, board: Scoreboard, model: str, data: str) -> Table:
    rows: list[TableRow] = []
    for share in _shares(board, model, data):
        for entry in (_at(entry, share) for entry in _entries(model) if scope.has(entry.model)):
            paper = CORPUS_SIZE[share].get((entry.model, entry.method.name, data))
            rows.append((format_percent(share, 0), *board.fields(entry, data, paper)))
    name, title = f"corpus-size-{model}-{data}", f"{NAMES[model]}, {data.upper()}"
    return Table(name, title, ("corpus", *COLUMNS), tuple(rows), _NOTES, ("seeds",))


def _figure(scope: Scope, board: Scoreboard, model: str) -> Figure:
    panels = []
    for data in scope.data:
        lines = []
        for entry in _entries(model):
            rows = {100 * share: board.row(_at(entry, share), data) for share in _shares(board, model, data)}
            scores = {x: [record["macro_f1"] for record in row.values()] for x, row in rows.items()}
            lines.append(plot_line(entry.name, scores))
        panels.append((data.upper(), tuple(line for line in lines if line.x)))
    title = f"{NAMES[model]}: macro-F1 by share of the training corpus"
    return Figure(f"corpus-size-{model}", title, "% of train", "macro-F1", tuple(panels))


EXHIBIT = Exhibit("corpus-size", "Smaller training corpora", show, encoders=SWEEP)
