"""Tables in memory: pandas, polars and Arrow frames, Hugging Face datasets, and lists of dicts, in and out.

narwhals reads and extends all frames by the same calls, so none of their libraries is needed here. What comes back is of the
kind that was given, with its rows in their order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pssa.data.example import Example
from pssa.data.fields import fields_of
from pssa.data.formats import hugging_face
from pssa.data.rows import FIELDS, Columns, Event, Row
from pssa.data.validation import format_error, shorten
from pssa.errors import InputError, setting

_SEARCHED = 100  # dicts that may have a key

Table = Any  # a frame that narwhals knows, a `datasets.Dataset`, or a sequence of dicts

_NOTHING = ("NAType", "NaTType")  # what pandas has for a missing value beside None and NaN


def is_table(data: object) -> bool:
    """Whether `data` is a table in memory; a list counts as one whatever is in it."""
    return isinstance(data, (list, tuple)) or _is_dataset(data) or _as_frame(data) is not None


def texts_of_series(data: object) -> list[str] | None:
    """Return the texts of a pandas, polars or Arrow Series, empty where one is missing; None if this is no Series.

    :raises InputError: if a value is not a text.
    """
    import narwhals

    series = narwhals.from_native(data, pass_through=True, allow_series=True)
    if not isinstance(series, narwhals.Series):
        return None
    texts = ["" if value is None or value != value else value for value in map(_plain, series)]
    for line, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise InputError(f"{name_of(data)}, line {line}: is {shorten(text)}; expected text")
    return texts


def name_of(table: Table) -> str:
    """Return how messages call a table: `DataFrame`, `Dataset`, or `records` for a list of dicts."""
    return "records" if isinstance(table, (list, tuple)) else type(table).__name__


def table_columns(table: Table) -> list[str]:
    """Return the names of a table's columns."""
    if isinstance(table, (list, tuple)):
        return list(dict.fromkeys(name for row in table[:_SEARCHED] if isinstance(row, Mapping) for name in row))
    return [str(name) for name in (table.column_names if _is_dataset(table) else _as_frame(table).columns)]


def scan_table(table: Table, columns: Columns) -> Iterator[Event]:
    """Yield the rows of a table; their lines are counted from 1.

    :raises InputError: if this is not a table, a column is missing, or a list holds something that is not a dict.
    """
    name = name_of(table)
    if isinstance(table, (list, tuple)):
        return columns.check_rows(name, rows_of_records(table, columns))
    if _is_dataset(table):
        return hugging_face.rows_of(_one_split(table), Path(name), columns)
    frame = _as_frame(table)
    if frame is None:
        raise InputError(f"the table is a {name}; expected a frame, a Hugging Face dataset, or a list of dicts")
    return _frame_rows(frame, name, columns)


def rows_of_records(rows: Any, columns: Columns) -> Iterator[Row]:
    """Yield the rows of dicts."""
    for line, fields in enumerate(rows, 1):
        fields = fields_of(fields) if isinstance(fields, Example) else fields
        if not isinstance(fields, Mapping):
            raise InputError(f"record {line} is {shorten(fields)}; expected a dict with text, aspect and label")
        yield columns.row(line, fields)


def with_columns(table: Table, new: Mapping[str, Sequence[Any]], renamed: Mapping[str, str]) -> Table:
    """Return the table with more columns, after those of the same name were removed and others renamed.

    :param renamed: new names by the old ones; columns that the table lacks are ignored.
    """
    if isinstance(table, (list, tuple)):
        named = ({renamed.get(key, key): value for key, value in row.items()} for row in table)
        return [
            {key: value for key, value in row.items() if key not in new}
            | {name: values[place] for name, values in new.items()}
            for place, row in enumerate(named)
        ]
    if _is_dataset(table):
        dataset = _one_split(table)
        dataset = dataset.rename_columns({old: name for old, name in renamed.items() if old in dataset.column_names})
        dataset = dataset.remove_columns([name for name in new if name in dataset.column_names])
        for name, values in new.items():
            dataset = dataset.add_column(name, list(values))
        return dataset
    import narwhals

    frame = _as_frame(table)
    frame = frame.rename({old: name for old, name in renamed.items() if old in frame.columns})
    frame = frame.drop([name for name in new if name in frame.columns])
    is_pandas = frame.implementation.is_pandas_like()
    series = [
        narwhals.new_series(name, list(values), _kind(values, is_pandas), backend=frame.implementation)
        for name, values in new.items()
    ]
    return frame.with_columns(*series).to_native()


def take_rows(table: Table, places: Sequence[int]) -> Table:
    """Return the rows at these places, counted from 0, in this order; a row may be taken several times."""
    if isinstance(table, (list, tuple)):
        return [table[place] for place in places]
    if _is_dataset(table):
        return _one_split(table).select(places)
    return _as_frame(table)[list(places)].to_native()


def _kind(values: Sequence[Any], is_pandas: bool) -> Any:
    """Return the type of a column: numbers or text, also where every value is missing."""
    import narwhals

    found = {type(value) for value in values}
    if not found & {int, float}:
        return narwhals.String()
    # Whole numbers of pandas have nothing for a missing one.
    is_whole = float not in found and not (is_pandas and None in values)
    return narwhals.Int64() if is_whole else narwhals.Float64()


def _frame_rows(frame: Any, name: str, columns: Columns) -> Iterator[Row]:
    """Yield the rows of a frame, with the columns that have a meaning alone: a frame may have hundreds."""
    header = [str(column) for column in frame.columns]
    columns = columns.fit_header(name, header, None)
    known = [column for column in dict.fromkeys(columns.column_of(field) for field in FIELDS) if column in header]
    for line, values in enumerate(frame.select(known).iter_rows(), 1):
        yield columns.row(line, dict(zip(known, map(_plain, values), strict=True)))


def _plain(value: Any) -> Any:
    """Return a value of a frame as Python has it: None for what is missing, and no numbers of numpy."""
    if type(value).__name__ in _NOTHING:
        return None
    return value.item() if type(value).__module__ == "numpy" and hasattr(value, "item") and not value.ndim else value


def _as_frame(data: object) -> Any:
    """Return the narwhals frame of `data`, which is collected if it is lazy; None if `data` is not a frame."""
    import narwhals

    if isinstance(data, (str, Path)):
        return None
    try:
        frame = narwhals.from_native(data, pass_through=True)
    except narwhals.exceptions.DuplicateError as error:
        raise InputError(f"{name_of(data)}: {format_error(error)}; rename one of them") from error
    if isinstance(frame, narwhals.LazyFrame):
        return frame.collect()
    return frame if isinstance(frame, narwhals.DataFrame) else None


def _is_dataset(data: object) -> bool:
    """Whether `data` is a Hugging Face dataset or a dict of its splits, without importing their library."""
    return type(data).__module__.partition(".")[0] == "datasets" and hasattr(data, "column_names")


def _one_split(dataset: Any) -> Any:
    if isinstance(dataset, dict):
        first = next(iter(dataset), "train")
        raise InputError(f"the dataset has the splits {', '.join(dataset)}; give one of them, as in dataset[{first!r}]")
    if not hasattr(dataset, "features") or not hasattr(dataset, "add_column"):
        expected = f"expected a datasets.Dataset, or its name as {setting('data', 'hf:OWNER/NAME')}"
        raise InputError(f"the data is a {type(dataset).__name__}; {expected}")
    return dataset
