"""What people read in a table."""

from __future__ import annotations

import math

import pytest

from pssa.studies.exhibit import Figure, Line, Panel, Table, Value
from pssa.studies.render.fields import Span, as_grid, as_table, show_table, spans

FIGURE = Figure(
    "sweep",
    "A sweep",
    "epsilon",
    "macro-F1",
    (
        Panel(
            "MN",
            (
                Line("LAPTOP", (1.0, 2.0, 3.0), (60.0, 61.256, 62.0), (0.5, 1.0, None)),
                Line("REST", (2.0,), (math.nan,)),
            ),
        ),
        Panel("TNet", ()),
    ),
    ("A note.",),
)


def shown(*values: Value) -> list[str]:
    """A column of numbers behind one of names."""
    return [row[1] for row in show_table(Table("t", "T", ("name", "x"), tuple(("a", value) for value in values))).rows]


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ((81.5, 7.126, None), ["81.50", "7.13", ""]),
        ((0.5, 0.1234), ["0.500", "0.123"]),
        ((0.5, 1.0), ["0.500", "1.000"]),
        ((0.0123, 0.004), ["0.0123", "0.0040"]),
        ((0.0, 0.0), ["0.000", "0.000"]),
        ((1234.56, 2.0), ["1234.6", "2.0"]),
        ((23456.7, 2.0), ["23457", "2"]),
        ((math.nan, math.inf, 1.5), ["", "", "1.50"]),
        ((273, 9999, 10000, -1234567), ["273", "9999", "10,000", "-1,234,567"]),
        ((True, False), ["yes", "no"]),
        (("two\nlines  of text", ""), ["two lines of text", ""]),
    ],
)
def test_numbers_of_a_column_have_as_many_decimals(values: tuple[Value, ...], texts: list[str]) -> None:
    assert shown(*values) == texts


def test_columns_of_numbers_are_told_from_columns_of_text() -> None:
    rows: tuple[tuple[Value, ...], ...] = (
        ("1", "81.00 ± 0.10", "+1.2** / -0.5", "-", 3, None, "k=2"),
        ("2", None, "−0.1 / 0.0", "no", 4, None, None),
    )
    found = show_table(Table("t", "T", ("a", "b", "c", "d", "e", "f", "g"), rows))
    # The first column names the row, whatever it holds.
    assert found.is_number == (False, True, True, False, True, True, False)


def test_a_table_without_rows_keeps_its_columns() -> None:
    found = show_table(Table("t", "T", ("a", "b"), ()))
    assert (found.columns, found.rows) == (("a", "b"), ())


def test_a_row_of_another_length_is_an_error_that_names_it() -> None:
    with pytest.raises(ValueError, match="row 2 of table t has 1 fields for 2 columns"):
        show_table(Table("t", "T", ("a", "b"), (("x", 1), ("y",))))


def test_code_is_cut_out_of_a_text() -> None:
    assert spans("take `--seeds` of\n`x`") == [Span("take "), Span("--seeds", True), Span(" of "), Span("x", True)]
    assert spans("a ` alone") == [Span("a ` alone")]
    assert spans("") == []


def test_every_point_of_a_figure_is_a_row() -> None:
    found = as_table(FIGURE)
    assert found.columns == ("plot", "line", "epsilon", "macro-F1", "spread")
    assert found.rows[:2] == (("MN", "LAPTOP", 1.0, 60.0, 0.5), ("MN", "LAPTOP", 2.0, 61.256, 1.0))
    assert found.rows[2] == ("MN", "LAPTOP", 3.0, 62.0, None)  # of a single seed
    assert found.rows[3][:3] == ("MN", "REST", 2.0)
    assert found.rows[3][4] is None
    assert (found.name, found.notes) == ("sweep", ("A note.",))


def test_a_figure_can_be_read_as_a_grid() -> None:
    found = as_grid(FIGURE)
    assert found.columns == ("plot", "macro-F1 by epsilon", "1", "2", "3")
    assert found.rows == (("MN", "LAPTOP", "60.00 ± 0.50", "61.26 ± 1.00", "62.00"), ("MN", "REST", None, None, None))


def test_numbers_of_a_figure_have_as_many_decimals() -> None:
    lines = Line("LAPTOP", (1.0, 2.0), (0.534, 0.0979)), Line("REST", (1.0, 2.0), (0.0123, 0.0), (0.001, None))
    found = as_grid(Figure("f", "F", "x", "words", (Panel("MN", lines),)))
    assert found.rows == (("MN", "LAPTOP", "0.534", "0.098"), ("MN", "REST", "0.012 ± 0.001", "0.000"))


def test_a_line_with_more_places_than_values_is_an_error() -> None:
    with pytest.raises(ValueError, match="zip"):
        as_table(Figure("f", "F", "x", "y", (Panel("p", (Line("l", (1.0, 2.0), (1.0,)),)),)))
