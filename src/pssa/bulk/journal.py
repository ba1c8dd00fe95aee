"""How far a job came: a small file beside its part, which a job that is resumed goes on from.

It is replaced after each window, once that window's bytes are on the disk. What was written after it is cut off again.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from pssa.bulk.advice import AGAIN
from pssa.bulk.window import START, Position
from pssa.bulk.work import Result, Tally
from pssa.data.files import read_bounded, write_atomically
from pssa.data.validation import Parser, format_error, integer, list_of, object_of, shorten, text
from pssa.data.validation import parse_fields as checked
from pssa.errors import InputError

__all__ = ["Journal", "difference"]

_SCHEMA = 2
_MOST = 1 << 24  # bytes


@dataclass(frozen=True)
class Journal:
    """The state of a job between two windows."""

    position: Position = START
    read: int = 0  # bytes of the source at `position`
    written: int = 0  # bytes of the output
    written_rejected: int = 0  # bytes of the side file
    columns: tuple[str, ...] = ()
    schema: str = ""  # of Parquet, in hexadecimal
    tally: Tally = field(default_factory=Tally)
    complete: bool = False  # whether every row is written

    def after(self, result: Result, schema: str, n_bytes: int) -> Journal:
        """The state once a window is written, in `n_bytes`."""
        return replace(
            self,
            position=result.end,
            read=result.read,
            written=self.written + n_bytes,
            written_rejected=self.written_rejected + len(result.rejected),
            columns=result.columns,
            schema=schema,
            tally=self.tally + result.tally,
        )

    def save(self, path: Path) -> None:
        """Replace the file, or leave it as it is."""
        write_atomically(path, json.dumps({"version": _SCHEMA, **asdict(self)}).encode() + b"\n")

    @classmethod
    def load(cls, path: Path) -> Journal:
        """Read what `save` wrote.

        :raises InputError: if it is damaged, or of another version.
        """
        try:
            record = json.loads(read_bounded(path, _MOST))
            if record.pop("version") == _SCHEMA:
                return cls._of(record)
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise InputError.at(path, None, f"is damaged ({format_error(error)}); {AGAIN}") from error
        raise InputError.at(path, None, f"another version of pssa began this job; {AGAIN}")

    @classmethod
    def _of(cls, record: dict[str, Any]) -> Journal:
        values = checked(record, "journal", _FIELDS)
        bytes.fromhex(values["schema"])
        tally = Tally(**values["tally"])
        if sum(tally.labels.values()) != tally.rows:
            raise ValueError(f"{tally.rows} rows have {sum(tally.labels.values())} labels")
        return cls(**values | {"position": Position(**values["position"]), "tally": tally})


def _count(value: Any, name: str) -> int:
    if not 0 <= integer(value, name) <= sys.maxsize:
        raise InputError(f"`{name}` is {shorten(value)}; expected a count")
    return int(value)


def _counts(value: Any, name: str) -> dict[str, int]:
    if not isinstance(value, dict):
        raise InputError(f"`{name}` is {shorten(value)}; expected an object")
    return {key: _count(number, f"{name}.{key}") for key, number in value.items()}


def _name(value: Any, name: str) -> str:
    if not isinstance(value, str):  # any text: an input may call a column what is no character
        raise InputError(f"`{name}` is {shorten(value)}; expected text")
    return value


def _yes_or_no(value: Any, name: str) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"`{name}` is {shorten(value)}; expected true or false")
    return value


_FIELDS: dict[str, Parser] = {
    "position": object_of({"source": _count, "events": _count}),
    "read": _count,
    "written": _count,
    "written_rejected": _count,
    "columns": list_of(_name),
    "schema": text,
    "tally": object_of({"rows": _count, "labels": _counts, "ambiguous": _count, "rejected": _count}),
    "complete": _yes_or_no,
}


def difference(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """What a job has to say about what was asked before and is asked now; empty where it is the same."""
    for name in dict.fromkeys((*now, *before)):
        old, new = before.get(name), now.get(name)
        if isinstance(old, dict) and isinstance(new, dict) and (inner := difference(old, new)):
            return inner
        if old != new:
            return f"{name} is not what it was when the job was begun ({shorten(new)}, then {shorten(old)}); {AGAIN}"
    return ""
