"""The methods: ways from a corpus to a classifier, one function each, by the names that `--method` takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import nn

from pssa.data.evidence import Evidence
from pssa.errors import InputError
from pssa.runs.run_context import RunContext

__all__ = ["Trained", "find", "names"]


@dataclass(frozen=True)
class Trained:
    """What a method made: one model, or several that vote."""

    members: tuple[nn.Module, ...]
    vote_weights: tuple[float, ...] = (1.0,)  # weight of each member's vote
    evidence: Evidence | None = None  # that the final training was supervised with


Method = Callable[[RunContext], Trained]


def names() -> tuple[str, ...]:
    """Every method there is."""
    return tuple(_table())


def find(name: str) -> Method:
    """The method called `name`."""
    table = _table()
    if name not in table:
        raise InputError(f"unknown method {name!r}; known: {', '.join(table)}")
    return table[name]


def _table() -> dict[str, Method]:
    from pssa.runs.methods import adaboost, base, boosting, consensus, kt, progressive

    return {
        "base": base.run,
        "kt": kt.run,
        "boosting": boosting.run,
        "adaboost": adaboost.run,
        "aw-as": progressive.run,
        "pg-as": progressive.run,
        "rm-as": progressive.run,
        "consensus": consensus.run,
    }
