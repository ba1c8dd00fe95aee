"""LAPTOP with marked words, and records of looks and minings that tests make up."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.paper.studies.exhibits.toys import toy_scope

from paper.experiments.cells import Analysis, Place, Training
from paper.experiments.ledger import Record
from paper.experiments.resources import Scope
from paper.studies.exhibits._rows import METHODS


def marked_scope(tmp_path: Path, *models: str, seeds: int = 1) -> Scope:
    """The toy data set, as if people had marked words in it."""
    scope = toy_scope(tmp_path, *models, seeds=seeds)
    source = replace(scope.resources.sources["laptop"], opinion_words=tmp_path)
    return replace(scope, resources=replace(scope.resources, sources={"laptop": source}))


def look(kind: str, method: str = "", seed: int = 0, model: str = "memnet") -> Analysis:
    """At a row's model."""
    return Analysis(METHODS[method].training_in(Place("laptop", model, seed)), kind)


def plain(seed: int = 0, model: str = "memnet") -> Training:
    return Training(Place("laptop", model, seed))


def judged(value: float, control: float = 0.0, spread: float = 0.1) -> Record:
    """A number beside its control, whose difference is known to the spread."""
    difference = value - control
    told = {"mean": difference, "low": difference - spread, "high": difference + spread}
    return {"value": {"mean": value}, "control": {"mean": control}, "difference": told}


def one_round(active: int, misleading: int = 0, **others: Any) -> Record:
    """A round of a mining's record, in which nothing is judged."""
    blank = {"log_frequency": 0.0, "seen_once": 0, "judged": {}, "marked": {}}
    return {"active": active, "misleading": misleading, **blank, **others}
