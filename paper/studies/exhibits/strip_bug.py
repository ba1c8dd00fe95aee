"""The paper's footnote: TNet's released code strips letters of the target along with its tag; what that changes.

The paper says that its models gain on the damaged files too; the appendix with the numbers is not published.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from paper.experiments.cells import Place
from paper.experiments.ledger import RecordLookup
from paper.experiments.resources import Scope
from paper.studies.exhibit import SWEEP, Exhibit, Part, Table, TableRow, format_percent
from paper.studies.exhibits._rows import (
    ATTENDING,
    FEW_SEEDS,
    METHODS,
    STARS,
    ModelRow,
    Scoreboard,
    format_gain,
)

__all__ = ["EXHIBIT"]

_METHODS = ("", "+PG-AS")
_ENTRIES = tuple(ModelRow(model, replace(METHODS[name], seeds=FEW_SEEDS)) for model in ATTENDING for name in _METHODS)
_COLUMNS = (
    *("model", "seeds", "sound accuracy", "sound macro-F1", "stripped accuracy", "stripped macro-F1"),
    *("stripped - sound", "gain on sound", "gain on stripped"),
)
_NOTES = (
    "`sound`: the files as they are; `stripped`: targets of train and test damaged as by `'nicki/n'.strip('/n')`, which is "
    f"`'icki'`. Differences are accuracy / macro-F1. {STARS} At most {FEW_SEEDS} seeds.",
    "The footnote holds where `gain on stripped` is significant. The damage depends on the label, so the lost letters reveal it. "
    "+AW-AS is left out for its cost; +PG-AS stands for mined words here.",
)


def show(scope: Scope, lookup: RecordLookup) -> Sequence[Part]:
    """Return how much is damaged, and a table per data set."""
    board = Scoreboard(scope, lookup)
    return [_damage(scope), *(_table(scope, board, data) for data in scope.data)]


def _stripped(entry: ModelRow) -> ModelRow:
    return replace(entry, stripped=True)


def _table(scope: Scope, board: Scoreboard, data: str) -> Table:
    rows: list[TableRow] = []
    for entry in (entry for entry in _ENTRIES if scope.has(entry.model)):
        damaged = _stripped(entry)
        gains = (
            board.gain(damaged, entry, data),
            *(board.gain(each, each.with_method(""), data) for each in (entry, damaged)),
        )
        scores = (*board.scores(entry, data), *board.scores(damaged, data))
        rows.append((entry.name, len(board.row(damaged, data)), *scores, *(format_gain(gain) for gain in gains)))
    return Table(f"strip-bug-{data}", data.upper(), _COLUMNS, tuple(rows), _NOTES, ("seeds",))


def _damage(scope: Scope) -> Table:
    """Return the number of instances whose target changes."""
    rows: list[TableRow] = []
    for data in (data for data in scope.data if scope.resources.sources[data].test):
        sound, stripped = (scope.resources.corpora(Place(data, "", 0, stripped=bug)) for bug in (False, True))
        for part, before, after in zip(("train", "test"), sound, stripped, strict=True):
            changed = sum(ours.words != theirs.words for ours, theirs in zip(before, after, strict=True))
            rows.append((data.upper(), part, len(before), changed, format_percent(changed / len(before))))
    columns = ("data", "part", "instances", "damaged", "share")
    note = "A word that would become empty, such as a target `/`, stays whole here."
    return Table("strip-bug-damage", "Damaged targets", columns, tuple(rows), (note,))


EXHIBIT = Exhibit("strip-bug", "Wrongly stripped targets", show, encoders=SWEEP)
