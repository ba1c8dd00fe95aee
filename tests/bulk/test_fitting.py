"""Rows that one Parquet file can hold beside each other."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pssa.bulk import table
from pssa.bulk.fitting import fit
from pssa.bulk.window import Position
from pssa.bulk.work import Result, Tally
from pssa.errors import InputError

pytest.importorskip("pyarrow")

LARGE = 2**53 + 1  # no floating number is it


def window(*streams: Sequence[Any]) -> Result:
    """Rows with these numbers, from line 1 on, the second of them doubtful."""
    content = b"".join(table.encode([{"n": value, "label": "a"} for value in values]) for values in streams)
    count = sum(map(len, streams))
    tally = Tally(count, {"a": count}, ambiguous=1)
    return Result(
        Position(0, count), 0, (), content, b"", tally, "", "", "in", tuple(range(1, count + 1)), frozenset({1})
    )


def held(result: Result) -> list[Any]:
    return [value for one in table.tables(io.BytesIO(result.content)) for value in one["n"].to_pylist()]


def rejected(result: Result) -> list[int]:
    return [json.loads(line)["line"] for line in result.rejected.splitlines()]


@pytest.mark.parametrize(
    ("before", "streams", "kept", "lines"),
    [
        ([1, 2], [[3], ["x"], [4, 5]], [3, 4, 5], [2]),
        ([1, 2], [["x", "y"]], [], [1, 2]),
        ([], [["x"], [4, 5]], ["x"], [2, 3]),
        ([LARGE], [[3, 0.5, 4]], [3, 4], [2]),
        ([1, 2], [[LARGE], [0.5]], [LARGE], [2]),
        ([None], [["x"], [{}]], ["x"], [2]),
    ],
)
def test_the_first_come_decide_what_a_column_holds(
    tmp_path: Path, before: list[Any], streams: list[list[Any]], kept: list[Any], lines: list[int]
) -> None:
    part = tmp_path / "data"
    part.write_bytes(b"")
    schema = b""
    if before:
        first = fit(window(before), b"", part)
        part.write_bytes(first.content)
        schema = first.schema or b""
    made = window(*streams)
    found = fit(made, schema, part)
    assert (held(found), rejected(found)) == (kept, lines)
    assert found.tally == Tally(len(kept), {"a": len(kept)} if kept else {}, int(2 not in lines), len(lines))
    assert found.first_rejected.startswith(f"in, line {lines[0]}: cannot be written as Parquet (")
    part.write_bytes(part.read_bytes() + found.content)
    table.join(part, tmp_path / "out.parquet", found.schema or b"")


def test_a_window_that_fits_is_passed_on_as_it_is(tmp_path: Path) -> None:
    made = window([1, 2])
    found = fit(made, b"", tmp_path / "data")
    assert found.content is made.content
    assert found.tally == made.tally


def test_a_damaged_schema_ends_the_job_and_rejects_nothing(tmp_path: Path) -> None:
    schema = fit(window([1, 2]), b"", tmp_path / "data").schema or b""
    with pytest.raises(InputError, match="the journal has a damaged schema"):
        fit(window([1, 2]), schema[:-9], tmp_path / "data")
