"""Trained parameters by model, and the settings of the paper, its published code and ours side by side."""

from __future__ import annotations

from collections.abc import Sequence

from paper.experiments.cells import Training
from paper.experiments.ledger import RecordLookup
from paper.experiments.resources import Scope
from paper.studies.exhibit import Exhibit, Part, Table, TableRow
from paper.studies.exhibits._rows import ATTENDING, NAMES
from paper.studies.paper import RELEASED, SETTINGS
from pssa import models
from pssa.runs.resolve import choose_epsilon, choose_penalty, resolve
from pssa.runs.settings import Config

__all__ = ["EXHIBIT"]

_OF_TRAINING = ("learning_rate", "batch_size", "clip_norm", "schedule", "warmup")
_OF_MINING = ("start", "iterations", "round_epochs", "samples", "sigma", "folds")
_OF_OPTIONS = ("train_embeddings", "hidden", "initial_bound", "dropout")
_COUNT_NOTES = (
    "Of the plain model. Word vectors count if training changes them, one row for each word of the training file, so the number "
    "depends on the data; models on an encoder have the same number for all. The paper gives none. Supervision adds none.",
)
_NOTES = (
    "Ours are the defaults; `gamma` is for mined words and was chosen on held-out data, as the paper's was. `published code`: "
    "the code released with the paper. Empty: not given, or there is no such setting.",
)


def show(scope: Scope, lookup: RecordLookup) -> Sequence[Part]:
    """Return counts and settings."""
    return [_counts(scope, lookup), _settings()]


def _counts(scope: Scope, lookup: RecordLookup) -> Table:
    rows = tuple(
        (name, *(_count(scope, lookup, model, data) for data in scope.data))
        for model, name in NAMES.items()
        if scope.has(model)
    )
    columns = ("model", *(data.upper() for data in scope.data))
    return Table("parameters-counts", "Trained parameters", columns, rows, _COUNT_NOTES, columns[1:])


def _count(scope: Scope, lookup: RecordLookup, model: str, data: str) -> int | None:
    """Return the number of parameters, which is the same for every seed and, on an encoder, for all data."""
    measured = scope.data[0] if models.uses_encoder(model) else data
    found = (lookup(Training(place)) for place in scope.places(model, measured, 1))
    return next((int(record["parameters"]) for record in found if record is not None), None)


def _settings() -> Table:
    ours = {model: _ours(model) for model in ATTENDING}
    names = dict.fromkeys((*SETTINGS, *RELEASED, *(name for values in ours.values() for name in values)))
    rows: list[TableRow] = []
    for name in names:
        for number, model in enumerate(ATTENDING):
            printed = [table[name][number] or None if name in table else None for table in (SETTINGS, RELEASED)]
            fields = (*printed, ours[model].get(name))
            if any(field is not None for field in fields):
                rows.append((name, NAMES[model], *fields))
    columns = ("setting", "model", "paper", "published code", "ours")
    return Table("parameters-settings", "Settings", columns, tuple(rows), _NOTES)


def _ours(model: str) -> dict[str, str]:
    config = resolve(Config().updated({"model": model}))
    options = models.option_defaults(model)
    penalty = choose_penalty(config)
    values: dict[str, object] = {
        "starts from": "any encoder" if models.uses_encoder(model) else "word vectors of any file",
        **{name: options[name] for name in _OF_OPTIONS if name in options},
        "optimiser": "Adam",
        **{name: getattr(config.training, name) for name in _OF_TRAINING},
        "epochs": config.training.usual_epochs or f"searched, at most {config.training.max_epochs}",
        **{name: getattr(config.mining, name) for name in _OF_MINING},
        "epsilon of AW-AS": choose_epsilon(config.updated({"method": "aw-as"})),
        "epsilon of PG-AS": choose_epsilon(config.updated({"method": "pg-as"})),
        "gamma": penalty.gamma,
        "distance": penalty.distance,
        "expected of an active word": "1 / number" if penalty.equal_shares else "1",
    }
    return {name: _text(value) for name, value in values.items()}


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


EXHIBIT = Exhibit("parameters", "Trained parameters and settings", show)
