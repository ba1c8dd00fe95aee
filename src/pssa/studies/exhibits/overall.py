"""The paper's table of overall results: five models, plain and with every method, on three data sets, beside the paper's numbers.

Optimistic columns tell what the same trainings would report if the epoch, or the number of rounds, were chosen on the test set.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pssa.experiments.cells import Cell
from pssa.experiments.comparison import METRICS, Row, mean_spread
from pssa.experiments.reading import Reading, pair
from pssa.experiments.scope import Findings, Scope
from pssa.studies.exhibit import Exhibit, Part, Prose, Table, Value
from pssa.studies.exhibits._board import COLUMNS, STARS, Board, Entry, told
from pssa.studies.exhibits._gains import aim, averages, gains, gains_over_control
from pssa.studies.paper import OVERALL, QUOTED
from pssa.studies.rows import METHODS, PAPER_PENALTY, paper_rows

__all__ = ["EXHIBIT"]

_MODELS = ("memnet", "tnet", "tnet_att", "bertabsa", "bertabsa_att")
# What the stars of the paper's caption are against, where it is another model than the row's own.
_CAPTION = {"tnet_att": "tnet", "bertabsa_att": "bertabsa"}
_OPTIMISTIC = ("+AW-AS", "+PG-AS")
# Rounds that the number of rounds could be chosen from on the test set, besides all of them.
_FEWER = (1, 2)
_NOTES = (
    "`gain`: mean difference to the same model without the method, accuracy / macro-F1; `over TNet or BERTABSA`: to that model, "
    f"as in the paper's caption. {STARS} `again` is the baseline with other random numbers. `paper's penalty`: the paper's "
    "distance and gamma instead of those that held-out data chose, beside the paper's numbers of the same row.",
    "The last two columns choose on the test set and are no results. `best epoch`: the epoch of the highest accuracy, of every "
    "single model; ensembles and +KT have no such epochs. `best K`: the best mean accuracy with 1, 2 or all 5 rounds, over the "
    "seeds that have all three; 3 and 4 are not tried, nor any of encoders, since each takes a training for every seed.",
)


def cells(scope: Scope) -> Iterator[Cell]:
    """Rows that need the same evidence or baseline share it."""
    for data in scope.data:
        for entry in _entries(_MODELS):
            yield from entry.trainings(scope, data).values()
            yield from (cell for fewer in _fewer(entry) for cell in fewer.trainings(scope, data).values())


def show(scope: Scope, findings: Findings) -> Sequence[Part]:
    """What it comes to, a table per data set, and the rows that the paper quotes."""
    board = Board(scope, findings)
    summed = [part(scope, board) for part in (aim, averages, gains, gains_over_control)]
    return [*summed, *(_table(scope, board, data) for data in scope.data), _quoted()]


def _entries(models: Sequence[str]) -> list[Entry]:
    return [Entry(model, method) for model in models for method in paper_rows(model)]


def _fewer(entry: Entry) -> list[Entry]:
    """The entry with fewer rounds; encoders are too dear for it."""
    if entry.method.name not in _OPTIMISTIC or entry.model.startswith("bertabsa"):
        return []
    return [replace(entry, method=replace(entry.method, rounds=rounds)) for rounds in _FEWER]


def _table(scope: Scope, board: Board, data: str) -> Table:
    tried = (entry for entry in _entries(_MODELS) if entry.trainings(scope, data))
    rows = [_fields(board, entry, data) for entry in tried]
    columns = (*COLUMNS[:5], "over TNet or BERTABSA", *COLUMNS[5:], "best epoch on test", "best K on test")
    return Table(f"overall-{data}", data.upper(), columns, tuple(rows), _NOTES, ("seeds",))


def _fields(board: Board, entry: Entry, data: str) -> tuple[Value, ...]:
    first = board.fields(entry, data, OVERALL.get((entry.model, entry.method.name.removesuffix(PAPER_PENALTY), data)))
    other = _CAPTION.get(entry.model)
    over = told(board.gain(entry, Entry(other, METHODS[""]), data) if other else None)
    return (*first[:5], over, *first[5:], _best_epoch(board.row(entry, data)), _best_rounds(board, entry, data))


def _best_epoch(row: Row) -> Reading:
    """What the best epoch on test would report, by accuracy and then macro-F1 as the released code chooses."""
    curves = [record["curve"] for record in row.values()]
    if not row or not all(curves):
        return pair(None)
    best = [max(tuple(point) for point in curve) for curve in curves]
    return pair([mean_spread(list(column))[0] for column in zip(*best, strict=True)])


def _best_rounds(board: Board, entry: Entry, data: str) -> Reading:
    """What the best number of rounds on test would report, by mean accuracy."""
    rows = [board.row(each, data) for each in (entry, *_fewer(entry))]
    common = set.intersection(*(set(row) for row in rows))
    if len(rows) == 1 or not common:
        return pair(None)
    chosen = max(rows, key=lambda row: statistics.mean(row[seed]["accuracy"] for seed in common))
    return pair([mean_spread([chosen[seed][metric] for seed in common])[0] for metric in METRICS])


def _quoted() -> Prose:
    told_of = (
        f"{name}: {', '.join(f'{data.upper()} {numbers}' for data, numbers in rows.items())}"
        for name, rows in QUOTED.items()
    )
    return Prose(f"Rows that the paper quotes from others, accuracy / macro-F1: {'; '.join(told_of)}.")


EXHIBIT = Exhibit("overall", "Overall results", cells, show)
