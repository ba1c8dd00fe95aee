"""The paper's table of refining BERT's own self-attention, beside attention on top of it: ten rows.

Evidence for a refined model is mined by a model that is refined alike, by the gradient saliency of the top layer's attention.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from paper.experiments.ledger import RecordLookup
from paper.experiments.resources import Scope
from paper.studies.exhibit import Exhibit, Part, Table, TableRow
from paper.studies.exhibits._rows import COLUMNS, FEW_SEEDS, METHODS, STARS, ModelRow, Scoreboard, refined
from paper.studies.paper import SELF_ATTENTION

__all__ = ["EXHIBIT"]

# The setting `refine`, and what the paper calls it.
_HEADS = {"random_head": "randomly selected", "smallest_entropy": "smallest entropy", "average": "average"}
_NOTES = (
    f"`gain`: mean difference to the same model without a method, accuracy / macro-F1. {STARS} At most {FEW_SEEDS} seeds.",
    "`head`: heads of the top layer whose attention is mined and supervised. Saliency is the gradient of the predicted class "
    "with respect to the attention itself, since the gradient with respect to other words' states is zero in these models.",
    "The paper's encoder is BERT-large. The paper has these rows on REST and TWITTER too; each takes two trainings within the "
    "encoder and a mining for every seed, and is left out there for its cost.",
)


def _entries() -> Iterator[tuple[str, ModelRow]]:
    """Yield rows with their key in the paper's table."""
    for name in ("", "+PG-AS"):
        yield name, ModelRow("bertabsa_att", METHODS[name])
    for model in ("bertabsa", "bertabsa_cls"):
        yield "", ModelRow(model, METHODS[""])
        for heads in _HEADS:
            yield heads, ModelRow(model, refined(heads))


_DATA = "laptop"
_ENTRIES = tuple((key, replace(entry, method=replace(entry.method, seeds=FEW_SEEDS))) for key, entry in _entries())


def show(scope: Scope, lookup: RecordLookup) -> Sequence[Part]:
    """Return one table."""
    return [_table(scope, Scoreboard(scope, lookup), _DATA)]


def _table(scope: Scope, board: Scoreboard, data: str) -> Table:
    rows: list[TableRow] = []
    for key, entry in _ENTRIES:
        if scope.has(entry.model):
            name, *others = board.fields(entry, data, SELF_ATTENTION.get((entry.model, key, data)))
            rows.append((name, _HEADS.get(key), *others))
    columns = (COLUMNS[0], "head", *COLUMNS[1:])
    return Table(f"self-attention-{data}", data.upper(), columns, tuple(rows), _NOTES, ("seeds",))


_TITLE = "Supervision of the self-attention within BERT"
EXHIBIT = Exhibit("self-attention", _TITLE, show, needs=("encoder", _DATA))
