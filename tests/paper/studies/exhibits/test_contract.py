"""What every exhibit promises, whichever it is; a new file in `studies/exhibits/` is covered unasked."""

from __future__ import annotations

import hashlib
import json
import os
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.paper.experiments.described import from_description
from tests.paper.experiments.rooms import FakeLookup, tiny_resources
from tests.paper.studies.exhibits.toys import GOLD, toy_scope

from paper.experiments.cells import Cell, describe, with_needs
from paper.experiments.ledger import Record
from paper.experiments.resources import DATA_SETS, Scope
from paper.studies import exhibits
from paper.studies.exhibit import Details, Figure, Part, Picture, Table
from paper.studies.pages import drop_empty_rows, markdown_document
from paper.studies.tables import points_table, table_values

RESULTS = Path(__file__).parents[4] / "results"
CELLS, SHOWN = (Path(__file__).with_name(f"{name}.json") for name in ("cells", "shown"))
PLACES = ("aspect", "word", "iteration")  # of a sentence or a mining; every other number is invented
WRITE = "PSSA_GOLDEN=write pytest tests/paper/studies/exhibits -k golden"
every_exhibit = pytest.mark.parametrize("name", exhibits.names())


@pytest.fixture(scope="module")
def scope(tmp_path_factory: pytest.TempPathFactory) -> Scope:
    """Everything that an exhibit may need, as far as planning needs it: three data sets with marked words, and an encoder."""
    resources = tiny_resources(tmp_path_factory.mktemp("resources"), instances=8)
    source = replace(resources.sources["laptop"], opinion_words=Path("marked"))
    return Scope(replace(resources, sources=dict.fromkeys(DATA_SETS, source), encoder=Path("encoder")), seeds=1)


@every_exhibit
def test_its_cells_can_be_planned_and_written_down(name: str, scope: Scope) -> None:
    exhibit = exhibits.find(name)
    assert exhibit.name == name
    cells = exhibit.cells(scope)
    assert cells == exhibit.cells(scope)
    assert all(from_description(json.loads(json.dumps(describe(cell)))) == cell for cell in with_needs(cells))


@every_exhibit
def test_its_cells_are_those_of_the_golden(name: str, tmp_path: Path) -> None:
    """With five seeds, both encoders and everything marked: how many cells of each model and data set, and which.

    `PSSA_GOLDEN=write` renews the file; what a cell holds stands in its difference of counts, or in the exhibit.
    """
    resources = tiny_resources(tmp_path, instances=8)
    source = replace(resources.sources["laptop"], opinion_words=Path("marked"))
    sources = dict.fromkeys(DATA_SETS, source)
    full = replace(resources, sources=sources, encoder=Path("encoder"), small_encoder=Path("small"))
    exhibit = exhibits.find(name)
    cells = exhibit.cells(Scope(full, seeds=5))
    told = sorted(json.dumps(describe(cell), sort_keys=True) for cell in cells)
    counts = Counter(f"{cell.place.model} {cell.place.data}" for cell in cells)
    every = hashlib.sha256("\n".join(told).encode()).hexdigest()[:12]
    found = {"cells": len(told), "digest": every, "by place": dict(sorted(counts.items()))}
    assert found == golden(CELLS, name, found)


@every_exhibit
def test_it_is_shown_before_anything_is_measured(name: str, scope: Scope) -> None:
    exhibit = exhibits.find(name)
    parts = drop_empty_rows(exhibit.parts(scope, FakeLookup()))
    named = [part.name for part in parts if isinstance(part, Table | Figure | Picture)]
    assert len(named) == len(set(named))
    assert markdown_document(exhibit, parts).startswith(f"## {exhibit.title}\n")


@every_exhibit
def test_it_shows_the_numbers_of_the_golden(name: str, tmp_path: Path) -> None:
    """Two seeds of records that are invented for each cell, in the form that the ledger has: a digest of every part.

    `PSSA_GOLDEN=write` renews the file. Whether the numbers of the committed pages are right, `tests/paper/studies` recomputes.
    """
    scope = toy_scope(tmp_path, seeds=2)
    source = replace(scope.resources.sources["laptop"], opinion_words=tmp_path)
    resources = replace(scope.resources, sources=dict.fromkeys(DATA_SETS, source), small_encoder=Path("small"))
    exhibit = exhibits.find(name)
    shown = drop_empty_rows(exhibit.parts(replace(scope, resources=resources), invented))
    named = [(f"{place} {part_name(part)}".strip(), part) for place, part in enumerate(shown)]
    found = {
        each: digest(as_numbers(part)) for each, part in named if not each.endswith("-settings")
    }  # today's defaults
    assert found == golden(SHOWN, name, found)


@cache
def forms() -> dict[tuple[str, ...], Record]:
    """The first record of each kind in the ledger."""
    records = map(json.loads, (RESULTS / "cells.jsonl").read_text("utf-8").splitlines())
    return {kind_of(record["cell"]): record for record in reversed([*records])}


def invented(cell: Cell) -> Record | None:
    """A record like those of its kind in the ledger, with other numbers, which follow from the cell."""
    described = describe(cell)
    form = forms().get(kind_of(described))
    draws = random.Random(json.dumps(described, sort_keys=True))
    return form and invent({name: form[name] for name in form if name not in ("cell", "key", "files")}, draws)


def kind_of(described: Mapping[str, Any]) -> tuple[str, ...]:
    """What decides the form of a record."""
    place = described.get("training", described)["place"]
    return (
        described["kind"],
        described.get("what", ""),
        described.get("method", ""),
        *sorted(place.keys() & {"held_out", "instances"}),
    )


def invent(value: Any, draws: random.Random, name: str = "") -> Any:
    """The value with other numbers: shares stay shares, and other numbers at most double."""
    match value:
        case _ if name in PLACES:
            return value
        case dict():
            return {key: invent(each, draws, key) for key, each in value.items()}
        case list():
            return [invent(each, draws, name) for each in value]
        case str() if name == "predicted":
            return "".join(draws.choice("012") for _ in GOLD)
        case float():
            return round(draws.random() * (1 if abs(value) <= 1 or name == "log_frequency" else 2 * value), 4)
        case bool() | str() | None:
            return value
        case int():
            return draws.randint(min(value, 1), max(2 * value, 1))
    raise TypeError(name)


def part_name(part: Part) -> str:
    return part.name if isinstance(part, Table | Figure | Picture) else ""


def as_numbers(part: Part) -> Any:
    """What a part says, with numbers to six figures."""
    match part:
        case Table() | Figure():
            values = table_values(points_table(part) if isinstance(part, Figure) else part)
            return json.loads(json.dumps(values), parse_float=lambda number: f"{float(number):.6g}")
        case Details():
            return [part.summary, *map(as_numbers, part.parts)]
    return part.svg if isinstance(part, Picture) else part


def digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12]


def golden(path: Path, name: str, found: Any) -> Any:
    """What the file knows of an exhibit; with `PSSA_GOLDEN=write` that is what was found."""
    known = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    if os.environ.get("PSSA_GOLDEN") == "write":
        known[name] = found
        lines = ",\n".join(f"{json.dumps(each)}: {json.dumps(known[each])}" for each in sorted(known))
        path.write_text(f"{{\n{lines}\n}}\n", "utf-8")
    assert name in known, f"{path.name} has no golden of {name}; check what it shows, and write it with: {WRITE}"
    return known[name]
