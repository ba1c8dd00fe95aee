"""Parquet: windows of several schemas become one file, rows that fit none are rejected, and types pass through a job."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from tests.predict.made_jobs import Stopping
from tests.predict.made_rows import read_rows, sentences, write_rows

from pssa.errors import InputError
from pssa.predict import Job, LocalEngine, Summary, parquet_schema, predict
from pssa.predict.parquet_schema import encode, fit, join, read_tables, widen
from pssa.predict.rows import WrittenRow
from pssa.predict.window import Window

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
pytestmark = pytest.mark.usefixtures("small_windows")


def table(rows: Sequence[dict[str, Any]]) -> Any:
    (found,) = read_tables(BytesIO(encode(rows)))
    return found


def joined(tmp_path: Path, *windows: list[dict[str, Any]]) -> Any:
    schema, tables = b"", list[Any]()
    for rows in windows:
        schema = widen(schema, table(rows), tables)
        tables.append(table(rows))
    join(tables, tmp_path / "out.parquet", schema)
    return parquet.ParquetFile(tmp_path / "out.parquet")


def test_windows_become_one_file_with_the_columns_of_all(tmp_path: Path) -> None:
    first = [
        {"text": "a", "n": 1, "note": None, "p": {"x": 0.5}},
        {"text": "é", "n": 2, "note": None, "p": {"x": 0.25}},
    ]
    second = [{"text": "c", "n": 2.5, "note": "new", "p": {"x": 1.0}, "more": [1, 2]}]
    found = joined(tmp_path, first, second)
    assert found.read().to_pylist() == [
        {"text": "a", "n": 1.0, "note": None, "p": {"x": 0.5}, "more": None},
        {"text": "é", "n": 2.0, "note": None, "p": {"x": 0.25}, "more": None},
        {"text": "c", "n": 2.5, "note": "new", "p": {"x": 1.0}, "more": [1, 2]},
    ]


def test_row_groups_join_small_windows_and_part_large_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_schema, "_GROUP_ROWS", 3)
    found = joined(tmp_path, *([{"n": number}, {"n": number}] for number in range(5)))
    assert [found.metadata.row_group(group).num_rows for group in range(found.num_row_groups)] == [4, 4, 2]
    assert found.read()["n"].to_pylist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    monkeypatch.setattr(parquet_schema, "_GROUP_BYTES", 1500)
    found = joined(tmp_path, *([{"text": "t" * 1000}] for _ in range(4)))
    assert [found.metadata.row_group(group).num_rows for group in range(found.num_row_groups)] == [2, 2]


def test_no_windows_later_fields_and_half_characters_have_a_place(tmp_path: Path) -> None:
    assert joined(tmp_path).read().num_rows == 0
    assert joined(tmp_path, [{"n": 1}, {"n": 2, "more": "new"}]).read().to_pylist() == [
        {"n": 1, "more": None},
        {"n": 2, "more": "new"},
    ]
    assert joined(tmp_path, [{"half\ud83d": ["a\ud83d"]}]).read().to_pylist() == [{"half?": ["a?"]}]


def test_a_column_of_several_kinds_is_refused_as_soon_as_it_is_met(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be written as Parquet \(.*\)"):
        encode([{"n": 1}, {"n": "one"}])
    with pytest.raises(InputError, match=r"cannot be written as Parquet \(.*\)"):
        joined(tmp_path, [{"n": 1}], [{"n": "one"}])
    with pytest.raises(InputError, match="cannot be written as Parquet"):
        joined(tmp_path, [{"n": {}}])
    floating = widen(b"", table([{"n": 0.5}]), [])
    with pytest.raises(InputError, match="cannot be written as Parquet"):
        join([table([{"n": LARGE}])], tmp_path / "out.parquet", floating)


LARGE = 2**53 + 1  # no floating number is it


@pytest.mark.parametrize("wrap", [lambda n: n, lambda n: [n], lambda n: {"deep": [n]}])
def test_integers_that_would_be_rounded_are_refused_at_once(tmp_path: Path, wrap: Callable[[Any], Any]) -> None:
    for numbers in ((LARGE, 0.5), (0.5, LARGE)):
        first, second = (table([{"n": wrap(number)}]) for number in numbers)
        schema = widen(b"", first, [])
        with pytest.raises(InputError, match=r"as Parquet \(.*9007199254740993.*\)"):
            widen(schema, second, [first])
    assert joined(tmp_path, [{"n": wrap(1)}], [{"n": wrap(0.5)}]).read().num_rows == 2


def window(*streams: Sequence[Any]) -> Window:
    """Rows with these numbers, from line 1 on, the second of them doubtful."""
    content = b"".join(encode([{"n": value} for value in values]) for values in streams)
    count = sum(map(len, streams))
    written = tuple(WrittenRow(line, "a", line == 2) for line in range(1, count + 1))
    return Window("in", (0, count), content=content, written=written)


def tables_of(result: Window) -> list[Any]:
    return list(read_tables(BytesIO(result.content)))


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
    schema, tables = b"", list[Any]()
    if before:
        first = fit(window(before), b"", tables.__iter__)
        tables += tables_of(first)
        schema = first.schema or b""
    found = fit(window(*streams), schema, tables.__iter__)
    rejected = [json.loads(line)["line"] for line in found.rejected.splitlines()]
    assert [value for one in tables_of(found) for value in one["n"].to_pylist()] == kept
    assert rejected == lines
    assert found.summary == Summary(len(kept), {"a": len(kept)} if kept else {}, int(2 not in lines), len(lines))
    assert found.first_rejected.startswith(f"in, line {lines[0]}: cannot be written as Parquet (")
    join([*tables, *tables_of(found)], tmp_path / "out.parquet", found.schema or b"")


@pytest.mark.parametrize("wrap", [lambda value: value, lambda value: [value]])
def test_new_fields_of_objects_leave_earlier_windows_unread(wrap: Callable[[Any], Any]) -> None:
    schema = widen(b"", table([{"n": wrap({"old": 1})}, {"n": wrap({"later": None})}]), [])

    def unread() -> Iterator[Any]:
        raise AssertionError
        yield

    for new in ({"new": 1}, {"later": "x"}):
        schema = widen(schema, table([{"n": wrap(new)}]), unread())
    with pytest.raises(AssertionError):
        widen(schema, table([{"n": wrap({"old": 0.5})}]), unread())


def test_a_damaged_schema_ends_the_job_and_rejects_nothing() -> None:
    schema = fit(window([1, 2]), b"", list[Any]().__iter__).schema or b""
    with pytest.raises(InputError, match="begin again with begin='replace'"):
        fit(window([1, 2]), schema[:-9], list[Any]().__iter__)


FAR = 2**62  # milliseconds; Python's years end long before


def typed_table(rows: int) -> Any:
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
    parquet.write_table(typed_table(10), tmp_path / "in.parquet")
    return replace(job, inputs=(str(tmp_path / "in.parquet"),), output=str(tmp_path / "out.parquet"))


@pytest.mark.parametrize("is_resumed", [False, True])
def test_values_and_their_kinds_stay(through: Job, is_resumed: bool) -> None:
    if is_resumed:
        with pytest.raises(KeyboardInterrupt):
            predict(through, Stopping(1, KeyboardInterrupt()))
    predict(replace(through, begin="resume" if is_resumed else "new"), LocalEngine())
    assert same(parquet.read_table(through.output), typed_table(10))


def test_rows_that_are_left_out_leave_no_gap(through: Job, tmp_path: Path) -> None:
    given = typed_table(10).set_column(1, "aspect", pyarrow.array(["screen"] * 5 + ["menu"] + ["screen"] * 4))
    parquet.write_table(given, tmp_path / "in.parquet")
    predict(replace(through, errors="skip"), LocalEngine())
    assert same(parquet.read_table(through.output), given.filter(pyarrow.array([row != 5 for row in range(10)])))


def test_inputs_of_several_kinds_share_columns(through: Job, tmp_path: Path) -> None:
    smaller = typed_table(10).select(["text", "aspect"]).append_column("id", pyarrow.array(range(10), pyarrow.int8()))
    parquet.write_table(smaller, tmp_path / "more.parquet")
    lines = write_rows(tmp_path / "more.jsonl", [{**row, "id": 1} for row in sentences(3)])
    parquet.write_table(typed_table(10).drop(["id"]), tmp_path / "in.parquet")
    more = (*through.inputs, str(tmp_path / "more.parquet"), str(lines))
    predict(replace(through, inputs=more), LocalEngine())
    found = parquet.read_table(through.output)
    assert found.num_rows == 23
    assert same(found.slice(0, 10), typed_table(10).drop(["id"]))
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
    with pytest.raises(InputError, match=r"line 10: .*id.*the 8 rows before are"):
        predict(made, LocalEngine())
    summary = predict(replace(made, begin="resume", errors="skip"), LocalEngine())
    assert (summary.rows, summary.rejected, sum(summary.labels.values())) == (11, 6, 11)
    assert parquet.read_table(made.output)["id"].to_pylist() == [*range(9), 10, 16]
    assert [row["line"] for row in read_rows(Path(f"{made.output}.rejected.jsonl"))] == [10, 12, 13, 14, 15, 16]
