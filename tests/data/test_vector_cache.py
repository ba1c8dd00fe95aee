"""The cache of vector rows: read once, and never stale."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pssa.data import vector_cache
from pssa.data.vector_cache import read_vectors_once
from pssa.errors import InputError

ROWS = "the 1 2\nscreen 3 4\nis 5 6\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "vectors.txt"
    path.write_text(ROWS)
    return path


def refuse(*_: object, **__: object) -> None:
    raise AssertionError("the file was read again")


def test_a_second_reading_does_not_open_the_file(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = read_vectors_once(file, {"screen"}, tmp_path / "cache", extra_rows=0)
    monkeypatch.setattr(vector_cache, "read_vectors", refuse)
    second = read_vectors_once(file, {"screen"}, tmp_path / "cache", extra_rows=0)
    assert second.words == first.words == ("screen",)
    assert np.array_equal(second.matrix, [[3.0, 4.0]])


def test_other_words_rows_or_content_are_read_anew(file: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert read_vectors_once(file, {"screen"}, cache, extra_rows=0).words == ("screen",)
    assert read_vectors_once(file, {"is"}, cache, extra_rows=0).words == ("is",)
    assert read_vectors_once(file, {"is"}, cache, extra_rows=1).words == ("the", "is")
    file.write_text(ROWS + "huge 7 8\n")
    assert read_vectors_once(file, {"huge"}, cache, extra_rows=0).words == ("huge",)
    assert len(list(cache.iterdir())) == 4


def test_a_damaged_entry_is_replaced(file: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    read_vectors_once(file, {"screen"}, cache, extra_rows=0)
    (entry,) = cache.iterdir()
    whole = entry.read_bytes()
    entry.write_bytes(whole[:40])
    assert read_vectors_once(file, {"screen"}, cache, extra_rows=0).words == ("screen",)
    assert entry.read_bytes() == whole


def test_a_file_that_cannot_be_read_leaves_no_entry(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        read_vectors_once(tmp_path / "none.txt", {"screen"}, tmp_path / "cache", extra_rows=0)
    assert not (tmp_path / "cache").exists()
