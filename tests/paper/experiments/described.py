"""Cells built from the plain values of the ledger, the inverse of `describe`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paper.experiments.cells import Analysis, Cell, Mining, Place, Setting, Training, settings


def from_description(described: Mapping[str, Any]) -> Cell:
    """Build the cell that `describe` described."""
    values = {name: value for name, value in described.items() if name != "kind"}
    match described["kind"]:
        case "mining":
            return _mining(values)
        case "training":
            return _training(values)
        case "look":
            return Analysis(_training(values["training"]), values["what"], _settings(values), values.get("on", ""))
    raise ValueError(f"unknown kind of cell: {described['kind']}")


def _mining(values: Mapping[str, Any]) -> Mining:
    return Mining(_place(values), values["method"], _settings(values))


def _training(values: Mapping[str, Any]) -> Training:
    (evidence,) = map(_mining, values["evidence"]) if "evidence" in values else (None,)
    known = {name: value for name, value in values.items() if name in ("method", "rounds", "above")}
    return Training(_place(values), evidence=evidence, settings=_settings(values), **known)


def _place(values: Mapping[str, Any]) -> Place:
    place = values["place"]
    return Place(**{**place, "settings": _settings(place)})


def _settings(values: Mapping[str, Any]) -> tuple[Setting, ...]:
    chosen = values.get("settings", {}).items()
    return settings(**{name: tuple(value) if isinstance(value, list) else value for name, value in chosen})
