"""Rows of a vector file: words with spaces, headers, and every row's number of values."""

from __future__ import annotations

from pathlib import Path

import pytest

from pssa.data.vector_file import read_rows
from pssa.errors import InputError


def rows_of(tmp_path: Path, content: bytes) -> list[tuple[bytes, list[float]]]:
    path = tmp_path / "vectors.txt"
    path.write_bytes(content)
    return [(row.word, row.values().tolist()) for row in read_rows(path)]


def test_a_row_is_a_word_and_its_values(tmp_path: Path) -> None:
    assert rows_of(tmp_path, b"the 0.5 -1\n, 2e0 .25\n") == [(b"the", [0.5, -1.0]), (b",", [2.0, 0.25])]


def test_words_may_contain_spaces_and_look_like_numbers(tmp_path: Path) -> None:
    content = b"a 1 2\n. . . 3 4\nat name@domain.com 5 6\n7 7 8\n\xc2\xa0 9 0\n"
    assert [word for word, _ in rows_of(tmp_path, content)] == [
        b"a",
        b". . .",
        b"at name@domain.com",
        b"7",
        b"\xc2\xa0",
    ]


@pytest.mark.parametrize("start", [b"2 3\n", b"\xef\xbb\xbf2 3\n", b"\xef\xbb\xbf", b""])
def test_a_header_and_a_byte_order_mark_are_passed_over(tmp_path: Path, start: bytes) -> None:
    content = start + b"a 1 2 3 \nb 4 5 6 \n"  # word2vec ends its lines with a space
    assert rows_of(tmp_path, content) == [(b"a", [1, 2, 3]), (b"b", [4, 5, 6])]


@pytest.mark.parametrize(
    ("row", "found"),
    [(b"c 5", 1), (b"c", 0), (b"c 5 6 7", 3), (b"c 5 6 7 8", 4), (b"c d 5 6 7", 4), (b"c\t5 6", 1), (b"c 5 ", 1)],
)
def test_a_row_with_another_number_of_values_is_refused_by_line(tmp_path: Path, row: bytes, found: int) -> None:
    with pytest.raises(InputError, match=rf"vectors\.txt, line 3: the vector has {found} values, expected 2"):
        rows_of(tmp_path, b"a 1 2\nb 3 4\n" + row + b"\nd 7 8\n")


@pytest.mark.parametrize("value", [b"x", b"nan", b"inf", b"-inf", b"1e39", b"1,5", b"0x10", b""])
def test_a_value_that_is_not_a_finite_number_is_refused_by_line(tmp_path: Path, value: bytes) -> None:
    with pytest.raises(InputError, match=rf"line 2: the vector has '{value.decode()}' where a .*number"):
        rows_of(tmp_path, b"a 1 2\nb " + value + b" 4\n")


def test_prose_is_refused_at_its_first_line_before_anything_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "reviews.txt"
    path.write_text("The screen is great\nThe battery is not\n")
    with pytest.raises(InputError, match="line 1: the vector has 'screen' where a number"):
        next(read_rows(path))


@pytest.mark.parametrize(
    ("content", "what"), [(b"word\n", "not a vector"), (b"2 3\n", "no vectors"), (b"\n\n", "no vectors")]
)
def test_a_file_without_vectors_is_refused(tmp_path: Path, content: bytes, what: str) -> None:
    with pytest.raises(InputError, match=what):
        rows_of(tmp_path, content)
