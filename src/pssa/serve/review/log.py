"""Log of a review: JSON Lines beside the evidence file, one line per change, on disk before the change counts.

    {"review":1,"evidence":"<sha256 of the evidence file>"}
    {"number":1,"time":"2026-01-31T09:30:00+00:00","index":0,"example":"1","action":"flip","word":3,"text":"slow",
     "before":{...},"after":{...},"undoes":null}

Lines are only ever appended. A kill during a write leaves a line without its end: that change was never confirmed, so reading
skips the line and the next write cuts it off.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pssa.data.evidence import Finding
from pssa.data.files import acquire_lock, open_regular, sync_folder
from pssa.data.validation import Parser, integer, parse_fields, parse_object, parsers_of, text
from pssa.errors import InputError, RunError

_VERSION = 1
_MAX_BYTES = 1 << 28  # about half a million changes
_HEADER: dict[str, Parser] = {"review": integer, "evidence": text}


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One change of one word."""

    number: int  # counted from 1, without gaps
    time: str  # UTC
    index: int  # position of the example in the evidence, from 0
    example: str  # its id
    action: str
    word: int
    text: str  # of the word, for the person who reads the log
    before: Finding | None
    after: Finding | None
    undoes: int | None = None  # number of the change that this one takes back


def _finding(value: Any, name: str) -> Finding | None:
    return None if value is None else Finding(**parse_fields(value, name, parsers_of(Finding)))


_ENTRY = parsers_of(LogEntry, before=_finding, after=_finding)


class ReviewLog:
    """An open log, locked against other processes."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self.entries: list[LogEntry] = []
        self.note = ""  # about a torn last line
        self._descriptor = descriptor
        self._end = 0  # where the next line belongs

    @classmethod
    def open(cls, path: Path, digest: str) -> ReviewLog:
        """Read the log of the evidence file with this digest, or start one.

        :raises RunError: if another process has it open.
        :raises InputError: if it belongs to another file, or a line before the last is damaged.
        """
        try:
            descriptor = open_regular(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        except OSError as error:
            message = f"cannot be opened ({error.strerror}), but a review needs its log; make the folder writable"
            raise InputError.at(path, None, message) from error
        log = cls(path, descriptor)
        try:
            acquire_lock(descriptor, path)
            log._read(digest)
        except BaseException:
            log.close()
            raise
        return log

    def append(self, entry: LogEntry) -> None:
        """Write a line; it is safely on disk when this returns.

        :raises RunError: if it cannot be written; the log is then as before.
        """
        self._write(asdict(entry))
        self.entries.append(entry)

    def close(self) -> None:
        """Release the log for other processes."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _read(self, digest: str) -> None:
        size = os.fstat(self._descriptor).st_size
        if size > _MAX_BYTES:
            raise InputError.at(self.path, None, f"has more than {_MAX_BYTES} bytes; move it away, after an export")
        content = os.pread(self._descriptor, size, 0)
        self._end = content.rfind(b"\n") + 1
        if self._end < len(content):
            self.note = f"the last line of {self.path.name} was cut short by a crash and is left out"
        if not self._end:
            header = {"review": _VERSION, "evidence": digest}
            if not _to_line(header).startswith(content):
                raise InputError.at(self.path, 1, "is not a line of a review log; move that file away")
            self._write(header)
            sync_folder(self.path.parent)
            return
        for line, raw in enumerate(content[: self._end].split(b"\n")[:-1], 1):
            try:
                record = parse_object(raw.decode())
                if line == 1:
                    _check_header(record, digest)
                else:
                    self.entries.append(_entry(record, line - 1))
            except (UnicodeDecodeError, InputError) as error:
                fault = error.message if isinstance(error, InputError) else "is not UTF-8"
                raise InputError.at(self.path, line, f"{fault}; restore the file, or move the log away") from None

    def _write(self, record: dict[str, Any]) -> None:
        line = _to_line(record)
        try:  # nobody would find a file again that was moved or replaced
            there, ours = os.stat(self.path), os.fstat(self._descriptor)
        except OSError as error:
            raise RunError(f"{self.path} is gone, so nothing was changed: {error.strerror}") from error
        if not os.path.samestat(there, ours):
            raise RunError(f"{self.path} was replaced by another file, so nothing was changed; restart the service")
        try:
            os.ftruncate(self._descriptor, self._end)  # drops a line that a kill has torn
            written = 0
            while written < len(line):
                written += os.write(self._descriptor, line[written:])
            os.fsync(self._descriptor)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, self._end)
            raise RunError(f"{self.path} cannot be written, so nothing was changed: {error.strerror}") from error
        self._end += len(line)


def _check_header(record: dict[str, Any], digest: str) -> None:
    begun = parse_fields(record, "", _HEADER)
    if begun["review"] != _VERSION:
        raise InputError(f"has version {begun['review']}; this program reads version {_VERSION} only")
    if begun["evidence"] != digest:
        raise InputError(f"is the log of another evidence file (sha256 {begun['evidence'][:12]}, given {digest[:12]})")


def _entry(record: dict[str, Any], number: int) -> LogEntry:
    values = parse_fields(record, "", _ENTRY)
    if values["number"] != number:
        raise InputError(f"has the number {values['number']}; expected {number}, since no line may be missing")
    return LogEntry(**values)


def _to_line(record: dict[str, Any]) -> bytes:
    return (json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n").encode()
