"""Plain text: one text a line."""

from __future__ import annotations

from pathlib import Path

import pytest

from pssa.data.formats import plain_text
from pssa.data.io import format_of
from pssa.data.rows import Problem, Row
from pssa.data.text_file import InputFile
from pssa.errors import InputError


def test_lines_are_texts_and_blank_ones_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "reviews.txt"
    path.write_bytes(b"Great food, rude waiter.\r\n\n  Nice.\nbad \xff byte\n")
    rows = list(plain_text.scan(InputFile(path)))
    assert [(row.line, row.fields) for row in rows if isinstance(row, Row)] == [
        (1, {"text": "Great food, rude waiter."}),
        (3, {"text": "Nice."}),
    ]
    assert isinstance(rows[-1], Problem)


def test_it_is_recognised_only_where_texts_are_enough(tmp_path: Path) -> None:
    path = tmp_path / "reviews.txt"
    path.write_text("Great food, rude waiter.\n")
    assert format_of(path, None, text_only=True) == "plain_text"
    with pytest.raises(InputError, match="no known format"):
        format_of(path, None)
    path.write_text("a menu/p\n")
    assert format_of(path, None, text_only=True) == "tagged"
