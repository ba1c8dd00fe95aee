"""What a format's `scan` gives: rows, rows that were dropped on purpose, and problems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pssa.data.formats._arrow import ArrowRow
from pssa.data.formats._text import LONG_LINE
from pssa.data.formats._values import names
from pssa.data.validation import shorten

__all__ = ["COLUMNS", "Dropped", "Event", "Problem", "Row"]

COLUMNS = "`columns` (--columns)"  # as an error names the option, to those who call us and to those who type

_MOST_GIVEN = 8192  # characters


@dataclass(frozen=True, slots=True)
class Row:
    """The fields of one instance, unknown ones included."""

    line: int  # counted from 1; in Parquet and Hugging Face datasets the number of the row
    fields: Mapping[str, Any]
    warnings: tuple[str, ...] = ()
    renamed_from: Mapping[str, Any] | None = None  # the fields by the file's own names, where these are others
    absent: Mapping[str, str] = field(default_factory=dict)  # columns that were named and that it has not, by field
    arrow: ArrowRow | None = None  # the same as its file holds it, where that has kinds of its own

    @property
    def given(self) -> Mapping[str, Any]:
        """The fields by the names that the file gives them."""
        return self.fields if self.renamed_from is None else self.renamed_from

    def without(self, name: str, expected: str, advice: str | None = None) -> str:
        """What to say of a row without the field.

        :param advice: where its column was not named; None for that it can be.
        """
        if name in self.absent:
            column = f"this row has no column {shorten(self.absent[name])}, which {COLUMNS} takes for {name}"
            return f"{column}; found {names(self.given)}"
        more = f"; say which it is with `columns` (--columns {name}=NAME)" if advice is None else advice
        return f"no `{name}`; {expected}, found the fields {names(self.given)}{more}"


@dataclass(frozen=True, slots=True)
class Dropped:
    """Something in the file that is no instance for us, and is counted under its reason."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong in a line: the instance was rejected, or is odd but usable."""

    line: int | None
    what: str
    rejected: bool = True
    last: bool = False  # nothing after it can be read
    given: str = ""  # what the file has there, or the beginning of it, where it is known
    unknown_label: str = ""  # or the beginning of it, where that is what is wrong

    def __post_init__(self) -> None:
        if LONG_LINE[0] in self.given:  # it was not kept
            object.__setattr__(self, "given", "")
        if len(self.given) > _MOST_GIVEN:  # many of them may be held at once
            object.__setattr__(self, "given", self.given[:_MOST_GIVEN])


Event = Row | Dropped | Problem
