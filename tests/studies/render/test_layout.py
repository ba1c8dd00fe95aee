"""Tables that fit on paper."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pssa.studies.exhibit import Table
from pssa.studies.render.fields import show_table
from pssa.studies.render.layout import Layout, lay_out


def laid_out(columns: tuple[str, ...], *rows: tuple[str | float | None, ...]) -> Layout:
    return lay_out(show_table(Table("t", "T", columns, rows)))


def test_what_fits_is_as_wide_as_its_fields() -> None:
    assert laid_out(("a", "b"), ("x", 1.0)) == Layout((), is_long=False)
    assert laid_out(("a", "b"), *[("x", 1.0)] * 31) == Layout((), is_long=True)


def test_a_number_is_not_torn_from_its_spread_for_the_sake_of_a_sentence() -> None:
    sentence = "a sentence of words " * 10
    name, score = laid_out(("claim", "accuracy"), (sentence, "66.42 ± 0.92")).shares
    # Twelve of the 86 characters of a line, and two between columns.
    assert score == pytest.approx(14 / 86, abs=0.02)
    assert name + score == pytest.approx(1, abs=0.002)


def test_words_of_headings_are_not_broken() -> None:
    first, *others = laid_out(("", *["considerable number"] * 5), ("a sentence of words " * 10, *[1.0] * 5)).shares
    assert min(others) >= len("considerable") / 86
    assert first < 0.3


def test_code_is_as_long_as_it_prints() -> None:
    assert laid_out(("a", "b"), ("x" * 59, "`code` `code`")).shares == ()


@given(st.lists(st.text("ab -5`", max_size=150), min_size=1, max_size=14))
def test_columns_never_take_more_than_the_line(fields: list[str]) -> None:
    found = laid_out(tuple(fields), tuple(fields))
    assert sum(found.shares) <= 1
    assert len(found.shares) in (0, len(fields))
    assert all(share > 0 for share in found.shares)
