"""What the exhibit `readings` chooses on held-out data: the threshold of PG-AS, and gamma where epochs are searched with it.

A fifth of train judges, held out by sentence; no test file is opened. The cells of the threshold are those of `epsilon`.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence

from pssa.experiments.cells import Cell, Mining, Place, Training, settings
from pssa.experiments.comparison import Row, gather, mean_and_std
from pssa.experiments.ledger import RecordLookup
from pssa.experiments.resources import Scope
from pssa.runs.config import Config
from pssa.runs.defaults import choose_epsilon, choose_penalty
from pssa.studies.exhibit import Exhibit, Part, Table, TableRow, format_mean
from pssa.studies.exhibits._rows import FEW_SEEDS, NAMES, mean_scores

__all__ = ["EXHIBIT"]

_METHOD = "pg-as"
_MODELS = ("memnet", "tnet_att")
_EPSILONS = (1.0, 2.0)  # beside the default
_FACTORS = (0.25, 1.0, 4.0)  # of the default gamma
_GAMMA_DATA = ("laptop", "rest")  # as for the default itself
_NOTES = (
    f"Accuracy / macro-F1 on a fifth of train, held out by sentence, another one for each of {FEW_SEEDS} seeds; no test file is "
    "opened. `mean`: of macro-F1 over the data sets on which every value was measured; the highest is chosen.",
)


def default_epsilon(model: str) -> float:
    """Return the threshold that a model has by default."""
    return choose_epsilon(Config(model=model, method=_METHOD))


def default_gamma(model: str) -> float:
    """Return the gamma that a model has by default."""
    return choose_penalty(Config(model=model, method=_METHOD)).gamma


def _epsilons(model: str) -> tuple[float, ...]:
    return (*_EPSILONS, default_epsilon(model))


def _gammas(model: str) -> tuple[float, ...]:
    return tuple(factor * default_gamma(model) for factor in _FACTORS)


def _with_epsilon(place: Place, epsilon: float) -> Training:
    return Training(place, evidence=(Mining(place, _METHOD, settings(epsilon=epsilon)),))


def _with_gamma(place: Place, gamma: float) -> Training:
    evidence = _with_epsilon(place, default_epsilon(place.model)).evidence
    return Training(place, evidence=evidence, settings=settings(final_epochs="search", gamma=gamma))


def _trainings(scope: Scope, model: str, data: str, value: float, axis: str) -> dict[int, Training]:
    training = _with_epsilon if axis == "epsilon" else _with_gamma
    return {place.seed: training(place, value) for place in scope.places(model, data, FEW_SEEDS, held_out=True)}


def _axes(scope: Scope) -> Iterator[tuple[str, str, tuple[float, ...], tuple[str, ...]]]:
    """Yield what is chosen for each model: its name, the model, the values and the data sets."""
    for model in (model for model in _MODELS if scope.has(model)):
        yield "epsilon", model, _epsilons(model), scope.data
        yield "gamma", model, _gammas(model), tuple(data for data in _GAMMA_DATA if data in scope.data)


def cells(scope: Scope) -> Iterator[Cell]:
    """Yield a training for each value."""
    for axis, model, values, data_sets in _axes(scope):
        for data in data_sets:
            yield from (cell for value in values for cell in _trainings(scope, model, data, value, axis).values())


def show(scope: Scope, lookup: RecordLookup) -> Sequence[Part]:
    """Return a table for the threshold and one for gamma."""
    titles = {"epsilon": "The threshold of PG-AS", "gamma": "Gamma, with a number of epochs searched under supervision"}
    return [_table(scope, lookup, axis, title) for axis, title in titles.items()]


def _table(scope: Scope, lookup: RecordLookup, axis: str, title: str) -> Table:
    rows: list[TableRow] = []
    for name, model, values, data_sets in _axes(scope):
        if name == axis:
            found = {value: _rows(scope, lookup, model, value, axis, data_sets) for value in values}
            rows += _fields(scope, model, axis, found)
    columns = ("model", axis, *(data.upper() for data in scope.data), "epochs", "mean", "chosen")
    return Table(f"readings-held-out-{axis}", title, columns, tuple(rows), _NOTES, ("mean",))


def _rows(
    scope: Scope, lookup: RecordLookup, model: str, value: float, axis: str, data_sets: Sequence[str]
) -> dict[str, Row]:
    return {data: gather(lookup, _trainings(scope, model, data, value, axis)) for data in data_sets}


def _fields(scope: Scope, model: str, axis: str, found: Mapping[float, Mapping[str, Row]]) -> Iterator[TableRow]:
    measured = [data for data in scope.data if all(rows.get(data) for rows in found.values())]
    means = (
        {value: statistics.mean(_macro_f1(rows[data]) for data in measured) for value, rows in found.items()}
        if measured
        else {}
    )
    best = max(means, key=lambda value: means[value]) if means else None
    usual = default_epsilon(model) if axis == "epsilon" else default_gamma(model)
    for value, rows in found.items():
        scores = (mean_scores(rows.get(data, {})) for data in scope.data)
        epochs = [record["epochs"] for row in rows.values() for record in row.values()]
        shown = f"{value:g}{' (default)' if value == usual else ''}"
        mean = format_mean([means[value] / 100] if means else [])
        number = round(statistics.mean(epochs), 1) if epochs else None
        yield (NAMES[model], shown, *scores, number, mean, "chosen" if value == best else "")


def _macro_f1(row: Row) -> float:
    return mean_and_std([record["macro_f1"] for record in row.values()])[0]


EXHIBIT = Exhibit(
    "readings-held-out", "What other readings choose on held-out data", cells, show, needs=("vectors",), beyond=True
)
