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
from itertools import islice
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
    columns: Columns | None = field(default=None, compare=False, repr=False)  # that renamed them
    arrow: ArrowRow | None = None  # the same row with its Arrow types, of which Python lacks some

    @property
    def given(self) -> Mapping[str, Any]:
        """The fields by the file's own names."""
        return self.fields if self.renamed_from is None else self.renamed_from

    def column_of(self, name: str) -> str:
        """Return the column that holds the field."""
        return self.columns.column_of(name) if self.columns else name

    def absent_column(self, name: str) -> str:
        """Return the column that is listed for the field if this row lacks it; else nothing."""
        listed = dict(self.columns.pairs) if self.columns else {}
        return "" if name in self.fields else listed.get(name, "")

    def describe_missing(self, name: str, expected: str, advice: str | None = None) -> str:
        """Return the message for a row without the field `name`; the default advice is to name the column, if it can be."""
        if absent := self.absent_column(name):
            return f"this row has no column {shorten(absent)} for {name} ({_COLUMNS}); found {join_names(self.given)}"
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
            parts = [pair.partition("=") for pair in _NEXT_PAIR.split(given)]
            if bad := [part for part in parts if not part[0].strip() or not part[1]]:
                expected = f"expected FIELD=COLUMN pairs, separated by commas, such as {_EXAMPLE}"
                raise InputError(f"{_COLUMNS} has {shorten(''.join(bad[0]))}; {expected}")
            pairs = [(name.strip(), column.strip()) for name, _, column in parts]
        elif given is None or isinstance(given, Mapping):
            pairs = list((given or {}).items())
        else:
            raise InputError(f'columns is {shorten(given)}; expected a dict, such as {{"text": "review"}}')
        fields: dict[str, str] = {}
        for name, column in pairs:
            if name not in FIELDS:
                expected = f"expected one of {', '.join(FIELDS)}"
                raise InputError(f"{_COLUMNS} has the unknown field {shorten(name)}; {expected}")
            # Every instance has a text; any other field may be declined with an empty name.
            if not isinstance(column, str) or (not column.strip() and (column or name == "text")):
                raise InputError(f"{_COLUMNS} has {shorten(column)} for {name}; expected a column, such as {_EXAMPLE}")
            if column != column.strip() or _NEXT_PAIR.search(column):
                what = "which has space around it, or a comma that looks like its end"
                raise InputError(f"{_COLUMNS} has {shorten(column)} for {name}, {what}; give the column another name")
            if name in fields:
                raise InputError(f"{_COLUMNS} has {name} twice; give it one column")
            if column and column in fields.values():
                other = next(known for known, taken in fields.items() if taken == column)
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
        return replace(self, pairs=Columns.of(spelled).pairs)

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
        fields = {name: given[column] for name, column in self._by_field(given).items()}
        return Row(line, fields, renamed_from=given, columns=self)

    def suffice(self, found: Iterable[str]) -> bool:
        """Whether a table with the columns `found` has a text and, unless texts are enough, an aspect."""
        fields = {*self._by_field(found), *(name for name, column in self.pairs if column)}
        has_aspect = bool(fields & {"aspect", "span"} or {"from", "to"} <= fields)
        return "text" in fields and (has_aspect or self.text_only)

    def fit_header(self, path: str | Path, header: Sequence[str], line: int | None) -> Columns:
        """Return the columns as a header spells them, whatever the case; refuse a header that lacks or repeats one."""
        spelled = self.spelled_by(path, header, line)
        spelled.check_header(path, header, line)
        return spelled

    def check_header(self, path: str | Path, found: Sequence[str], line: int | None = 1) -> None:
        """Refuse a table without a listed column, without text or aspect, or with two columns of one name."""
        for name, column in self.pairs:
            if column and column not in found:
                raise _missing_column(path, line, (name, column), found)
        fields = self._by_field(found)
        for column, times in Counter(found).items():
            if column and times > 1:
                meant = next((f", read as {name}," for name in FIELDS if fields.get(name) == column), "")
                raise InputError.at(path, line, f"the column {shorten(column)}{meant} occurs twice; rename one")
        if self.suffice(found):
            return
        expected, needed = "`text` and `aspect` (or `span`, or `from` and `to`)", ["text", "aspect"]
        if self.text_only:
            expected, needed = "`text`", ["text"]
        elif not self.advice:  # it is given where nothing is trained, so that no label is asked for
            expected, needed = f"{expected}, and `label` for training", ["text", "aspect", "label"]
        proposed = self._propose([name for name in needed if name not in fields], found)
        listed = setting("columns", proposed or ",".join(_EXAMPLE.split(",")[: len(needed)]))
        advice = f"if they have other names, list them with {listed}"
        if "text" in fields:
            advice = f"{advice}; {self.advice or _LABEL_ADVICE}"
        raise InputError.at(
            path, line, f"a column is missing: expected {expected}; found {join_names(found)}; {advice}"
        )

    def _propose(self, missing: Sequence[str], found: Iterable[str]) -> str:
        """Return what to list so that a table has the missing fields; empty if it says nothing about these columns."""
        taken = [column for _, column in self.pairs]
        listed = propose_columns(missing, [column for column in found if column not in taken])
        if "text" in missing and listed.count("=NAME") == len(missing):
            return ""
        return f"{self},{listed}" if self else listed

    def check_rows(self, path: str | Path, events: Iterable[Event]) -> Iterator[Event]:
        """Yield the events of a file without a header, once its first rows have shown that they have the listed columns.

        A missing column that few rows may have is a warning.

        :raises InputError: if none of the first rows has a required column.
        """
        rest, first = iter(events), list[Event]()
        missing = [pair for pair in self.pairs if pair[1]]
        for event in islice(rest, _ROWS_SEARCHED):
            first.append(event)
            if isinstance(event, Row):
                missing = [pair for pair in missing if pair[1] not in event.given]
            if not missing:  # a pipe may be slow
                break
        rows = [event for event in first if isinstance(event, Row)]
        missing = missing if rows else []
        for name, column in missing:
            if name in _REQUIRED:
                raise _missing_column(path, rows[-1].line, (name, column), rows[-1].given)
        for name, column in missing:
            what = f"no row up to here has the column {shorten(column)} for {name} ({_COLUMNS}); check the name"
            warnings.warn(PssaWarning(InputError.at(path, rows[-1].line, what).message), stacklevel=2)
        yield from first
        yield from rest

    def _by_field(self, found: Iterable[str]) -> dict[str, str]:
        """Return the columns among `found` by their field, those of the user's own fields included."""
        listed, columns = dict(self.pairs), dict.fromkeys(found)
        taken = set(listed.values())
        own = {name: name for name in columns if name not in listed and name not in taken}
        return own | {name: column for name, column in self.pairs if column and column in columns}


SAME_NAMES = Columns()


def propose_columns(fields: Iterable[str], found: Iterable[str]) -> str:
    """Return the columns among `found` whose names suggest these fields, as `Columns.of` takes them; `NAME` for others."""
    columns = {
        column: {word.lower().removesuffix("s") for word in _WORD.findall(column)}
        for column in found
        if column not in FIELDS and column.isprintable() and not set(",=") & set(column)
    }
    usual = {
        name: next(
            (column for column, words in columns.items() if words and words <= _USUAL_WORDS.get(name, set())), "NAME"
        )
        for name in fields
    }
    return ",".join(f"{name}={column}" for name, column in usual.items())


def _missing_column(path: str | Path, line: int | None, pair: tuple[str, str], found: Iterable[str]) -> InputError:
    name, column = pair
    what = f"no column {shorten(column)} for {name} ({_COLUMNS}); found {join_names(found)}"
    return InputError.at(path, line, f"{what}; name one of these, or leave {name} out")
