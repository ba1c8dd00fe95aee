"""What every exhibit promises, whichever it is; a new file in `studies/exhibits/` is covered unasked."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from tests.paper.experiments.described import from_description
from tests.paper.experiments.rooms import FakeLookup, tiny_resources

from paper.experiments.cells import describe, with_needs
from paper.experiments.resources import DATA_SETS, Scope
from paper.studies import exhibits
from paper.studies.exhibit import Figure, Picture, Table
from paper.studies.pages import drop_empty_rows, markdown_document

GOLDEN = Path(__file__).with_name("cells.json")
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
    cells = list(exhibit.cells(exhibit.encoders.within(scope)))
    assert cells == list(exhibit.cells(exhibit.encoders.within(scope)))
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
    cells = dict.fromkeys(exhibit.cells(exhibit.encoders.within(Scope(full, seeds=5))))
    told = sorted(json.dumps(describe(cell), sort_keys=True) for cell in cells)
    digest = hashlib.sha256("\n".join(told).encode()).hexdigest()[:12]
    counts = Counter(f"{cell.place.model} {cell.place.data}" for cell in cells)
    found = {"cells": len(told), "digest": digest, "by place": dict(sorted(counts.items()))}
    known = json.loads(GOLDEN.read_text("utf-8")) if GOLDEN.is_file() else {}
    if os.environ.get("PSSA_GOLDEN") == "write":
        known[name] = found
        lines = ",\n".join(f"{json.dumps(each)}: {json.dumps(known[each])}" for each in sorted(known))
        GOLDEN.write_text(f"{{\n{lines}\n}}\n", "utf-8")
    assert found == known[name]


@every_exhibit
def test_it_is_shown_before_anything_is_measured(name: str, scope: Scope) -> None:
    exhibit = exhibits.find(name)
    parts = drop_empty_rows(exhibit.show(exhibit.encoders.within(scope), FakeLookup()))
    named = [part.name for part in parts if isinstance(part, Table | Figure | Picture)]
    assert len(named) == len(set(named))
    assert markdown_document(exhibit, parts).startswith(f"# {exhibit.title}\n")
