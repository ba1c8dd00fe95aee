"""Dates as tables hold them: which format a column has, and the periods that its span is divided into.

A column has one format. It is the one that reads most values; `03/05/2024` alone does not tell day from month, so a column in
which no value does is refused rather than guessed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from pssa.data.validation import shorten
from pssa.errors import InputError, setting

ISO = "ISO 8601"
_EPOCH = "seconds since 1970"
_DAY_FIRST, _MONTH_FIRST = "day/month/year", "month/day/year"
_NUMBERS = re.compile(r"\s*(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})(?!\d)")
_YEAR_FIRST = re.compile(r"\s*(\d{4})[./](\d{1,2})[./](\d{1,2})(?!\d)")
_NAMED = re.compile(
    r"\s*(?:[a-z]{3,9},?\s+)?(?:(?P<day>\d{1,2})(?:st|nd|rd|th)?[\s-]+(?:of\s+)?(?P<month>[a-z]{3,9})\.?"
    r"|(?P<month2>[a-z]{3,9})\.?\s+(?P<day2>\d{1,2})(?:st|nd|rd|th)?|(?P<month3>[a-z]{3,9})\.?),?[\s-]+(?P<year>\d{4})\b",
    re.IGNORECASE,
)
_MONTH = re.compile(r"\s*(\d{4})-(\d{1,2})\s*$")
_SECONDS = re.compile(r"\s*(\d{9,10}|\d{12,13})(?:\.\d+)?\s*$")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS_OF, _MONTHS_OF = {"day": 1, "week": 7}, {"month": 1, "quarter": 3, "year": 12}
_MAX_PERIODS = 24
_DATE, _DATE_FORMAT = setting("date", "COLUMN"), setting("date_format", "%d/%m/%Y")
_YEARS = range(1970, 2100)  # a date of another year is a slip, and would stretch every chart


def _iso(text: str) -> date | None:
    if _SECONDS.match(text):
        return None
    if found := _MONTH.match(text) or _YEAR_FIRST.match(text):
        year, month, *day = map(int, found.groups())
        return date(year, month, *(day or [1]))
    return datetime.fromisoformat(text.strip()).date()


def _epoch(text: str) -> date | None:
    found = _SECONDS.match(text)
    if not found:
        return None
    number = int(found[1])
    return datetime.fromtimestamp(number / 1000 if number >= 10**11 else number, UTC).date()


def _named(text: str) -> date | None:
    found = _NAMED.match(text)
    if not found:
        return None
    name = (found["month"] or found["month2"] or found["month3"])[:3].lower()
    return date(int(found["year"]), _MONTHS.index(name) + 1, int(found["day"] or found["day2"] or 1))


def _numbers(text: str, day_first: bool) -> date | None:
    found = _NUMBERS.match(text)
    if not found:
        return None
    first, mark, second, year = int(found[1]), found[2], int(found[3]), int(found[4])
    day, month = (first, second) if day_first or mark == "." else (second, first)
    return date(year if year > 99 else 2000 + year, month, day)


_READERS: dict[str, Callable[[str], date | None]] = {
    ISO: _iso,
    _DAY_FIRST: lambda text: _numbers(text, day_first=True),
    _MONTH_FIRST: lambda text: _numbers(text, day_first=False),
    "a month by name": _named,
    _EPOCH: _epoch,
}


def read_date(value: Any, format: str) -> date | None:
    """Return the date that a value means in this format, or None.

    :param format: one that `DateColumn.format` returns, or one of `strptime`.
    """
    if isinstance(value, date):
        value = value.isoformat()
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        return None
    text = str(value)[:100]
    try:
        day = _READERS[format](text) if format in _READERS else datetime.strptime(text.strip(), format).date()
    except (ValueError, OverflowError, OSError):
        return None
    return day if day is not None and day.year in _YEARS else None


@dataclass
class DateColumn:
    """What is known of a column of dates: how many values each format reads."""

    name: str
    given_format: str | None = None  # of strptime, or one that another column of the same dates has
    n_values: int = 0
    n_read: Counter[str] = field(default_factory=Counter)  # by format
    spans: dict[str, tuple[date, date]] = field(default_factory=dict)  # first and last day, by format
    ambiguous: str = ""  # a value that two formats read as different days
    unread: str = ""  # the first value that no format reads

    def add(self, value: Any) -> None:
        """Count a value; None or an empty text is none."""
        if value is None or (isinstance(value, str) and not value.strip()):
            return
        self.n_values += 1
        formats = [self.given_format] if self.given_format else list(_READERS)
        found = {format: day for format in formats if (day := read_date(value, format)) is not None}
        self.n_read.update(found.keys())
        for format, day in found.items():
            first, last = self.spans.get(format, (day, day))
            self.spans[format] = min(first, day), max(last, day)
        if not found and not self.unread:
            self.unread = shorten(value)
        if not self.ambiguous and found.get(_DAY_FIRST) != found.get(_MONTH_FIRST) and len(found) > 1:
            self.ambiguous = shorten(value)

    def require_dates(self) -> None:
        """Refuse a column without any date.

        :raises InputError: naming the column and a value.
        """
        if self.n_read:
            return
        if not self.n_values:
            raise InputError(f"the column {shorten(self.name)} has no value; name the column of dates with {_DATE}")
        advice = f"name another column with {_DATE}, or its format with {_DATE_FORMAT}"
        raise InputError(f"the column {shorten(self.name)} has no date: {self.unread} cannot be read; {advice}")

    @property
    def is_ambiguous(self) -> bool:
        """Whether as many values can be day and month as month and day, and not all are the same either way."""
        as_many = self.n_read[_DAY_FIRST] == self.n_read[_MONTH_FIRST] == max(self.n_read.values(), default=0)
        return bool(self.ambiguous) and as_many

    @property
    def format(self) -> str:
        """The format of the column.

        :raises InputError: if no value is a date, or day and month cannot be told apart.
        """
        self.require_dates()
        if self.is_ambiguous:
            either = f"{self.ambiguous} in the column {shorten(self.name)} can be day/month or month/day"
            raise InputError(f"{either}, and no row decides; name the format with {_DATE_FORMAT}")
        return self.n_read.most_common(1)[0][0]

    @property
    def calendar(self) -> Calendar:
        """The periods from the first day to the last."""
        return Calendar.between(*self.spans[self.format])


@dataclass(frozen=True)
class Calendar:
    """A span of days in periods of one kind: day, week, month, quarter or year."""

    kind: str
    first: date
    n_periods: int

    @classmethod
    def between(cls, first: date, last: date) -> Calendar:
        """Divide a span into the shortest periods of which at most two dozen are needed; years where it is longer."""
        for kind in (*_DAYS_OF, *_MONTHS_OF):
            n_months = _MONTHS_OF.get(kind)
            if n_months:
                start = first.replace(month=1 + (first.month - 1) // n_months * n_months, day=1)
            else:
                start = first - timedelta(days=first.weekday() if kind == "week" else 0)
            calendar = cls(kind, start, 0)
            calendar = replace(calendar, n_periods=calendar.place(last) + 1)
            if calendar.n_periods <= _MAX_PERIODS:
                break
        return calendar

    def place(self, day: date) -> int:
        """Return the number of the period with this day, from 0."""
        if self.kind in _DAYS_OF:
            return (day - self.first).days // _DAYS_OF[self.kind]
        months = 12 * (day.year - self.first.year) + day.month - self.first.month
        return months // _MONTHS_OF[self.kind]

    def name(self, place: int) -> str:
        """Return what a period is called: `5 Mar 2024`, `Mar 2024`, `2024 Q1` or `2024`; a week by its first day."""
        if self.kind in _DAYS_OF:
            day = self.first + timedelta(days=place * _DAYS_OF[self.kind])
            return f"{day.day} {_month_name(day.month - 1)} {day.year}"
        year, month = divmod(12 * self.first.year + self.first.month - 1 + place * _MONTHS_OF[self.kind], 12)
        if self.kind == "year":
            return str(year)
        return f"{year} Q{month // 3 + 1}" if self.kind == "quarter" else f"{_month_name(month)} {year}"


def _month_name(number: int) -> str:
    return _MONTHS[number].capitalize()  # not strftime's, which depends on the locale
