"""A data set of twelve test sentences, and records of models that know all of their labels or always say the first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.paper.experiments.rooms import FakeLookup

from paper.experiments.cells import Cell
from paper.experiments.ledger import Ledger, Record
from paper.experiments.resources import DataSource, Resources, Scope
from paper.experiments.schedule import CellSchedule, open_pool
from paper.experiments.workspace import Workspace
from paper.studies.exhibit import FormattedValue, Table, Value
from pssa.data.example import DEFAULT_LABELS

GOLD = "012" * 4  # positions among the labels
_TAGS = ("/p", "/n", "/0")
TRAIN = ("the screen/p is great", "nicki/n is bad", "a keyboard/0 with a mouse", "a keyboard with a mouse/p")


def toy_scope(tmp_path: Path, *models: str, seeds: int = 1) -> Scope:
    """LAPTOP, with names of vectors and of an encoder that nothing opens."""
    train, test = tmp_path / "train.txt", tmp_path / "test.txt"
    train.write_text("\n".join(TRAIN) + "\n")
    test.write_text("".join(f"thing{number}{_TAGS[int(label)]} is here\n" for number, label in enumerate(GOLD)))
    sources = {"laptop": DataSource(train, test)}
    return Scope(Resources(sources, tmp_path / "vectors", tmp_path / "encoder", "cpu"), seeds, models)


def knowing(**others: Any) -> Record:
    """The record of a training whose model is always right."""
    return {"accuracy": 1.0, "macro_f1": 1.0, "predicted": GOLD, "labels": list(DEFAULT_LABELS), **others}


def blind(**others: Any) -> Record:
    """The record of one whose model always says positive: precision 1/3 and recall 1 there, so F1 1/2, and 0 for the others."""
    predicted = "0" * len(GOLD)
    return {"accuracy": 1 / 3, "macro_f1": 1 / 6, "predicted": predicted, "labels": list(DEFAULT_LABELS), **others}


# What a model that knows gains over a blind one: 2/3 and 5/6. A resample without a difference has one label only.
ALL_OF_IT = "+66.67** / +83.33**"


def row_of(table: object, *names: Value) -> tuple[Value, ...]:
    """The one row that begins with these names, without them, as people read it."""
    assert isinstance(table, Table)
    shown = (
        tuple((each.text or None) if isinstance(each, FormattedValue) else each for each in row) for row in table.rows
    )
    (found,) = [row for row in shown if row[: len(names)] == names]
    assert len(found) == len(table.columns)
    return found[len(names) :]


def carried_out(cells: Iterable[Cell], resources: Resources, folder: Path) -> FakeLookup:
    """What really comes of the cells."""
    wanted, room = list(cells), Workspace(folder, resources)
    with Ledger.open(folder / "cells.jsonl") as ledger, open_pool("local", 1) as pool:
        assert not CellSchedule(room, ledger).execute(wanted, pool).failures
        found = {cell: ledger.find(room.key(cell)) for cell in wanted}
    return FakeLookup({cell: record for cell, record in found.items() if record})


def marked_scope(tmp_path: Path, *models: str, seeds: int = 1) -> Scope:
    """The toy data set, as if people had marked words in it."""
    scope = toy_scope(tmp_path, *models, seeds=seeds)
    source = replace(scope.resources.sources["laptop"], opinion_words=tmp_path)
    return replace(scope, resources=replace(scope.resources, sources={"laptop": source}))


def one_round(active: int, misleading: int = 0, **others: Any) -> Record:
    """A round of a mining's record, in which nothing is judged."""
    blank = {"log_frequency": 0.0, "seen_once": 0, "judged": {}, "marked": {}}
    return {"active": active, "misleading": misleading, **blank, **others}
