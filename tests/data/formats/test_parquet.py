"""Parquet."""

from __future__ import annotations

from pathlib import Path

import pytest

from pssa.data.io import read, stream
from pssa.errors import InputError

pyarrow = pytest.importorskip("pyarrow")


def test_rows_are_streamed_with_their_numbers_and_all_their_columns(tmp_path: Path) -> None:
    table = pyarrow.table({"text": ["a menu", "a bar"], "span": ["menu", "bar"], "stars": [3, 5]})
    path = tmp_path / "rows.parquet"
    pyarrow.parquet.write_table(table, path)
    assert [(row.line, row.fields["stars"]) for row in stream(path)] == [(1, 3), (2, 5)]


def test_text_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    latin = pyarrow.array([b"a caf\xe9"]).view(pyarrow.string())
    path = tmp_path / "latin.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"text": latin, "aspect": ["a"], "label": ["neutral"]}), path)
    with pytest.raises(InputError, match=r"read as Parquet .*can't decode byte 0xe9"):
        read(path)


def test_a_damaged_file_and_a_missing_column_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.parquet"
    path.write_bytes(b"PAR1 no more")
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        read(path)
    pyarrow.parquet.write_table(pyarrow.table({"text": ["a menu"]}), path)
    with pytest.raises(InputError, match="a column is missing"):
        read(path)
