"""Which rows of a window a Parquet file can hold beside those before: a column has one kind of values, and the first decide."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from pssa.bulk import table
from pssa.bulk.rows import RejectedRow
from pssa.bulk.work import Result, Tally, rejecting
from pssa.errors import InputError

__all__ = ["fit"]


def fit(result: Result, schema: bytes, part: Path) -> Result:
    """The same window with a schema that holds it as well; rows for which there is none are rejected.

    :param schema: of the windows before, serialised; empty where there are none.
    :param part: the windows before.
    :raises InputError: if the schema is damaged.
    """
    table.read_schema(schema)  # damage is no fault of a row
    fitting = _Fitting(schema, part)
    windows = list(table.tables(io.BytesIO(result.content)))
    for window in windows:
        fitting.take(window)
    if len(windows) == 1 and not fitting.unfit:
        return replace(result, schema=fitting.schema)
    content = table.stream(table.together(fitting.held)) if fitting.held else b""
    labels = Counter(str(window["label"][0]) for window, _ in fitting.unfit.values())
    doubtful = sum(row in result.ambiguous for row in fitting.unfit)
    tally = result.tally.without(Tally(len(fitting.unfit), dict(labels), doubtful))
    rows = [RejectedRow(result.lines[row], str(reason)) for row, (_, reason) in fitting.unfit.items()]
    return rejecting(replace(result, content=content, schema=fitting.schema, tally=tally), rows)


@dataclass
class _Fitting:
    """Tables that are taken one after the other."""

    schema: bytes
    part: Path
    held: list[Any] = field(default_factory=list)
    unfit: dict[int, tuple[Any, InputError]] = field(default_factory=dict)  # tables of one row, by its number
    rows: int = 0

    def take(self, window: Any) -> None:
        """Hold what can be held: all, else of each half what can be."""
        try:
            self._hold(window)
        except InputError as error:
            half = len(window) // 2
            if half:
                self.take(window[:half])
                self.take(window[half:])
            else:
                self._take_row(window, error)

    def _take_row(self, row: Any, reason: InputError) -> None:
        try:
            self._hold(table.as_before(self.schema, row))
        except InputError:
            self.unfit[self.rows] = row, reason
            self.rows += 1

    def _hold(self, window: Any) -> None:
        self.schema = table.widened(self.schema, window, self._before)
        self.held.append(window)
        self.rows += len(window)

    def _before(self) -> Iterator[Any]:
        with self.part.open("rb") as file:
            yield from chain(table.tables(file), self.held)
