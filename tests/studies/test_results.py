"""The committed results: tables show the numbers of their JSON files, and the ledger still gives these numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.experiments.described import from_description

from pssa.experiments.cells import Cell
from pssa.experiments.ledger import Ledger, Record
from pssa.experiments.resources import Resources, Scope
from pssa.studies import exhibits
from pssa.studies.exhibit import Figure, Table
from pssa.studies.pages import drop_empty_rows
from pssa.studies.tables import markdown_table, points_table, read_table, table_json

RESULTS = Path(__file__).parents[2] / "results"
TABLES = sorted(path for path in RESULTS.glob("*/*.json") if path.with_suffix(".md").is_file())


def fields(markdown: str) -> list[list[str]]:
    """Return the fields of the first table in a text, without its rule."""
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    return [[field.strip() for field in re.split(r"(?<!\\)\|", row)[1:-1]] for row in (rows[0], *rows[2:])]


@pytest.mark.slow
def test_every_table_shows_the_numbers_of_its_json() -> None:
    assert len(TABLES) > 40
    for path in TABLES:
        table = read_table(path)
        assert table_json(table) == path.read_text("utf-8"), path
        assert fields(markdown_table(table)) == fields(path.with_suffix(".md").read_text("utf-8")), path


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize("name", [path.parent.name for path in sorted(RESULTS.glob("*/section.json"))])
def test_the_ledger_gives_the_numbers_of_every_exhibit(name: str, shared_data: Path) -> None:
    if "(at most" not in (RESULTS / f"{name}.md").read_text("utf-8"):
        pytest.skip("the page has the cells of an earlier plan; reproduce it")
    # A page was measured before or after the defaults of word-vector models changed, in whole: with the first or the last
    # record of each cell.
    records = list(Ledger.read(RESULTS / "cells.jsonl"))
    last = {from_description(record["cell"]): record for record in records}
    first = {from_description(record["cell"]): record for record in reversed(records)}
    tables = [list(tables_of(name, by_cell, shared_data)) for by_cell in (first, last)]
    stored = [json.loads((RESULTS / name / f"{each['name']}.json").read_text("utf-8")) for each in tables[0]]
    assert stored in tables


def tables_of(name: str, records: dict[Cell, Record], data: Path) -> Iterator[Any]:
    found = Resources.find(data, None, None)
    # Nothing is trained: the records stand for what the vectors and the encoder gave.
    scope = Scope(Resources(found.sources, Path("vectors"), Path("encoder")), seeds=5)
    exhibit = exhibits.find(name)
    for part in drop_empty_rows(exhibit.show(exhibit.encoders.within(scope), records.get)):
        table = points_table(part) if isinstance(part, Figure) else part
        if isinstance(table, Table) and table.name != "parameters-settings":  # that one shows the defaults of today
            yield json.loads(table_json(table))
