"""Output formats: JSON Lines, CSV and Parquet, plain or compressed.

The rows of a window become bytes that are appended to those of earlier windows: whole lines, whole gzip members or zstd frames.
A Parquet file has its index at the end, so its windows are kept as Arrow streams that are joined when all are there.
"""

from __future__ import annotations

import gzip
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pssa.data.fields import spans_as_text, tags_as_text
from pssa.data.validation import shorten
from pssa.errors import InputError, import_extra
from pssa.predict import parquet_schema
from pssa.predict.rows import PROBABILITIES
from pssa.predict.source import STANDARD, CsvStyle

_BY_SUFFIX = {
    ".csv": "csv",
    ".tsv": "csv",
    ".json": "json_lines",
    ".jsonl": "json_lines",
    ".ndjson": "json_lines",
    ".parquet": "parquet",
}
_ALIASES = {"jsonl": "json_lines"}
_COMPRESSIONS = (".gz", ".zst")
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class OutputFormat:
    """What the bytes of an output look like."""

    name: str  # json_lines, csv or parquet
    compression: str = ""  # .gz, .zst or none
    labels: tuple[str, ...] = ()  # whose probabilities have a column each in CSV
    style: CsvStyle = field(default_factory=CsvStyle)
    escape_formulas: bool = False  # whether cells of CSV that a spreadsheet would compute get an apostrophe in front

    def find_misfit(self, row: Mapping[str, Any], columns: Sequence[str]) -> str:
        """Return why the output cannot hold the row; empty if it can."""
        if self.name != "csv":
            return ""
        new = sorted(name for name in set(row).difference(columns) if name.lower() not in self._replaced)
        advice = "write JSON Lines instead of CSV"
        return f"a row has the field {shorten(new[0])}, which the first does not have; {advice}" if new else ""

    def encode(self, rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> bytes:
        """Return the rows as they are appended.

        :raises InputError: if Parquet cannot hold them.
        """
        if not rows:
            return b""
        if self.name == "parquet":
            return parquet_schema.encode(rows)
        if self.name == "json_lines":
            try:
                lines = ("\n".join(map(_ENCODER.encode, rows)) + "\n").encode()
            except ValueError:  # some row is odd
                lines = b"".join(map(_json_line, rows))
            return self._compress(lines)
        names, labels = self._spread(columns), self._labels
        records = (
            [
                _cell((row[PROBABILITIES] or {}).get(labels[name], "") if name in labels else row.get(name, ""), name)
                for name in names
            ]
            for row in rows
        )
        return self._csv(records, replace(self.style, has_bom=False))

    def header(self, columns: Sequence[str]) -> bytes:
        """Return what stands before the first row."""
        return self._csv([self._spread(columns)], self.style) if self.name == "csv" else b""

    def empty(self, columns: Sequence[str]) -> bytes:
        """Return an output without rows: the header if columns are known, and whatever the compression needs."""
        if self.name == "parquet":
            return b""
        return self.header(columns) if columns and self.name == "csv" else self._compress(b"")

    @cached_property
    def _labels(self) -> dict[str, str]:
        """Each label by the name of the column with its probabilities."""
        return {f"probability_{label}": label for label in self.labels}

    @cached_property
    def _replaced(self) -> frozenset[str]:
        """The columns of an earlier job that new probabilities replace, in lower case."""
        return frozenset(map(str.lower, self._labels))

    def _spread(self, columns: Sequence[str]) -> list[str]:
        """Return the columns of CSV; a table that was scored before gets new probabilities in place of the old."""
        kept = [name for name in columns if name.lower() not in self._replaced]
        return [each for name in kept for each in (self._labels or [name] if name == PROBABILITIES else [name])]

    def styled(self, style: CsvStyle) -> OutputFormat:
        """Return the same format in this style of CSV; a file called .tsv keeps its tabs."""
        return replace(self, style=replace(style, delimiter="\t") if self.style.delimiter == "\t" else style)

    def _csv(self, records: Iterable[Sequence[Any]], style: CsvStyle) -> bytes:
        if self.escape_formulas:
            # A cell that a spreadsheet would take for a formula gets an apostrophe; numbers stay as they are.
            records = ([f"'{cell}" if _looks_computed(cell) else cell for cell in record] for record in records)
        return self._compress(style.encode(records))

    def _compress(self, content: bytes) -> bytes:
        if self.compression == ".gz":
            return gzip.compress(content, compresslevel=6, mtime=0)
        if self.compression == ".zst":
            return bytes(import_extra("pyarrow", "data").compress(content, codec="zstd", asbytes=True))
        return content


def choose_output_format(output: str, name: str | None, labels: tuple[str, ...] = ()) -> OutputFormat:
    """Return the format that is named, else that of the output's suffix; JSON Lines for standard output.

    :raises InputError: if there is no such format, or it cannot be written there.
    """
    path = Path(output)
    compression = path.suffix.lower() if path.suffix.lower() in _COMPRESSIONS and output != STANDARD else ""
    suffix = Path(path.stem).suffix if compression else path.suffix
    found = "json_lines" if output == STANDARD else _BY_SUFFIX.get(suffix.lower())
    if name:
        key = name.lower().replace("-", "_")
        found = _ALIASES.get(key, key)
        if found not in _BY_SUFFIX.values():
            raise InputError(f"unknown output format {shorten(name)}; it can be json_lines, csv or parquet")
    if found is None:
        suffixes = ".jsonl, .csv or .parquet, with .gz or .zst after the first two to compress it"
        raise InputError(f"output {output} is neither JSON Lines, CSV nor Parquet; use a name ending in {suffixes}")
    if found == "parquet" and (compression or output == STANDARD):
        raise InputError(f"Parquet cannot be written to {output}; name a file that ends in .parquet")
    if found == "parquet" or compression == ".zst":
        import_extra("pyarrow", "data")
    return OutputFormat(found, compression, labels, CsvStyle("\t" if suffix.lower() == ".tsv" else ","))


def _json_line(row: Any) -> bytes:
    try:
        return (_ENCODER.encode(row) + "\n").encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which only an escape can write
        return (json.dumps(row, allow_nan=False, default=_as_text) + "\n").encode()
    except ValueError:
        return _json_line(_finite(row))


def _as_text(value: Any) -> str:
    """Return values of tables that JSON does not have as text: dates, decimals, bytes."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    iso: Callable[[], str] | None = getattr(value, "isoformat", None)
    return iso() if iso else str(value)


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=_as_text)


def _finite(value: Any) -> Any:
    """Return the value with null in place of NaN and infinity, which JSON does not have."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value


def _cell(value: Any, name: str) -> Any:
    """Return a value as a cell of CSV; words and tags as its reader parses them, other lists as JSON."""
    text = None
    if isinstance(value, list):
        if name == "words" and all(
            isinstance(each, list | tuple) and [*map(type, each)] == [int, int] for each in value
        ):
            text = spans_as_text(value)
        if name == "tags" and all(isinstance(tag, str) for tag in value):
            text = tags_as_text(value)
    if text is not None:
        return text
    if isinstance(value, dict | list):
        return _json_line(value).decode().rstrip("\n")
    return _as_text(value) if isinstance(value, bytes) else value


def _looks_computed(cell: Any) -> bool:
    return isinstance(cell, str) and cell.startswith(_FORMULA_STARTS) and not _NUMBER.fullmatch(cell)
