"""The key of a cell in the ledger.

A key is a hash of what decides the cell's outcome: the cell itself, the content of the files it reads, and the settings that
differ from the defaults frozen in `frozen_defaults.json`. It does not depend on the version of the package, on where code
lives, or on settings that are added later and stay at their default. So the ledger keeps its records when the code changes,
and a default that changes makes new cells of exactly those it decides.

`Resources.settings_in` pins some settings for every cell, whatever their default: they are left out of the key.

When you change a default: leave `frozen_defaults.json` as it is. If it does not list the setting yet, add it there with its
old default.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any

from paper.experiments.cells import (
    GIVEN,
    Analysis,
    Cell,
    Mining,
    Setting,
    Training,
    describe,
    mining_method,
    settings,
    with_needs,
)
from pssa import models
from pssa.runs.resolve import choose_penalty, resolve
from pssa.runs.settings import Config

_VERSION = "2"  # of this serialisation; version 1 hashed the package's version and every setting
_FROZEN = Path(__file__).with_name("frozen_defaults.json")
_SUPERVISED = "evidence"  # stands in for the method of a training that mined evidence supervises
# Files are told apart by their content, which is in the key already.
_FILES = ("data.train", "data.dev", "data.vectors", "data.encoder", "data.columns", "supervision.evidence")


def cell_key(cell: Cell, files: Mapping[str, Any], everywhere: Mapping[str, Any]) -> str:
    """Return the key of a cell.

    :param files: fingerprints of the files that the cell reads.
    :param everywhere: settings of all cells.
    """
    changed = [one for each in with_needs([cell]) for one in changed_settings(each, everywhere)]
    known = {"version": _VERSION, "cell": describe(cell), "files": dict(files), "settings": changed}
    return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()[:16]


def changed_settings(cell: Cell, everywhere: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return, for each run of a cell, its settings that are not at their frozen default; runs without any are left out."""
    place = {"model": cell.place.model, **everywhere, **dict(cell.place.settings)}
    match cell:
        case Mining(method=method) if method in GIVEN:
            return []
        case Analysis():
            return []
        case Mining():
            chosen = place | dict(cell.settings) | {"method": cell.method}
            runs = [_changed(cell.method, settings(**chosen), "mining")]
        case Training(evidence=None):
            runs = [_changed(cell.method, settings(**place | dict(cell.settings) | {"method": cell.method}))]
        case Training(evidence=Mining() as mining):
            # A file of evidence is how mined words reach a training.
            chosen = place | dict(cell.settings) | {"evidence": "mined"}
            chosen["gamma"] = choose_penalty(Config().updated(chosen), mining_method(mining)).gamma
            runs = [_changed(_SUPERVISED, settings(**chosen), "supervision")]
    return [run for run in runs if run]


@cache
def _changed(method: str, chosen: tuple[Setting, ...], *sections: str) -> dict[str, Any]:
    given = Config().updated(dict(chosen))
    config = replace(resolve(given), options=given.options)
    frozen = _defaults(config.model, method)
    values = flat_settings(config, *sections).items()
    # What is None here is a setting that the method does not use.
    changed = {name: value for name, value in values if value is not None and value != frozen[name]}
    return {"method": method, **changed} if changed else {}


def flat_settings(config: Config, *sections: str) -> dict[str, Any]:
    """Return the settings by `section.name`, as JSON has them: all of data and training, the model's options, and `sections`."""
    found: dict[str, Any] = {"epochs": config.epochs}
    for section in ("data", "training", *sections):
        found |= {f"{section}.{name}": value for name, value in asdict(getattr(config, section)).items()}
    options = models.option_defaults(config.model) | config.options
    found |= {f"options.{name}": value for name, value in options.items()}
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}
    return {name: value for name, value in plain.items() if name not in _FILES}


def _defaults(model: str, method: str) -> dict[str, Any]:
    """Return the defaults that leave a setting out of the key: frozen ones, else those of today."""
    frozen = json.loads(_FROZEN.read_text("utf-8"))
    values = asdict(Config())
    today: dict[str, Any] = {"epochs": values["epochs"]}
    for section in ("data", "training", "mining", "supervision"):
        today |= {f"{section}.{name}": value for name, value in values[section].items()}
    today |= {f"options.{name}": value for name, value in models.option_defaults(model).items()}
    of_model = frozen["models"].get(model, {})
    return {**today, **frozen["all"], **of_model.get("all", {}), **of_model.get(method, {})}
