"""The ledger: records of cells, one JSON line each, appended as soon as a cell is done and never changed.

A process that is killed while it writes leaves an incomplete line, which is cut off when the ledger is next opened. Only one
process at a time can append: a kernel lock keeps others out, also under another name of the same folder.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from paper.experiments.cells import Cell
from pssa.data.files import acquire_lock, make_folders, require_regular, sync_folder
from pssa.errors import InputError

LEDGER = "cells.jsonl"  # the name of the file

Record = dict[str, Any]  # "key", "cell" and the outcome
RecordLookup = Callable[[Cell], Record | None]  # the record of a cell; None: it was not executed, or it failed


class Ledger:
    """Records by key.

    :param accepts: which records are found; None: all. The others stay in the file.
    """

    def __init__(self, path: Path, accepts: Callable[[Record], bool] | None = None) -> None:
        self.path = path
        self._accepts = accepts
        self._records: dict[str, Record] = {}
        self._end = 0  # of the last complete line

    @classmethod
    def read(cls, path: Path, accepts: Callable[[Record], bool] | None = None) -> Ledger:
        """Read the ledger without locking or changing it."""
        ledger = cls(path, accepts)
        if path.is_file():
            ledger._load(path.read_bytes())
        return ledger

    @classmethod
    @contextlib.contextmanager
    def open(cls, path: Path, accepts: Callable[[Record], bool] | None = None) -> Iterator[Ledger]:
        """Open the ledger for this process alone to append to; create it if needed."""
        ledger = cls(path, accepts)
        try:
            make_folders(path.parent)
            if path.exists():
                require_regular(path)
            handle = path.open("a+b")
        except OSError as error:
            raise InputError(f"{path} cannot be written: {error.strerror}; choose another --out") from error
        with handle:
            acquire_lock(handle, path)
            handle.seek(0)
            ledger._end = ledger._load(handle.read())
            handle.truncate(ledger._end)
            sync_folder(path.parent)
            yield ledger

    def _load(self, content: bytes) -> int:
        """Load the complete lines; return their length."""
        length = content.rfind(b"\n") + 1
        for number, line in enumerate(content[:length].splitlines(), start=1):
            try:
                record = json.loads(line)
                self._records[record["key"]] = record
            except (ValueError, KeyError, TypeError) as error:
                raise InputError.at(self.path, number, "is not a record of a cell; remove the line") from error
        return length

    def append(self, record: Record) -> None:
        """Add a record; once this returns it survives a crash. If it cannot be written, the file stays as it was."""
        line = (json.dumps(record, ensure_ascii=False) + "\n").encode()
        with self.path.open("ab", buffering=0) as handle:
            handle.truncate(self._end)  # drops a line that an earlier failure has torn
            try:
                written = 0
                while written < len(line):
                    written += handle.write(line[written:])
                os.fsync(handle.fileno())
            except OSError:
                with contextlib.suppress(OSError):
                    handle.truncate(self._end)
                raise
        self._end += len(line)
        self._records[record["key"]] = record

    def find(self, key: str) -> Record | None:
        """Return the record of a cell, if it was executed."""
        record = self._records.get(key)
        return record if record is None or self._accepts is None or self._accepts(record) else None

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records.values())
