"""The paper's table of mining against random masking: supervision by random words, by attention and by gradients.

The paper has it for BERTABSA-ATT only; the same rows for MN and TNet-ATT are ours.
"""

from __future__ import annotations

from collections.abc import Sequence

from paper.experiments.ledger import RecordLookup
from paper.experiments.resources import Scope
from paper.studies.exhibit import HEADLINE, Exhibit, Part, Table, TableRow
from paper.studies.exhibits._rows import (
    COLUMNS,
    FAMILIES,
    SMALLER_PLAN,
    STARS,
    ModelRow,
    Scoreboard,
    entries,
    format_gain,
)
from paper.studies.paper import OVERALL, RANDOM_MASKING

__all__ = ["EXHIBIT"]

_METHODS = ("", "+Boosting", "+Adaboost", "+RM-AS", "+AW-AS", "+PG-AS")
_ENTRIES = tuple(entry for family in FAMILIES for entry in entries(family, _METHODS))
_NOTES = (
    "`gain`: mean difference to the same model without the method, accuracy / macro-F1; `over +RM-AS`: to random words "
    f"as evidence. {STARS}",
    "+RM-AS takes a random word where +PG-AS takes the one with the largest gradient score; scores and the decision between "
    "active and misleading are those of +PG-AS, the threshold is that of +AW-AS.",
    "The paper has this table for the BERTABSA models; MN and TNet-ATT are beside its overall results. Its two ensembles have "
    f"other scores here than in the table of overall results. {SMALLER_PLAN}",
)


def show(scope: Scope, lookup: RecordLookup) -> Sequence[Part]:
    """Return one table per data set."""
    board = Scoreboard(scope, lookup)
    return [_table(scope, board, data) for data in scope.data]


def _table(scope: Scope, board: Scoreboard, data: str) -> Table:
    rows = tuple(_fields(board, entry, data) for entry in _ENTRIES if scope.has(entry.model))
    return Table(f"random-masking-{data}", data.upper(), (*COLUMNS, "over +RM-AS"), rows, _NOTES, ("seeds",))


def _fields(board: Scoreboard, entry: ModelRow, data: str) -> TableRow:
    key = (entry.model, entry.method.name, data)
    over = None
    if entry.method.name in ("+AW-AS", "+PG-AS"):
        over = board.gain(entry, entry.with_method("+RM-AS"), data)
    return (*board.fields(entry, data, RANDOM_MASKING.get(key) or OVERALL.get(key)), format_gain(over))


EXHIBIT = Exhibit("random-masking", "Mined words against random words", show, encoders=HEADLINE)
