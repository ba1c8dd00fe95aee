"""The form of an output: JSON Lines, CSV or Parquet, and how it is packed.

Rows of a window become bytes that are appended to those of the windows before: whole lines, whole gzip members or zstd frames.
Parquet has its index at the end, so its windows are kept as Arrow streams and made into one file when all are there.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pssa.bulk import table
from pssa.bulk.rows import PROBABILITIES
from pssa.bulk.source import STANDARD
from pssa.data.formats import spans_as_text, tags_as_text
from pssa.data.validation import shorten
from pssa.errors import InputError, MissingExtra
from pssa.runs.classifier import probability_column

__all__ = ["Form", "form_of"]

_NAMES = {
    ".csv": "csv",
    ".json": "json_lines",
    ".jsonl": "json_lines",
    ".ndjson": "json_lines",
    ".parquet": "parquet",
}
_SHORT = {"jsonl": "json_lines", "json-lines": "json_lines"}
_PACKED = (".gz", ".zst")


@dataclass(frozen=True)
class Form:
    """What the bytes of an output look like."""

    name: str  # json_lines, csv or parquet
    packing: str = ""  # .gz, .zst or none
    labels: tuple[str, ...] = ()  # whose probabilities have a column each in CSV

    def unfit(self, row: Mapping[str, Any], columns: Sequence[str]) -> str:
        """Why the output cannot hold the row; empty if it can."""
        if self.name != "csv":
            return ""
        unknown = set(row) - set(columns)
        new = sorted(name for name in unknown if name.lower() not in self._replaced()) if unknown else []
        has = f"a row has the field {shorten(new[0])}, which the first has not" if new else ""
        return has and f"{has}; write JSON Lines instead of CSV"

    def encode(self, rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> bytes:
        """The rows as they are appended.

        :raises InputError: if Parquet cannot hold them.
        """
        if not rows:
            return b""
        if self.name == "parquet":
            return table.encode(rows)
        return self._packed(self._table(rows, columns) if self.name == "csv" else b"".join(map(_json_line, rows)))

    def header(self, columns: Sequence[str]) -> bytes:
        """What stands before the first row."""
        if self.name != "csv":
            return b""
        names = self._spread(columns)
        return self._packed(_csv([dict(zip(names, names, strict=True))], names))

    def empty(self, columns: Sequence[str]) -> bytes:
        """What an output without rows has: the header, where columns are known, and what packing needs."""
        if self.name == "parquet":
            return b""
        return self.header(columns) if columns and self.name == "csv" else self._packed(b"")

    def _table(self, rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> bytes:
        shares = {probability_column(label): label for label in self.labels}
        spread = [
            {**row, **{name: row[PROBABILITIES].get(label, "") for name, label in shares.items()}} if shares else row
            for row in rows
        ]
        return _csv(spread, self._spread(columns))

    def _spread(self, columns: Sequence[str]) -> list[str]:
        """The columns of CSV; a table that was scored before gets new probabilities in place of the old."""
        shares = [probability_column(label) for label in self.labels]
        replaced = self._replaced()
        kept = [name for name in columns if name.lower() not in replaced]
        return [each for name in kept for each in (shares if shares and name == PROBABILITIES else [name])]

    def _replaced(self) -> set[str]:
        """Columns of an earlier job that new probabilities take the place of, in lower case."""
        return {probability_column(label).lower() for label in self.labels}

    def _packed(self, content: bytes) -> bytes:
        if self.packing == ".gz":
            return gzip.compress(content, compresslevel=6, mtime=0)
        return bytes(_pyarrow().compress(content, codec="zstd", asbytes=True)) if self.packing else content


def form_of(output: str, name: str | None, labels: tuple[str, ...] = ()) -> Form:
    """The form that the output's name asks for, or one that is named; JSON Lines for standard output.

    :param labels: that the run knows.
    :raises InputError: if there is no such form, or it cannot be written there.
    """
    path = Path(output)
    packing = path.suffix.lower() if path.suffix.lower() in _PACKED and output != STANDARD else ""
    suffix = Path(path.stem).suffix if packing else path.suffix
    found = _named(name) if name else "json_lines" if output == STANDARD else _NAMES.get(suffix.lower())
    if found is None:
        ends = ".jsonl, .csv or .parquet, with .gz or .zst after the first two where it is to be packed"
        raise InputError(f"output {output} is neither JSON Lines, CSV nor Parquet; let its name end in {ends}")
    if found == "parquet" and (packing or output == STANDARD):
        raise InputError(f"Parquet cannot be written to {output}; it is packed within, and needs a file: name one")
    if found == "parquet" or packing == ".zst":
        _pyarrow()
    return Form(found, packing, labels)


def _named(name: str) -> str:
    key = name.lower().replace("_", "-")
    known = _SHORT.get(key, key.replace("-", "_"))
    if known not in _NAMES.values():
        raise InputError(f"unknown output format {shorten(name)}; it can be json_lines, csv or parquet")
    return known


def _json_line(row: Any) -> bytes:
    try:
        return (json.dumps(row, ensure_ascii=False, allow_nan=False, default=_plain) + "\n").encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which only an escape can write
        return (json.dumps(row, allow_nan=False, default=_plain) + "\n").encode()
    except ValueError:
        return _json_line(_finite(row))


def _plain(value: Any) -> str:
    """What tables hold and JSON has no word for: dates, decimals, bytes."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    iso: Callable[[], str] | None = getattr(value, "isoformat", None)
    return iso() if iso else str(value)


def _finite(value: Any) -> Any:
    """The value with nothing in place of NaN and infinity, as JSON has neither."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value


def _csv(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> bytes:
    target = io.StringIO(newline="")
    writer = csv.writer(target)
    writer.writerows([_cell(row.get(name, ""), name) for name in columns] for row in rows)
    return target.getvalue().encode("utf-8", "replace")


def _cell(value: Any, name: str) -> Any:
    if isinstance(value, bytes):
        return _plain(value)
    if isinstance(value, list) and name in _LISTS and (text := _LISTS[name](value)) is not None:
        return text
    return _json_line(value).decode().rstrip("\n") if isinstance(value, dict | list) else value


def _words(value: Sequence[Any]) -> str | None:
    sound = all(isinstance(span, list | tuple) and [*map(type, span)] == [int, int] for span in value)
    return spans_as_text(value) if sound else None


def _tags(value: Sequence[Any]) -> str | None:
    return tags_as_text(value) if all(isinstance(tag, str) for tag in value) else None


# Lists that the reader of CSV knows, as it reads them; None for what it would not.
_LISTS: Mapping[str, Callable[[Sequence[Any]], str | None]] = {"words": _words, "tags": _tags}


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise MissingExtra("pyarrow", "data") from error
    return pyarrow
