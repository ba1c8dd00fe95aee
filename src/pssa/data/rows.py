"""Rows as a file gives them, and which column of a file holds which field.

A format's `scan` yields events: a `Row` for each instance, a `Dropped` for what is not an instance, a `Problem` for what cannot
be read. `Columns` renames columns, as in `text=review,aspect=term`: a field that is not listed has a column of its own name, a
column that is listed holds that field only, and `from=`, without a name, says that the file has no such field.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pssa.data.text_file import LONG_LINE
from pssa.data.validation import join_names, shorten
from pssa.errors import InputError, PssaWarning, setting

# Fields with a meaning, which `pssa.data.fields` explains; all others are the user's own.
FIELDS = ("text", "aspect", "span", "from", "to", "ordinal", "label", "id", "sentence_id", "tags", "words")

ArrowRow = tuple[Any, int]  # a pyarrow.RecordBatch, and the number of a row in it
ColumnNames = Mapping[str, str] | str  # column by field, or the same as `text=review,aspect=term`

_COLUMNS = setting("columns")
_EXAMPLE = "text=review,aspect=term,label=polarity"
_NEXT_PAIR = re.compile(",(?=[^,=]*=)")  # any other comma belongs to the name of a column
# Columns that nearly every use needs; rows may lack the others.
_REQUIRED = ("text", "aspect", "span", "label")
# Words of which names of columns usually consist, by field.
_USUAL_WORDS = {
    "text": {"text", "review", "comment", "sentence", "feedback", "content", "body", "message", "tweet"},
    "aspect": {"aspect", "term", "target", "feature"},
    "label": {"label", "sentiment", "polarity", "rating", "star", "score"},
}
_WORD = re.compile("[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_LABEL_ADVICE = "to label raw texts, start from what `pssa predict starter --input FILE` finds"
_ROWS_SEARCHED = 100
_MAX_GIVEN = 8192  # characters


@dataclass(frozen=True, slots=True)
class Row:
    """The fields of one instance, unknown ones included."""

    line: int  # counted from 1; in Parquet and Hugging Face datasets the number of the row
    fields: Mapping[str, Any]
    warnings: tuple[str, ...] = ()
    renamed_from: Mapping[str, Any] | None = None  # the fields by the file's own names; None: its columns have no names
    absent: Mapping[str, str] = field(default_factory=dict)  # by field, the listed columns that the row lacks
    arrow: ArrowRow | None = None  # the same row with its Arrow types, of which Python lacks some

    @property
    def given(self) -> Mapping[str, Any]:
        """The fields by the file's own names."""
        return self.fields if self.renamed_from is None else self.renamed_from

    def describe_missing(self, name: str, expected: str, advice: str | None = None) -> str:
        """Return the message for a row without the field `name`; the default advice is to name the column, if it can be."""
        if name in self.absent:
            column = f"this row has no column {shorten(self.absent[name])} for {name} ({_COLUMNS})"
            return f"{column}; found {join_names(self.given)}"
        if advice is None:
            listed = setting("columns", propose_columns([name], self.given))
            advice = "; add it to the data" if self.renamed_from is None else f"; name its column with {listed}"
        return f"no `{name}`; {expected}, found the fields {join_names(self.given)}{advice}"


@dataclass(frozen=True, slots=True)
class Dropped:
    """Part of a file that is not an instance, counted under a reason."""

    line: int
    reason: str
    text: str = ""  # of a sentence without aspects, and its id, for a reader that needs such sentences too
    sentence_id: str | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """An instance that was rejected, or a usable one with something odd about it."""

    line: int | None
    message: str  # may have marked settings, to be made part of an error
    rejected: bool = True
    last: bool = False  # nothing after it can be read
    given: str = ""  # the beginning of what the file has there, if known
    unknown_label: str = ""  # the beginning of the label, if that is what is wrong

    def __post_init__(self) -> None:
        if LONG_LINE[0] in self.given:  # the line was too long to be kept
            object.__setattr__(self, "given", "")
        if len(self.given) > _MAX_GIVEN:  # many problems may be held at once
            object.__setattr__(self, "given", self.given[:_MAX_GIVEN])

    @property
    def what(self) -> str:
        """The message for a reader in Python."""
        return str(InputError(self.message))


Event = Row | Dropped | Problem


def brief_messages(problems: Iterable[Problem]) -> list[str]:
    """Return the messages of problems that are listed below each other; advice that repeats that above it is left out."""
    found: list[str] = []
    above: list[str] = []
    for problem in problems:
        parts = problem.message.split("; ")
        n_same = 0
        while n_same < min(len(parts) - 1, len(above)) and parts[-1 - n_same] == above[-1 - n_same]:
            n_same += 1
        found.append("; ".join(parts[: len(parts) - n_same]))
        above = parts
    return found


@dataclass(frozen=True)
class Columns:
    """Names of columns by field."""

    pairs: tuple[tuple[str, str], ...] = ()  # field, column; an empty column for a field that the file lacks
    text_only: bool = False  # rows need a text and nothing else
    advice: str = ""  # what else can be done about a table without aspects

    @classmethod
    def of(cls, given: ColumnNames | Columns | None) -> Columns:
        """Build from a mapping or from text such as `text=review,aspect=term`; refuse a field or a column twice."""
        if isinstance(given, Columns):
            return given
        if isinstance(given, str):
            pairs = []
            for pair in _NEXT_PAIR.split(given):
                name, equals, column = (part.strip() for part in pair.partition("="))
                if not (name and equals and (column or name != "text")):  # every instance has a text
                    expected = f"expected FIELD=COLUMN pairs, separated by commas, such as {_EXAMPLE}"
                    raise InputError(f"{_COLUMNS} has {shorten(pair)}; {expected}")
                pairs.append((name, column))
        elif given is None or isinstance(given, Mapping):
            pairs = list((given or {}).items())
        else:
            raise InputError(f'columns is {shorten(given)}; expected a dict, such as {{"text": "review"}}')
        fields: dict[str, str] = {}
        for name, column in pairs:
            if name not in FIELDS:
                expected = f"expected one of {', '.join(FIELDS)}"
                raise InputError(f"{_COLUMNS} has the unknown field {shorten(name)}; {expected}")
            if not isinstance(column, str) or (column and not column.strip()):
                raise InputError(f"{_COLUMNS} has {shorten(column)} for {name}; expected a column, such as {_EXAMPLE}")
            if column != column.strip() or _NEXT_PAIR.search(column):
                what = "which has space around it, or a comma that looks like its end"
                raise InputError(f"{_COLUMNS} has {shorten(column)} for {name}, {what}; give the column another name")
            if name in fields:
                raise InputError(f"{_COLUMNS} has {name} twice; give it one column")
            other = next((field for field, taken in fields.items() if column and taken == column), None)
            if other is not None:
                twice = f"the column {shorten(column)} twice, for {other} and for {name}"
                raise InputError(f"{_COLUMNS} uses {twice}; give it one field")
            fields[name] = column
        return cls(tuple(fields.items()))

    def __bool__(self) -> bool:
        return bool(self.pairs)

    def __str__(self) -> str:
        """Return them as `Columns.of` and the command line take them."""
        return ",".join(f"{name}={column}" for name, column in self.pairs)

    def spelled_by(self, path: str | Path, header: Collection[str], line: int | None = 1) -> Columns:
        """Return the columns as a header spells them, whatever the case; refuse two that could be the same field."""
        spelled = dict(self.pairs)
        taken = {column.lower() for column in spelled.values()}
        for name in (*spelled, *(name for name in FIELDS if name not in spelled and name not in taken)):
            found = sorted({column for column in header if column.lower() == self.column_of(name).lower()})
            if len(found) > 1:
                both = " and ".join(map(shorten, found[:2]))
                raise InputError.at(path, line, f"the columns {both} can both be read as {name}; rename one")
            if found and (name in spelled or found[0] != name):
                spelled[name] = found[0]
        return replace(Columns.of(spelled), text_only=self.text_only, advice=self.advice)

    def fitting(self, found: Iterable[str]) -> Columns:
        """Return the names that a table with the columns `found` has, whatever the case; none if texts are elsewhere."""
        present = {column.lower() for column in found}
        if self.column_of("text").lower() not in present:
            return replace(self, pairs=())
        return replace(self, pairs=tuple(pair for pair in self.pairs if (pair[1] or pair[0]).lower() in present))

    def column_of(self, name: str) -> str:
        """Return the column that holds the field."""
        return dict(self.pairs).get(name, name)

    @property
    def aspect_columns(self) -> tuple[str, str, str]:
        """Columns for an aspect that is found and its two offsets."""
        aspect, start, end = (self.column_of(name) or name for name in ("aspect", "from", "to"))
        return aspect, start, end

    def row(self, line: int, given: Mapping[str, Any]) -> Row:
        """Return a row of the file with its fields renamed."""
        if not self.pairs:
            return Row(line, given, renamed_from=given)
        listed = dict(self.pairs)
        fields = {name: given[name] for name in self._unlisted(given) if name not in listed}
        fields |= {name: given[column] for name, column in self._present() if column in given}
        absent = {name: column for name, column in self._present() if column not in given}
        return Row(line, fields, renamed_from=given, absent=absent)

    def find_extra(self, given: Iterable[str]) -> Iterator[str]:
        """Yield the columns of a file that are not a field of an instance."""
        listed = dict(self.pairs)
        return (name for name in self._unlisted(given) if name in listed or name not in FIELDS)

    def suffice(self, found: Iterable[str]) -> bool:
        """Whether a table with the columns `found` has a text and, unless texts are enough, an aspect."""
        fields = self._fields(found)
        has_aspect = bool(fields & {"aspect", "span"} or {"from", "to"} <= fields)
        return "text" in fields and (has_aspect or self.text_only)

    def fit_header(self, path: str | Path, header: Sequence[str], line: int | None) -> Columns:
        """Return the columns as a header spells them, whatever the case; refuse a header that lacks or repeats one."""
        spelled = self.spelled_by(path, header, line)
        spelled.check_header(path, header, line)
        return spelled

    def check_header(self, path: str | Path, found: Sequence[str], line: int | None = 1) -> None:
        """Refuse a table without a listed column, without text or aspect, or with two columns of one name."""
        for name, column in self._present():
            if column not in found:
                raise _missing_column(path, line, (name, column), found)
        fields, counts = self._fields(found), Counter(found)
        for name in FIELDS:
            column = self.column_of(name)
            if name in fields and counts[column] > 1:
                what = f"the column {shorten(column)}, read as {name}, occurs twice; rename one"
                raise InputError.at(path, line, what)
        repeated = next((column for column, times in counts.items() if column and times > 1), None)
        if repeated is not None:
            raise InputError.at(path, line, f"the column {shorten(repeated)} occurs twice; rename one")
        if not self.suffice(found) and self.text_only:
            advice = f"name it with {setting('columns', self._propose(['text'], found) or 'text=review')}"
            raise InputError.at(path, line, f"the column `text` is missing; found {join_names(found)}; {advice}")
        if not self.suffice(found):
            # There is advice where nothing is trained, so that no label is asked for.
            label, example, needed = (
                ("", "text=review,aspect=term", ("text", "aspect"))
                if self.advice
                else (", and `label` for training", _EXAMPLE, ("text", "aspect", "label"))
            )
            expected = f"expected `text` and `aspect` (or `span`, or `from` and `to`){label}"
            example = self._propose([name for name in needed if name not in fields], found) or example
            advice = f"if they have other names, list them with {setting('columns', example)}"
            if "text" in fields:
                advice = f"{advice}; {self.advice or _LABEL_ADVICE}"
            raise InputError.at(path, line, f"a column is missing: {expected}; found {join_names(found)}; {advice}")

    def _propose(self, missing: Sequence[str], found: Iterable[str]) -> str:
        """Return what to list so that a table has the missing fields; empty if it says nothing about these columns."""
        taken = {column for _, column in self.pairs}
        listed = propose_columns(missing, [column for column in found if column not in taken])
        proposed = ",".join([*([str(self)] if self.pairs else []), listed])
        return "" if "text" in missing and listed.count("=NAME") == len(missing) else proposed

    def check_rows(self, path: str | Path, events: Iterable[Event]) -> Iterator[Event]:
        """Yield the same events of a file without a header, and check that its first rows have the listed columns.

        A missing column that few rows may have is a warning.

        :raises InputError: after the last of the rows searched, if none of them has a required column.
        """
        missing, n_rows, last = self._present(), 0, Row(1, {})
        for event in events:
            if missing and isinstance(event, Row):
                n_rows, last = n_rows + 1, event
                missing = [pair for pair in missing if pair[1] not in event.given]
                if n_rows == _ROWS_SEARCHED:
                    _report_missing(path, missing, event)
                    missing = []
            yield event
        if n_rows:
            _report_missing(path, missing, last)

    def _fields(self, found: Iterable[str]) -> set[str]:
        listed = dict(self.pairs)
        return {name for name in self._unlisted(found) if name not in listed} | dict(self._present()).keys()

    def _present(self) -> list[tuple[str, str]]:
        """The pairs whose column the file should have."""
        return [pair for pair in self.pairs if pair[1]]

    def _unlisted(self, given: Iterable[str]) -> Iterator[str]:
        columns = {column for _, column in self.pairs}
        return (name for name in given if name not in columns)


SAME_NAMES = Columns()


def propose_columns(fields: Iterable[str], found: Iterable[str]) -> str:
    """Return the columns among `found` whose names suggest these fields, as `Columns.of` takes them; `NAME` for others."""
    columns = [
        column for column in found if column not in FIELDS and column.isprintable() and not set(",=") & set(column)
    ]
    return ",".join(f"{name}={_find_usual(name, columns) or 'NAME'}" for name in fields)


def _find_usual(name: str, columns: Iterable[str]) -> str:
    """Return the first column whose name consists of the usual words of the field; empty if there is none."""
    usual = _USUAL_WORDS.get(name, set())
    for column in columns:
        words = {word.lower() for word in _WORD.findall(column)}
        if words and {word.removesuffix("s") for word in words} <= usual:
            return column
    return ""


def _report_missing(path: str | Path, missing: Sequence[tuple[str, str]], last: Row) -> None:
    """Refuse a file whose rows, up to `last`, lack a required column; warn about others."""
    for name, column in missing:
        if name in _REQUIRED:
            raise _missing_column(path, last.line, (name, column), last.given)
    for name, column in missing:
        what = f"no row up to here has the column {shorten(column)} for {name} ({_COLUMNS})"
        warnings.warn(PssaWarning(InputError.at(path, last.line, f"{what}; check the name").message), stacklevel=3)


def _missing_column(path: str | Path, line: int | None, pair: tuple[str, str], found: Iterable[str]) -> InputError:
    name, column = pair
    what = f"no column {shorten(column)} for {name} ({_COLUMNS}); found {join_names(found)}"
    return InputError.at(path, line, f"{what}; name one of these, or leave {name} out")
