from __future__ import annotations

from datetime import date

import pytest

from pssa.errors import InputError
from pssa.insights.dates import Calendar, DateColumn, read_date


def column(*values: object, format: str | None = None) -> DateColumn:
    found = DateColumn("when", format)
    for value in values:
        found.add(value)
    return found


@pytest.mark.parametrize(
    "value",
    [
        "2024-03-05",
        "2024-03-05T10:00:00Z",
        "2024/3/5",
        "5 March 2024",
        "Mar 5, 2024",
        "Tue, 5 Mar 2024 10:00",
        "05.03.2024",
        "1709632800",
        1709632800,
        "1709632800000",
        date(2024, 3, 5),
    ],
)
def test_a_date_is_read_in_many_spellings(value: object) -> None:
    found = column(value)
    assert read_date(value, found.format) == date(2024, 3, 5)


def test_one_row_tells_day_from_month_for_all() -> None:
    assert read_date("03/05/2024", column("03/05/2024", "25/12/2023").format) == date(2024, 5, 3)
    assert read_date("03/05/2024", column("03/05/2024", "12/25/2023").format) == date(2024, 3, 5)
    assert read_date("03/05/2024", column("03/05/2024", format="%m/%d/%Y").format) == date(2024, 3, 5)


def test_dates_that_can_be_read_in_two_ways_are_refused() -> None:
    with pytest.raises(InputError, match=r"03/05/2024.*date_format"):
        _ = column("03/05/2024", "01/02/2024").format
    assert column("03/03/2024", "03/03/2024").format  # either way the same day


@pytest.mark.parametrize("values", [(), ("", None), ("yesterday", "a while ago"), ("0001-01-01",), (True,), ([1],)])
def test_a_column_without_a_date_is_refused_by_name(values: tuple[object, ...]) -> None:
    with pytest.raises(InputError, match="when"):
        _ = column(*values).format


def test_values_that_are_no_date_are_left_out_of_the_span() -> None:
    found = column("2024-01-31", "soon", "9999-12-31", "", "2024-02-01", "2024-13-01")
    assert found.calendar == Calendar("day", date(2024, 1, 31), 2)
    assert found.unread == "'soon'"


@pytest.mark.parametrize(
    ("first", "last", "kind", "names"),
    [
        ("2024-03-05", "2024-03-05", "day", ["5 Mar 2024"]),
        ("2024-02-28", "2024-03-01", "day", ["28 Feb 2024", "29 Feb 2024", "1 Mar 2024"]),
        ("2024-01-03", "2024-02-13", "week", ["1 Jan 2024", "5 Feb 2024", "12 Feb 2024"]),
        ("2023-06-30", "2024-05-01", "month", ["Jun 2023", "Apr 2024", "May 2024"]),
        ("2020-02-01", "2024-05-01", "quarter", ["2020 Q1", "2024 Q1", "2024 Q2"]),
        ("1999-12-31", "2024-05-01", "year", ["1999", "2023", "2024"]),
    ],
)
def test_the_span_decides_the_periods(first: str, last: str, kind: str, names: list[str]) -> None:
    calendar = Calendar.between(date.fromisoformat(first), date.fromisoformat(last))
    places = sorted({0, max(0, calendar.n_periods - 2), calendar.n_periods - 1})
    assert (calendar.kind, calendar.place(date.fromisoformat(first))) == (kind, 0)
    assert calendar.place(date.fromisoformat(last)) == calendar.n_periods - 1
    assert [calendar.name(place) for place in places] == names
