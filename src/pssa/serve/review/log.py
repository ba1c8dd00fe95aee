"""The log of a review: JSON Lines beside the evidence file, one line a change, on disk before the change counts.

    {"review":1,"evidence":"<sha256 of the evidence file>"}
    {"number":1,"time":"2026-01-31T09:30:00+00:00","index":0,"example":"1","action":"flip","word":3,"text":"slow",
     "before":{...},"after":{...},"undoes":null}

Lines are only ever added. A kill while one is written leaves a line without its end: it never counted, so it is left out on
reading and cut off before the next line is added.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pssa.data.evidence import Finding
from pssa.data.evidence_file import FINDING
from pssa.data.validation import Parser, integer, object_of, optional, parse_fields, parse_object, text
from pssa.errors import InputError, RunError

__all__ = ["LogEntry", "ReviewLog"]

_VERSION = 1
_HEADER: dict[str, Parser] = {"review": integer, "evidence": text}
_ENTRY: dict[str, Parser] = {
    "number": integer,
    "time": text,
    "index": integer,
    "example": text,
    "action": text,
    "word": integer,
    "text": text,
    "before": optional(object_of(FINDING)),
    "after": optional(object_of(FINDING)),
    "undoes": optional(integer),
}


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One change of one word."""

    number: int  # counted from 1, without gaps
    time: str  # UTC
    index: int  # place of the example in the evidence, from 0
    example: str  # its id
    action: str
    word: int
    text: str  # of the word, for the person who reads the log
    before: Finding | None
    after: Finding | None
    undoes: int | None = None  # the number of the change that this one takes back


class ReviewLog:
    """An open log, which no other process can open meanwhile."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self.entries: list[LogEntry] = []
        self.note = ""  # what was found torn on opening
        self._descriptor = descriptor
        self._end = 0  # where the next line belongs

    @classmethod
    def open(cls, path: Path, digest: str) -> ReviewLog:
        """Read the log of the evidence file with this digest, or begin one.

        :raises RunError: if another process has it open.
        :raises InputError: if it is of another file, or a line before the last is damaged.
        """
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise InputError.at(path, None, f"cannot be opened, and a review must be kept: {error.strerror}") from error
        log = cls(path, descriptor)
        try:
            log._lock()
            log._read(digest)
        except BaseException:
            log.close()
            raise
        return log

    def append(self, entry: LogEntry) -> None:
        """Put a line on disk; it is there for good when this returns.

        :raises RunError: if it cannot be written; the log is then as before.
        """
        self._write(asdict(entry))
        self.entries.append(entry)

    def close(self) -> None:
        """Let other processes have it."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _lock(self) -> None:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RunError(f"{self.path} is in use by another process; stop that one first") from error

    def _read(self, digest: str) -> None:
        content = os.pread(self._descriptor, os.fstat(self._descriptor).st_size, 0)
        self._end = content.rfind(b"\n") + 1
        if self._end < len(content):
            self.note = f"the last line of {self.path.name} was cut short by a crash and is left out"
        if not self._end:
            self._begin(content, {"review": _VERSION, "evidence": digest})
            return
        for line, fields in self._lines(content[: self._end]):
            try:
                self._take(line, fields, digest)
            except InputError as error:
                raise InputError.at(self.path, line, str(error)) from None

    def _begin(self, content: bytes, header: dict[str, Any]) -> None:
        if not _line(header).startswith(content):
            raise InputError.at(self.path, 1, "is no line of a review; move that file away")
        self._write(header)
        _sync_folder(self.path.parent)

    def _lines(self, content: bytes) -> Iterator[tuple[int, dict[str, Any]]]:
        for line, raw in enumerate(content.split(b"\n")[:-1], 1):
            try:
                yield line, parse_object(raw.decode())
            except UnicodeDecodeError:
                raise InputError.at(self.path, line, "is not UTF-8; restore it, or move the log away") from None
            except InputError as error:
                raise InputError.at(self.path, line, f"{error}; restore it, or move the log away") from None

    def _take(self, line: int, fields: dict[str, Any], digest: str) -> None:
        if line == 1:
            header = parse_fields(fields, "", _HEADER)
            if header["review"] != _VERSION:
                raise InputError(f"has version {header['review']}; this program reads version {_VERSION} only")
            if header["evidence"] != digest:
                raise InputError(
                    f"is the log of another evidence file (sha256 {header['evidence'][:12]}, given {digest[:12]}); "
                    "restore that file, or move the log away to begin a new review"
                )
            return
        values = parse_fields(fields, "", _ENTRY)
        if values["number"] != line - 1:
            raise InputError(f"has the number {values['number']}; expected {line - 1}, for no line may be missing")
        before, after = (None if found is None else Finding(**found) for found in (values["before"], values["after"]))
        self.entries.append(LogEntry(**values | {"before": before, "after": after}))

    def _write(self, fields: dict[str, Any]) -> None:
        line = _line(fields)
        self._require_place()
        try:
            # What is behind the last whole line was torn by a kill.
            os.ftruncate(self._descriptor, self._end)
            written = 0
            while written < len(line):
                written += os.write(self._descriptor, line[written:])
            os.fsync(self._descriptor)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, self._end)
            raise RunError(f"{self.path} cannot be written, so nothing was changed: {error.strerror}") from error
        self._end += len(line)

    def _require_place(self) -> None:
        """Refuse to write to a file that nobody would find again."""
        try:
            there, ours = os.stat(self.path), os.fstat(self._descriptor)
        except OSError as error:
            raise RunError(f"{self.path} is gone, so nothing was changed: {error.strerror}") from error
        if (there.st_dev, there.st_ino) != (ours.st_dev, ours.st_ino):
            raise RunError(f"{self.path} was replaced by another file, so nothing was changed; start the service again")


def _line(fields: dict[str, Any]) -> bytes:
    return (json.dumps(fields, ensure_ascii=False, separators=(",", ":")) + "\n").encode()


def _sync_folder(folder: Path) -> None:
    """Make a new file's name survive a loss of power."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
