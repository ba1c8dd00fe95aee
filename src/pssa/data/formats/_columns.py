"""Columns by names of their own: which column of a file is which field, as in `--columns text=review,aspect=term`.

A field that nobody names is looked for under its own name. A column that is named for a field is that and nothing else,
and another column that happens to be called like the field is not read. No name, as in `from=`, says that the file has no such
field, whatever its columns are called.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pssa.data.formats._fields import KNOWN
from pssa.data.formats._rows import COLUMNS, Event, Row
from pssa.data.formats._values import names
from pssa.data.validation import shorten
from pssa.errors import InputError

__all__ = ["AS_NAMED", "ColumnNames", "Columns"]

ColumnNames = Mapping[str, str] | str  # columns by field, or the same as `--columns` takes it

_EXAMPLE = "text=review,aspect=term,label=polarity"
_NEXT_PAIR = re.compile(",(?=[^,=]*=)")  # a comma before anything else belongs to the name of a column
# What nearly every use needs; other fields may be given only where they say something.
_NEEDED = ("text", "aspect", "span", "label")
_ROWS_SEARCHED = 100


@dataclass(frozen=True)
class Columns:
    """The columns that were named, by field."""

    pairs: tuple[tuple[str, str], ...] = ()  # field, column; an empty one for a field that the file has not

    @classmethod
    def of(cls, given: ColumnNames | None) -> Columns:
        """What was asked for.

        :raises InputError: if it is malformed, names an unknown field, or a field or a column twice.
        """
        if isinstance(given, str):
            pairs = [_parsed(pair) for pair in _NEXT_PAIR.split(given)]
        elif given is None or isinstance(given, Mapping):
            pairs = list((given or {}).items())
        else:
            raise InputError(f'columns is {shorten(given)}; expected a dict, such as {{"text": "review"}}')
        fields: dict[str, str] = {}
        for field, column in pairs:
            _check(field, column, fields)
            fields[field] = column
        return cls(tuple(fields.items()))

    def __bool__(self) -> bool:
        return bool(self.pairs)

    def __str__(self) -> str:
        """As `--columns` takes it."""
        return ",".join(f"{field}={column}" for field, column in self.pairs)

    def lowered(self) -> Columns:
        """The same for everyone who names them in a table in which upper and lower case are the same."""
        return Columns.of({field: column.lower() for field, column in self.pairs})

    def spelled_by(self, path: str | Path, header: Collection[str], line: int = 1) -> Columns:
        """The columns by their names in a header in which upper and lower case are the same.

        :param line: where the header is.
        :raises InputError: if two of its columns could be the same field, or one is named for two.
        """
        named = dict(self.pairs)
        taken = {column.lower() for column in named.values()}
        spelled = dict(named)
        for field in (*named, *(field for field in KNOWN if field not in named and field not in taken)):
            found = [name for name in header if name.lower() == self.column_of(field).lower()]
            if len(set(found)) > 1:
                both = " and ".join(map(shorten, sorted(set(found))[:2]))
                raise InputError.at(path, line, f"the columns {both} can both be read as {field}; rename one")
            if found and (field in named or found[0] != field):
                spelled[field] = found[0]
        return Columns.of(spelled)

    def in_order(self) -> Columns:
        """The same columns, in an order that does not depend on who named them."""
        return Columns(tuple(sorted(self.pairs)))

    def column_of(self, field: str) -> str:
        """The name that the field has in the file."""
        return dict(self.pairs).get(field, field)

    def row(self, line: int, given: Mapping[str, Any]) -> Row:
        """The row that the file gives, its fields by our names."""
        if not self.pairs:
            return Row(line, given)
        named = dict(self.pairs)
        fields = {name: given[name] for name in self._not_named(given) if name not in named}
        fields |= {field: given[column] for field, column in self._present() if column in given}
        absent = {field: column for field, column in self._present() if column not in given}
        return Row(line, fields, renamed_from=given, absent=absent)

    def unread(self, given: Iterable[str]) -> Iterator[str]:
        """Those columns of a file that are no field of an instance."""
        fields = dict(self.pairs)
        return (name for name in self._not_named(given) if name in fields or name not in KNOWN)

    def require(self, path: str | Path, found: Collection[str], line: int = 1) -> None:
        """Refuse a table without a column that was named, or without those that every use needs, and one with two columns of
        one name, of which one would be lost; labels are only asked for where they are used.

        :param found: the columns of the table, as often as they are there.
        :param line: where they are named.
        """
        for field, column in self._present():
            if column not in found:
                raise _absent(path, line, (field, column), found)
        fields = self._fields(found)
        for field in KNOWN:
            column = self.column_of(field)
            if field in fields and list(found).count(column) > 1:
                raise InputError.at(
                    path, line, f"the column {shorten(column)}, read as {field}, is there twice; rename one"
                )
        doubled = next((name for name, times in Counter(found).items() if name and times > 1), None)
        if doubled is not None:
            raise InputError.at(path, line, f"the column {shorten(doubled)} is there twice; rename one")
        if not self.suffice(found):
            expected = "expected `text` and `aspect` (or `span`, or `from` and `to`), and `label` for training"
            advice = f"if they have other names, say so with `columns` (--columns {_EXAMPLE})"
            raise InputError.at(path, line, f"a column is missing: {expected}; found {names(found)}; {advice}")

    def suffice(self, found: Iterable[str]) -> bool:
        """Whether a table with these columns, and with those that are named, says what every use needs."""
        fields = self._fields(found)
        return "text" in fields and bool(fields & {"aspect", "span"} or {"from", "to"} <= fields)

    def required_of(self, path: str | Path, events: Iterable[Event]) -> Iterator[Event]:
        """The same events of a file without a header, in which a column that was named has to come up early; for fields
        that few rows may have, there is a warning where it does not.

        :raises InputError: on coming to the row by which it should have, or to the end.
        """
        missing, rows, last = self._present(), 0, Row(1, {})
        for event in events:
            if missing and isinstance(event, Row):
                rows, last = rows + 1, event
                missing = [pair for pair in missing if pair[1] not in event.given]
                if rows == _ROWS_SEARCHED:
                    _give_up(path, missing, event)
                    missing = []
            yield event
        if rows:
            _give_up(path, missing, last)

    def _fields(self, found: Iterable[str]) -> set[str]:
        named = dict(self.pairs)
        return {name for name in self._not_named(found) if name not in named} | dict(self._present()).keys()

    def _present(self) -> list[tuple[str, str]]:
        """The columns that the file should have."""
        return [pair for pair in self.pairs if pair[1]]

    def _not_named(self, given: Iterable[str]) -> Iterator[str]:
        columns = {column for _, column in self.pairs}
        return (name for name in given if name not in columns)


AS_NAMED = Columns()


def _parsed(pair: str) -> tuple[str, str]:
    field, equals, column = (part.strip() for part in pair.partition("="))
    if not (field and equals and (column or field != "text")):  # without a text there is no instance
        raise InputError(
            f"{COLUMNS} has {shorten(pair)}; expected FIELD=COLUMN, with commas between them, such as {_EXAMPLE}"
        )
    return field, column


def _check(field: Any, column: Any, before: Mapping[str, str]) -> None:
    if field not in KNOWN:
        raise InputError(f"{COLUMNS} names the unknown field {shorten(field)}; it can be {', '.join(KNOWN)}")
    if not isinstance(column, str) or (column and not column.strip()):
        raise InputError(
            f"{COLUMNS} has {shorten(column)} for {field}; expected the name of a column, such as {_EXAMPLE}"
        )
    if column != column.strip() or _NEXT_PAIR.search(column):
        what = "which has space around it, or a comma that reads as the end of it"
        raise InputError(f"{COLUMNS} has {shorten(column)} for {field}, {what}; give the column another name")
    if field in before:
        raise InputError(f"{COLUMNS} names {field} twice; give it one column")
    other = next((name for name, taken in before.items() if column and taken == column), None)
    if other is not None:
        raise InputError(
            f"{COLUMNS} takes the column {shorten(column)} twice, for {other} and for {field}; give it one field"
        )


def _give_up(path: str | Path, missing: Sequence[tuple[str, str]], last: Row) -> None:
    """Refuse a file whose rows, up to this one, lack a column that is needed, and warn of others."""
    for field, column in missing:
        if field in _NEEDED:
            raise _absent(path, last.line, (field, column), last.given)
    for field, column in missing:
        what = f"no row up to here has the column {shorten(column)}, which {COLUMNS} takes for {field}"
        warnings.warn(str(InputError.at(path, last.line, f"{what}; check the name")), stacklevel=3)


def _absent(path: str | Path, line: int, pair: tuple[str, str], found: Iterable[str]) -> InputError:
    field, column = pair
    what = f"there is no column {shorten(column)}, which {COLUMNS} takes for {field}"
    return InputError.at(path, line, f"{what}; found {names(found)}: take one of them, or leave {field} out")
