"""What other readings choose on held-out data: gamma, with a number of epochs that is searched under supervision.

The default gamma was chosen with the number of epochs of a training without evidence. A fifth of train judges, held out by
sentence; no test file is opened. The threshold is chosen in `epsilon`, whose minings serve here too.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence

from paper.experiments.cells import Mining, Training, settings
from paper.experiments.comparison import Row, gather
from paper.experiments.ledger import RecordLookup
from paper.experiments.resources import Scope
from paper.studies.exhibit import Exhibit, Part, Table, TableRow, format_mean
from paper.studies.exhibits._rows import FEW_SEEDS, NAMES, mean_scores
from pssa.runs.resolve import choose_epsilon, choose_penalty
from pssa.runs.settings import Config

__all__ = ["EXHIBIT"]

_METHOD = "pg-as"
_MODELS = ("memnet", "tnet_att")
_FACTORS = (0.25, 1.0, 4.0)  # of the default gamma
_DATA = ("laptop", "rest")  # as for the default itself
_NOTES = (
    f"+PG-AS. Accuracy / macro-F1 on a fifth of train, held out by sentence, another one for each of {FEW_SEEDS} seeds; no test "
    "file is opened. `epochs`: their mean. `mean`: of macro-F1 over the data sets on which every gamma was measured; the highest "
    "is chosen.",
)


def _default(model: str) -> float:
    return choose_penalty(Config(model=model, method=_METHOD)).gamma


def _trainings(scope: Scope, model: str, data: str, gamma: float) -> list[Training]:
    """Return the trainings with a gamma, by seed."""
    threshold = settings(epsilon=choose_epsilon(Config(model=model, method=_METHOD)))
    chosen = settings(final_epochs="search", gamma=gamma)
    places = scope.places(model, data, FEW_SEEDS, held_out=True)
    return [Training(place, evidence=Mining(place, _METHOD, threshold), settings=chosen) for place in places]


def _gammas(model: str) -> tuple[float, ...]:
    return tuple(factor * _default(model) for factor in _FACTORS)


def _data(scope: Scope) -> tuple[str, ...]:
    return tuple(data for data in _DATA if data in scope.data)


def show(scope: Scope, lookup: RecordLookup) -> Sequence[Part]:
    """Return the scores of each gamma, and the one that is chosen."""
    rows = [row for model in _MODELS if scope.has(model) for row in _rows(scope, lookup, model)]
    columns = ("model", "gamma", *(data.upper() for data in _data(scope)), "epochs", "mean", "chosen")
    title = "Gamma, with a number of epochs searched under supervision"
    return [Table("readings-held-out-gamma", title, columns, tuple(rows), _NOTES, ("epochs",))]


def _rows(scope: Scope, lookup: RecordLookup, model: str) -> Iterator[TableRow]:
    found = {
        gamma: {data: gather(lookup, _trainings(scope, model, data, gamma)) for data in _data(scope)}
        for gamma in _gammas(model)
    }
    means = _means(found)
    best = max(means, key=lambda gamma: (means[gamma], gamma == _default(model))) if means else None
    for gamma, rows in found.items():
        epochs = [record["epochs"] for row in rows.values() for record in row.values()]
        name = f"{gamma:g}{' (default)' if gamma == _default(model) else ''}"
        number = round(statistics.mean(epochs), 1) if epochs else None
        mean = format_mean([means[gamma]] if means else [])
        yield (NAMES[model], name, *map(mean_scores, rows.values()), number, mean, "chosen" if gamma == best else "")


def _means(found: Mapping[float, Mapping[str, Row]]) -> dict[float, float]:
    """Return the mean macro-F1 of each gamma over the data sets on which all have the same seeds; empty without any."""
    first, *others = found.values()
    common = [data for data in first if first[data] and all(rows[data].keys() == first[data].keys() for rows in others)]
    if not common:
        return {}
    return {gamma: statistics.mean(_macro_f1(rows[data]) for data in common) for gamma, rows in found.items()}


def _macro_f1(row: Row) -> float:
    return statistics.mean(float(record["macro_f1"]) for record in row.values())


EXHIBIT = Exhibit("readings-held-out", "What other readings choose on held-out data", show, needs=("vectors",))
