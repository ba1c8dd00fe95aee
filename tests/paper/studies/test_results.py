"""The committed results: tables show the numbers of their JSON files, and the ledger still gives these numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.paper.experiments.described import from_description
from tests.paper.studies.test_audit import PAGES as AUDITED
from tests.paper.studies.test_audit import fingerprints, is_of_this_plan

from paper.experiments.cells import Cell
from paper.experiments.ledger import Ledger, Record
from paper.experiments.resources import Resources, Scope
from paper.studies import exhibits
from paper.studies.exhibit import Figure, Table
from paper.studies.pages import drop_empty_rows
from paper.studies.tables import markdown_table, points_table, read_table, table_json

RESULTS = Path(__file__).parents[3] / "results"
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


# The audit recomputes the others from predictions, which takes less time than to resample them as often as the pages do.
SHOWN = sorted({path.parent.name for path in RESULTS.glob("*/section.json")} - set(AUDITED))


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize("name", SHOWN)
def test_the_ledger_gives_the_numbers_of_the_exhibit(name: str, shared_data: Path) -> None:
    page = (RESULTS / f"{name}.md").read_text("utf-8")
    if not is_of_this_plan(page):
        pytest.skip("the page has the cells of an earlier plan; reproduce it")
    files = set(fingerprints(page).values())
    every = (each for each in Ledger.read(RESULTS / "cells.jsonl") if starts(each) <= files)
    # The last record of a cell is that of the newest defaults.
    records = {from_description(record["cell"]): record for record in every}
    for table in tables_of(name, records, shared_data, has_small="small encoder `" in page):
        assert table == json.loads((RESULTS / name / f"{table['name']}.json").read_text("utf-8"))


def starts(record: Record) -> set[str]:
    """The vectors or the encoder that the model of a cell starts from."""
    return {value for name, value in record["files"].items() if name in ("vectors", "encoder")}


def tables_of(name: str, records: dict[Cell, Record], data: Path, *, has_small: bool) -> Iterator[Any]:
    found = Resources.find(data, None, None)
    # Nothing is trained: the records stand for what the vectors and the encoders gave.
    small = Path("small") if has_small else None
    scope = Scope(Resources(found.sources, Path("vectors"), Path("encoder"), small_encoder=small), seeds=5)
    exhibit = exhibits.find(name)
    for part in drop_empty_rows(exhibit.show(exhibit.encoders.within(scope), records.get)):
        table = points_table(part) if isinstance(part, Figure) else part
        if isinstance(table, Table) and table.name != "parameters-settings":  # that one shows the defaults of today
            yield json.loads(table_json(table))
