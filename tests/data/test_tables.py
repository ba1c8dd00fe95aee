"""Tables in memory are read like files, and come back as the kind that was given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import datasets
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from pssa.data.io import read
from pssa.data.tables import with_columns
from pssa.errors import InputError

ROWS = [
    {"text": "The menu is short.", "aspect": "menu", "label": "negative", "stars": 2},
    {"text": "A good wine list.", "aspect": "wine list", "label": "positive", "stars": 5},
]
KINDS: dict[str, Callable[[list[dict[str, Any]]], Any]] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "polars, lazy": pl.LazyFrame,
    "arrow": pa.Table.from_pylist,
    "dataset": datasets.Dataset.from_list,
    "records": list,
}


def plain(table: Any) -> list[dict[str, Any]]:
    """The rows of any table as dicts."""
    if isinstance(table, pd.DataFrame):
        return list(table.to_dict("records"))
    if isinstance(table, pl.DataFrame):
        return list(table.to_dicts())
    return table.to_pylist() if isinstance(table, pa.Table) else list(table)


@pytest.mark.parametrize("kind", KINDS)
def test_every_table_is_read_as_its_records(kind: str) -> None:
    assert read(KINDS[kind](ROWS)) == read(ROWS)


@pytest.mark.parametrize("kind", KINDS)
def test_new_columns_replace_old_ones_after_others_are_renamed(kind: str) -> None:
    extended = plain(with_columns(KINDS[kind](ROWS), {"stars": [0.5, 0.25], "label": ["a", None]}, {"label": "gold"}))
    assert [row["gold"] for row in extended] == ["negative", "positive"]
    assert [row["stars"] for row in extended] == [0.5, 0.25]
    assert [row["text"] for row in extended] == [row["text"] for row in ROWS]
    assert extended[0]["label"] == "a"
    assert pd.isna(extended[1]["label"])


def test_a_pandas_frame_keeps_its_index_and_its_missing_values() -> None:
    frame = pd.DataFrame(ROWS, index=[7, 7])
    extended = with_columns(frame, {"label": ["a", "b"]}, {})
    assert list(extended.index) == [7, 7]
    assert list(extended["label"]) == ["a", "b"]
    assert list(frame["label"]) == ["negative", "positive"]
    missing = pd.DataFrame(ROWS).assign(ordinal=pd.array([pd.NA, 0], dtype="Int64"))
    assert read(missing) == read(ROWS)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pd.DataFrame(ROWS).drop(columns="text"), "DataFrame: a column is missing.*found aspect, label, stars"),
        (pd.DataFrame(ROWS).assign(aspect="soup"), "DataFrame, line 1: aspect 'soup' is not in the text"),
        (datasets.DatasetDict(train=datasets.Dataset.from_list(ROWS)), r"splits train; .*dataset\['train'\]"),
        ([("The menu", "menu")], "record 1 is .*expected a dict"),
        ({1, 2}, "the data is a set; expected .*a frame"),
        (pd.DataFrame([["a menu", "menu", ""]], columns=["text", "aspect", "text"]), "DataFrame: .*'text' 2 times"),
    ],
)
def test_a_table_that_cannot_be_read_is_named(table: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(table)
