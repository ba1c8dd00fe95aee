"""Widths without a font."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pssa.report.text_width import cut, is_right_to_left, width


def test_widths_of_plain_letters_are_those_of_helvetica() -> None:
    # H 722, e 556, l 222, l 222, o 556.
    assert width("Hello", 1000) == 2278
    assert width("Hello", 10) == pytest.approx(22.78)
    assert width("", 10) == 0


def test_bold_is_wider() -> None:
    assert width("Hello", 10, bold=True) == pytest.approx(1.08 * 22.78)


def test_marks_joiners_and_what_they_join_take_no_room() -> None:
    assert width("e\u0301", 10) == width("e", 10)
    assert width("👩\u200d👧", 10) == width("👩", 10) == 10
    assert width("屏幕", 10) == 20


@given(st.text(), st.floats(20, 200))
def test_parts_fit_and_are_the_whole_text(text: str, most: float) -> None:
    parts = cut(text, 16, most)
    assert "".join(parts) == text
    assert all(width(part, 16) <= most + 1e-6 for part in parts)


def test_a_mark_stays_with_its_letter() -> None:
    assert cut("xe\u0301y", 10, 7) == ["x", "e\u0301", "y"]


@pytest.mark.parametrize(
    ("text", "expected"), [("abc", False), ("123 שלום", True), ("سلام abc", True), ("abc שלום", False), ("12 !", False)]
)
def test_the_first_letter_with_a_direction_decides(text: str, expected: bool) -> None:
    assert is_right_to_left(text) is expected
