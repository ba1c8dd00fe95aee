"""The ledger: outcomes of cells, one JSON line each, appended as soon as a cell is done and never changed.

A process that is killed while it writes leaves a part of a line; it is cut off when the ledger is next opened. One process at a
time holds a ledger: the kernel's lock keeps others out, even from another folder name of the same place.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pssa.errors import InputError, RunError

__all__ = ["LEDGER", "Ledger", "Record"]

LEDGER = "cells.jsonl"  # the name of the file

Record = dict[str, Any]  # "key", "cell" and what came out


class Ledger:
    """Records by key."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._records: dict[str, Record] = {}

    @classmethod
    def read(cls, path: Path) -> Ledger:
        """What is there, without a lock and without a change."""
        ledger = cls(path)
        if path.is_file():
            ledger._take_in(path.read_bytes())
        return ledger

    @classmethod
    @contextlib.contextmanager
    def open(cls, path: Path) -> Iterator[Ledger]:
        """The ledger, made where there is none, for this process alone to append to."""
        ledger = cls(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle = path.open("a+b")
        except OSError as error:
            raise InputError(f"{path} cannot be written: {error.strerror}; choose another --out") from error
        with handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise RunError(f"{path} is in use by another process; wait for it, or stop it first") from error
            handle.seek(0)
            whole = ledger._take_in(handle.read())
            handle.truncate(whole)
            yield ledger

    def _take_in(self, content: bytes) -> int:
        """Take in the lines; returns the length of those that are complete."""
        whole = content.rfind(b"\n") + 1
        for number, line in enumerate(content[:whole].splitlines(), start=1):
            try:
                record = json.loads(line)
                self._records[record["key"]] = record
            except (ValueError, KeyError, TypeError) as error:
                raise InputError(f"{self.path}, line {number}: is no record of a cell; take the line out") from error
        return whole

    def append(self, record: Record) -> None:
        """Add a record; once this returns it survives a crash."""
        line = json.dumps(record, ensure_ascii=False) + "\n"
        with self.path.open("ab") as handle:
            handle.write(line.encode())
            handle.flush()
            os.fsync(handle.fileno())
        self._records[record["key"]] = record

    def find(self, key: str) -> Record | None:
        """The record of a cell, if it was carried out."""
        return self._records.get(key)

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records.values())
