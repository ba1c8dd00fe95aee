"""Parquet in, Parquet out: what a job passes through stays what it was."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.bulk.made_jobs import Stopping
from tests.bulk.made_rows import read_rows, sentences, write_rows

from pssa.bulk import Job, LocalEngine, predict
from pssa.errors import InputError

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
pytestmark = pytest.mark.usefixtures("small_windows")

FAR = 2**62  # milliseconds; Python's years end long before


def table(rows: int) -> Any:
    kinds: dict[str, Any] = {
        "nanoseconds": ([1000 * row + 7 for row in range(rows)], pyarrow.timestamp("ns")),
        "far": ([FAR] * rows, pyarrow.timestamp("ms")),
        "all_far": ([[FAR, None]] * rows, pyarrow.list_(pyarrow.timestamp("ms"))),
        "far_inside": ([{"when": FAR}] * rows, pyarrow.struct([("when", pyarrow.timestamp("ms"))])),
        "id": ([*range(rows - 1), 2**63 + 5], pyarrow.uint64()),
        "map": ([[("a", row)] for row in range(rows)], pyarrow.map_(pyarrow.string(), pyarrow.int64())),
        "price": ([Decimal("1.25")] * rows, pyarrow.decimal128(20, 2)),
        "half": ([1.5] * rows, pyarrow.float16()),
        "none": ([None] * rows, pyarrow.int16()),
        "label": ([1] * rows, pyarrow.int8()),
    }
    columns = {name: pyarrow.array(values, kind) for name, (values, kind) in kinds.items()}
    texts = {name: [row[name] for row in sentences(rows)] for name in ("text", "aspect")}
    return pyarrow.table({**texts, **columns, "kind": pyarrow.array(["x"] * rows).dictionary_encode()})


def same(found: Any, given: Any) -> bool:
    names = {name: "gold" if name == "label" else name for name in given.column_names if name != "kind"}
    kept = all(found[new].combine_chunks().equals(given[old].combine_chunks()) for old, new in names.items())
    return kept and found["kind"].to_pylist() == given["kind"].to_pylist()


@pytest.fixture
def through(job: Job, tmp_path: Path) -> Job:
    parquet.write_table(table(10), tmp_path / "in.parquet")
    return replace(job, inputs=(str(tmp_path / "in.parquet"),), output=str(tmp_path / "out.parquet"))


def test_values_and_their_kinds_stay(through: Job) -> None:
    predict(through, LocalEngine())
    assert same(parquet.read_table(through.output), table(10))


def test_they_stay_where_a_job_is_resumed(through: Job) -> None:
    with pytest.raises(KeyboardInterrupt):
        predict(through, Stopping(1, KeyboardInterrupt()))
    predict(replace(through, begin="resume"), LocalEngine())
    assert same(parquet.read_table(through.output), table(10))


def test_rows_that_are_left_out_leave_no_gap(through: Job, tmp_path: Path) -> None:
    given = table(10).set_column(1, "aspect", pyarrow.array(["screen"] * 5 + ["menu"] + ["screen"] * 4))
    parquet.write_table(given, tmp_path / "in.parquet")
    predict(replace(through, errors="skip"), LocalEngine())
    kept = given.filter(pyarrow.array([row != 5 for row in range(10)]))
    assert same(parquet.read_table(through.output), kept)


def test_inputs_of_several_kinds_share_columns(through: Job, tmp_path: Path) -> None:
    smaller = table(10).select(["text", "aspect"]).append_column("id", pyarrow.array(range(10), pyarrow.int8()))
    parquet.write_table(smaller, tmp_path / "more.parquet")
    lines = write_rows(tmp_path / "more.jsonl", [{**row, "id": 1} for row in sentences(3)])
    parquet.write_table(table(10).drop(["id"]), tmp_path / "in.parquet")
    more = (*through.inputs, str(tmp_path / "more.parquet"), str(lines))
    predict(replace(through, inputs=more), LocalEngine())
    found = parquet.read_table(through.output)
    assert found.num_rows == 23
    assert same(found.slice(0, 10), table(10).drop(["id"]))
    assert found["id"].to_pylist() == [None] * 10 + [*range(10)] + [1] * 3


def test_text_holds_what_python_has_no_place_for(through: Job, tmp_path: Path) -> None:
    predict(replace(through, output=str(tmp_path / "out.jsonl")), LocalEngine())
    row = read_rows(tmp_path / "out.jsonl")[-1]
    assert (row["id"], row["price"], row["map"], row["kind"]) == (2**63 + 5, "1.25", [["a", 9]], "x")
    assert str(FAR) in row["far"]
    assert str(FAR) in row["all_far"][0]
    assert str(FAR) in row["far_inside"]["when"]


def test_a_value_of_another_kind_is_a_row_that_can_be_skipped(job: Job, tmp_path: Path) -> None:
    ids: list[Any] = [*range(9), "x9", 10, "x11", "x12", "x13", "x14", "x15", 16]
    rows = [{**row, "id": value} for row, value in zip(sentences(17), ids, strict=True)]
    made = replace(job, inputs=(str(write_rows(tmp_path / "in.jsonl", rows)),), output=str(tmp_path / "out.parquet"))
    with pytest.raises(
        InputError, match=r"line 10: .*id.*the 8 rows before are kept: go on with .*--resume.* and .*--errors skip"
    ):
        predict(made, LocalEngine())
    summary = predict(replace(made, begin="resume", errors="skip"), LocalEngine())
    assert (summary.rows, summary.rejected, sum(summary.labels.values())) == (11, 6, 11)
    assert parquet.read_table(made.output)["id"].to_pylist() == [*range(9), 10, 16]
    assert [row["line"] for row in read_rows(Path(f"{made.output}.rejected.jsonl"))] == [10, 12, 13, 14, 15, 16]
