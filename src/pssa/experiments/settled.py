"""Every setting that decides a cell's outcome: what it names, and what it leaves to the defaults of its model and method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from typing import Any

from pssa import models
from pssa.experiments.cells import Cell, Look, Mining, Setting, Timing, Training, settings
from pssa.runs.config import Config
from pssa.runs.defaults import resolve

__all__ = ["settled"]

# Told apart by what is in them, and read as they are.
_FILES = ("train", "dev", "vectors", "encoder", "evidence", "columns")


def settled(cell: Cell, everywhere: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The sections of the configuration that a cell reads, a configuration for each of its runs.

    :param everywhere: settings of all cells.
    """
    place = {"model": cell.place.model, **everywhere, **dict(cell.place.settings)}
    match cell:
        case Mining(method="human"):
            return []
        case Mining():
            wanted = settings(**place | dict(cell.settings) | {"method": cell.method})
            return [_sections(wanted, "mining")]
        case Training(evidence=()):
            return [_sections(settings(**place | dict(cell.settings) | {"method": cell.method}))]
        case Training():
            # With a file of evidence, as mined words are given to a training.
            return [_sections(settings(**place | dict(cell.settings) | {"evidence": "mined"}), "supervision")]
        case Timing():
            return [_sections(settings(**place | {"method": one}), "mining", "supervision") for one in cell.methods]
        case Look():
            return []


@cache
def _sections(wanted: tuple[Setting, ...], *names: str) -> dict[str, Any]:
    config = resolve(Config().updated(dict(wanted)))
    found = {name: asdict(getattr(config, name)) for name in ("data", "training", *names)}
    options = {**models.option_defaults(config.model), **config.options}
    known = {section: {k: v for k, v in values.items() if k not in _FILES} for section, values in found.items()}
    return {**known, "options": options}
