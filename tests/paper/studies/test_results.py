"""The committed results: pages show the numbers of their tables, and the ledger still gives these numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.paper.experiments.described import from_description
from tests.paper.studies.test_audit import AUDITED, fingerprints, section_of

from paper.experiments.cells import Cell
from paper.experiments.ledger import Ledger, Record
from paper.experiments.resources import Resources, Scope
from paper.studies import exhibits
from paper.studies.exhibit import Figure, Table
from paper.studies.pages import TABLES, ShownExhibit, drop_empty_rows
from paper.studies.tables import markdown_table, points_table, table_values

RESULTS = Path(__file__).parents[3] / "results"
SHOWN = sorted(path.parent.name for path in RESULTS.glob(f"*/{TABLES}"))


@pytest.mark.slow
@pytest.mark.parametrize("name", SHOWN)
def test_a_page_shows_the_numbers_of_its_tables(name: str) -> None:
    page = section_of(name)
    assert "Incomplete" not in page
    shown = ShownExhibit.read(RESULTS / name / TABLES)
    missing = [each.title for each in shown.tables.values() if markdown_table(each) not in page]
    # A figure is shown as a grid of its points.
    assert [title for title in missing if f"![{title}]" not in page] == []


# The audit recomputes the others from predictions, which takes less time than to resample them as often as the pages do.
@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize("name", sorted(set(SHOWN) - set(AUDITED)))
def test_the_ledger_gives_the_numbers_of_the_exhibit(name: str, shared_data: Path) -> None:
    files = set(fingerprints(name).values())
    every = (each for each in Ledger.read(RESULTS / "cells.jsonl") if starts(each) <= files)
    # The last record of a cell is that of the newest defaults.
    records = {from_description(record["cell"]): record for record in every}
    stored = json.loads((RESULTS / name / TABLES).read_text("utf-8"))["tables"]
    by_name = {table["name"]: table for table in stored}
    for table in tables_of(name, records, shared_data, has_small="small encoder" in fingerprints(name)):
        assert table == by_name[table["name"]]


def starts(record: Record) -> set[str]:
    """The vectors or the encoder that the model of a cell starts from."""
    return {value for name, value in record["files"].items() if name in ("vectors", "encoder")}


def tables_of(name: str, records: dict[Cell, Record], data: Path, *, has_small: bool) -> Iterator[Any]:
    found = Resources.find(data, None, None)
    # Nothing is trained: the records stand for what the vectors and the encoders gave.
    small = Path("small") if has_small else None
    scope = Scope(Resources(found.sources, Path("vectors"), Path("encoder"), small_encoder=small), seeds=5)
    exhibit = exhibits.find(name)
    for part in drop_empty_rows(exhibit.parts(scope, records.get)):
        table = points_table(part) if isinstance(part, Figure) else part
        if isinstance(table, Table) and table.name != "parameters-settings":  # that one shows the defaults of today
            yield json.loads(json.dumps(table_values(table)))
