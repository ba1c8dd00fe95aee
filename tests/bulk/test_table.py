"""Parquet in the making."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pssa.bulk import table
from pssa.errors import InputError

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


def joined(tmp_path: Path, *windows: list[dict[str, Any]]) -> Any:
    schema, part = b"", tmp_path / "data"
    with part.open("wb") as file:
        for rows in windows:
            content = table.encode(rows)
            schema = widened(schema, content, part)
            file.write(content)
            file.flush()
    table.join(part, tmp_path / "out.parquet", schema)
    return parquet.ParquetFile(tmp_path / "out.parquet")


def widened(schema: bytes, content: bytes, part: Path) -> bytes:
    (window,) = table.tables(io.BytesIO(content))
    before = list(table.tables(io.BytesIO(part.read_bytes()))) if part.exists() else []
    return table.widened(schema, window, lambda: iter(before))


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


def test_small_windows_share_a_row_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "_GROUP", 3)
    found = joined(tmp_path, *([{"n": number}, {"n": number}] for number in range(5)))
    assert [found.metadata.row_group(group).num_rows for group in range(found.num_row_groups)] == [4, 4, 2]
    assert found.read()["n"].to_pylist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]


def test_large_rows_make_small_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "_GROUP_BYTES", 1500)
    found = joined(tmp_path, *([{"text": "t" * 1000}] for _ in range(4)))
    assert [found.metadata.row_group(group).num_rows for group in range(found.num_row_groups)] == [2, 2]


def test_no_windows_are_an_empty_table(tmp_path: Path) -> None:
    assert joined(tmp_path).read().num_rows == 0


def test_a_column_of_several_kinds_is_refused_as_soon_as_it_is_met(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be written as Parquet \(.*\); JSON Lines can hold any"):
        table.encode([{"n": 1}, {"n": "one"}])
    with pytest.raises(InputError, match=r"cannot be written as Parquet \(.*\); JSON Lines can hold any"):
        joined(tmp_path, [{"n": 1}], [{"n": "one"}])
    with pytest.raises(InputError, match="cannot be written as Parquet"):
        joined(tmp_path, [{"n": {}}])


def test_a_field_that_only_a_later_row_of_the_window_has_is_a_column(tmp_path: Path) -> None:
    assert joined(tmp_path, [{"n": 1}, {"n": 2, "more": "new"}]).read().to_pylist() == [
        {"n": 1, "more": None},
        {"n": 2, "more": "new"},
    ]


LARGE = 2**53 + 1  # no floating number is it


@pytest.mark.parametrize("wrap", [lambda n: n, lambda n: [n], lambda n: {"deep": [n]}])
def test_integers_that_would_be_rounded_are_refused_at_once(tmp_path: Path, wrap: Callable[[Any], Any]) -> None:
    for numbers in ((LARGE, 0.5), (0.5, LARGE)):
        windows = [[{"n": wrap(number)}] for number in numbers]
        schema, part = widened(b"", table.encode(windows[0]), tmp_path / "data"), tmp_path / "data"
        part.write_bytes(table.encode(windows[0]))
        with pytest.raises(
            InputError, match=r"cannot be written as Parquet \(.*9007199254740993.*\); JSON Lines can hold any"
        ):
            widened(schema, table.encode(windows[1]), part)
    assert joined(tmp_path, [{"n": wrap(1)}], [{"n": wrap(0.5)}]).read().num_rows == 2


def test_what_cannot_be_joined_is_told(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(table.encode([{"n": LARGE}]))
    floating = widened(b"", table.encode([{"n": 0.5}]), tmp_path / "data")
    with pytest.raises(InputError, match="cannot be written as Parquet"):
        table.join(tmp_path / "data", tmp_path / "out.parquet", floating)


def test_half_of_a_surrogate_pair_is_no_character(tmp_path: Path) -> None:
    assert joined(tmp_path, [{"half\ud83d": ["a\ud83d"]}]).read().to_pylist() == [{"half?": ["a?"]}]


def test_a_damaged_schema_is_told(tmp_path: Path) -> None:
    schema = widened(b"", table.encode([{"n": 1}]), tmp_path / "data")
    with pytest.raises(InputError, match=r"the journal has a damaged schema .*; begin again with .*--force"):
        widened(schema[:-9], table.encode([{"n": 1}]), tmp_path / "data")
