"""The exhibit about variants, on made-up analyses."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from tests.paper.experiments.rooms import FakeLookup
from tests.paper.studies.exhibits.looked import marked_scope
from tests.paper.studies.exhibits.toys import row_of

from paper.experiments.cells import Cell
from paper.experiments.ledger import Record
from paper.studies.exhibit import Table
from paper.studies.exhibits import find, stress
from paper.studies.exhibits.stress import stress_analyses
from pssa.stress import KINDS
from pssa.stress.variants import VERSION

EXHIBIT = find("stress")


def record(right: str) -> Record:
    kinds = {kind: {"variants": 4, "accuracy": 0.5} for kind in KINDS}
    share = right.count("1") / len(right)
    return {"found": {"instances": len(right), "kinds": kinds, "accuracy": 1.0, "all_right": share, "right": right}}


def test_gains_are_over_a_second_training(tmp_path: Path) -> None:
    scope = marked_scope(tmp_path, "memnet", seeds=2)
    rows = {"": "10000000", "again": "11000000", "+Consensus": "11111111"}
    records: dict[Cell, Record] = {
        cell: record(right)
        for method, right in rows.items()
        for cell in stress_analyses(scope, method, "memnet", "laptop").values()
    }
    trained = stress_analyses(scope, "", "memnet", "laptop")[0].training
    records[trained] = {"accuracy": 0.99}
    gains, table, _ = EXHIBIT.show(scope, FakeLookup(records))
    assert isinstance(gains, Table)
    assert gains.notes[-1].startswith("1 of 1 measurements")
    assert "by 1.00 points" in gains.notes[-1]
    assert row_of(gains, "+Consensus")[:3] == ("1 of 1", "+75.00", 1)
    assert row_of(gains, "plain")[:3] == ("0 of 1", "-12.50", 0)
    assert row_of(gains, "+Human")[0] is None
    # Over the mean of 12.5 and 25 %.
    assert str(row_of(gains, "+Consensus")[-1]).startswith("+81.25 [+")
    assert row_of(table, "MN (+Consensus)")[-3:-1] == ("100.00 ± 0.00", "+75.00**")
    assert str(row_of(table, "MN (+Consensus)")[-1]).startswith("+81.25 [+")
    assert row_of(table, "MN (again)")[-1] is None


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


def test_the_note_about_the_lexicon_counts_the_verdicts_of_its_files(tmp_path: Path) -> None:
    folder = Path(__file__).parents[4] / "results" / "raw"
    paths = [folder / f"stress-judged-{name}.jsonl" for name in ("lexicon", "mams")]
    if not all(path.is_file() for path in paths):
        pytest.skip(f"{folder} does not have them")
    rows = [json.loads(line) for path in paths for line in path.read_text("utf-8").splitlines()]
    assert len({(row["instance"], row["kind"]) for row in rows}) == len(rows)  # nothing was judged twice
    table = EXHIBIT.show(marked_scope(tmp_path, "memnet"), FakeLookup({}))[-1]
    assert isinstance(table, Table)
    for own in (rows, [row for row in rows if row["kind"].startswith("reverse")]):
        assert f"{sum(row['sound'] for row in own)} of {len(own)} " in table.notes[-1]
