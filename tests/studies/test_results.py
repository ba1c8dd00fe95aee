"""The committed results: tables show the numbers of their JSON files, and the ledger still gives these numbers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.experiments.described import from_description

from pssa.experiments.cells import Cell
from pssa.experiments.ledger import Ledger, Record
from pssa.experiments.resources import Resources, Scope
from pssa.studies import exhibits
from pssa.studies.exhibit import Figure, FormattedValue, Table
from pssa.studies.pages import drop_empty_rows
from pssa.studies.tables import markdown_table, points_table, table_json

RESULTS = Path(__file__).parents[2] / "results"
TABLES = sorted(path for path in RESULTS.glob("*/*.json") if path.with_suffix(".md").is_file())


def value_of(field: Any) -> Any:
    if not isinstance(field, dict):
        return field
    return FormattedValue(field["shown"], {name: part for name, part in field.items() if name != "shown"})


def fields(markdown: str) -> list[list[str]]:
    """Return the fields of the first table in a text, without its rule."""
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    return [[field.strip() for field in re.split(r"(?<!\\)\|", row)[1:-1]] for row in (rows[0], *rows[2:])]


def test_every_table_shows_the_numbers_of_its_json() -> None:
    assert len(TABLES) > 40
    for path in TABLES:
        stored = json.loads(path.read_text("utf-8"))
        rows = tuple(tuple(map(value_of, row)) for row in stored["rows"])
        table = Table(stored["name"], stored["title"], tuple(stored["columns"]), rows, tuple(stored["notes"]))
        assert table_json(table) == path.read_text("utf-8"), path
        assert fields(markdown_table(table)) == fields(path.with_suffix(".md").read_text("utf-8")), path


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize("name", exhibits.names())
def test_the_ledger_gives_the_numbers_of_every_exhibit(name: str, shared_data: Path) -> None:
    records: dict[Cell, Record] = {
        from_description(record["cell"]): record for record in Ledger.read(RESULTS / "cells.jsonl")
    }
    found = Resources.find(shared_data, None, None)
    # Nothing is trained: the records stand for what the vectors and the encoder gave.
    scope = Scope(Resources(found.sources, Path("vectors"), Path("encoder")), seeds=5)
    parts = drop_empty_rows(exhibits.find(name).show(scope, records.get))
    tables = [points_table(part) if isinstance(part, Figure) else part for part in parts]
    for table in (table for table in tables if isinstance(table, Table)):
        stored = RESULTS / name / f"{table.name}.json"
        assert json.loads(table_json(table)) == json.loads(stored.read_text("utf-8")), table.name
