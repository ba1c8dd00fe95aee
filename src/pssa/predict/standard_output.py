"""Results to standard output, and rejected rows to a file; such a job cannot be resumed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from pssa.data.files import require_writable
from pssa.errors import InputError, setting
from pssa.predict.fingerprint import REPLACE
from pssa.predict.output_format import OutputFormat
from pssa.predict.partial_output import publish_file
from pssa.predict.rows import Summary
from pssa.predict.window import START, Position, Window


@dataclass
class StandardOutput:
    """Rows to standard output, rejected ones to a file; nothing can be resumed."""

    format: OutputFormat
    stream: IO[bytes]
    rejected: IO[bytes] | None
    position: Position = START
    read: int = 0
    columns: tuple[str, ...] = ()
    summary: Summary = field(default_factory=Summary)
    n_kept: int = 0
    is_removed: bool = False
    is_complete: bool = False
    _is_empty: bool = True

    def fit(self, result: Window) -> Window:
        """Return the result: lines of text can stand beside any others."""
        return result

    def append(self, result: Window) -> None:
        """Write a window, and flush it."""
        if result.content and self._is_empty:
            self.stream.write(self.format.header(result.columns))
            self._is_empty = False
        self.stream.write(result.content)
        self.stream.flush()
        if self.rejected is not None:
            self.rejected.write(result.rejected)
        self.position, self.read, self.columns = result.end, result.read, result.columns
        self.summary += result.summary

    def publish(self) -> None:
        """Write what an output without rows has, if there was none."""
        if self._is_empty:
            self.stream.write(self.format.empty(self.columns))
            self.stream.flush()


@contextmanager
def open_standard_output(output_format: OutputFormat, rejected: Path | None, begin: str) -> Iterator[StandardOutput]:
    """Open standard output and, if there is one, the file of rejected rows, which is left only if it has a row.

    :raises InputError: if that file exists, or appears meanwhile, and must not be replaced.
    """
    if rejected is None:
        yield StandardOutput(output_format, sys.stdout.buffer, None)
        return
    if rejected.exists() and begin != "replace":
        advice = f"choose another {setting('rejected')}, or replace it with {REPLACE}"
        raise InputError(f"{rejected} already exists; {advice}")
    require_writable(rejected)
    copy = rejected.with_name(f".{rejected.name}.{os.getpid()}.part")
    copy.unlink(missing_ok=True)
    try:
        with copy.open("xb") as file:
            output = StandardOutput(output_format, sys.stdout.buffer, file)
            yield output
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        copy.unlink(missing_ok=True)
        raise
    if output.summary.rejected:
        try:
            publish_file(copy, rejected, begin == "replace")
        except InputError as error:  # the other rows have gone to standard output, so nobody can resume
            raise InputError(f"{rejected} has appeared since the job began; the rejected rows are in {copy}") from error
    elif begin == "replace":
        rejected.unlink(missing_ok=True)
    copy.unlink(missing_ok=True)
