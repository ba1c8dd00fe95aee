"""The exhibit about variants, on made-up analyses."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from tests.paper.experiments.rooms import FakeLookup
from tests.paper.studies.exhibits.toys import marked_scope, row_of

from paper.studies.exhibits import find, stress
from pssa.stress import KINDS
from pssa.stress.variants import VERSION

EXHIBIT = find("stress")


def test_the_judged_variants_are_those_of_the_file_and_of_this_version(tmp_path: Path) -> None:
    path = Path(__file__).parents[4] / "results" / "raw" / "stress-judged.jsonl"
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    table = EXHIBIT.show(marked_scope(tmp_path, "memnet"), FakeLookup({}))[-1]
    assert row_of(table, "in all") == (f"{sum(row['sound'] for row in rows)} of {len(rows)}",)
    for kind in KINDS:
        own = [row["sound"] for row in rows if row["kind"] == kind]
        assert row_of(table, kind) == (f"{sum(own)} of {len(own)}",)
    assert tomllib.loads(stress._JUDGED.read_text("utf-8"))["version"] == VERSION
