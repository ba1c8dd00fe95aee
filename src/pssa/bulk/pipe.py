"""Standard output as the place where rows go: they are gone as soon as they are written, so there is no part to go on with."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from pssa.bulk.advice import REJECTED, REPLACE
from pssa.bulk.journal import Journal
from pssa.bulk.naming import give_name
from pssa.bulk.output_format import OutputFormat
from pssa.bulk.work import Result
from pssa.errors import InputError

__all__ = ["Pipe", "opened_pipe"]


@dataclass
class Pipe:
    """Rows to standard output; rejected ones to a file."""

    form: OutputFormat
    out: IO[bytes]
    side: IO[bytes] | None
    journal: Journal = field(default_factory=Journal)

    @property
    def kept(self) -> int:
        """None: what was written cannot be gone on with."""
        return 0

    def fitted(self, result: Result) -> Result:
        """All of it: lines of text stand beside any others."""
        return result

    def append(self, result: Result) -> None:
        """Write a window, and let it be seen."""
        header = self.form.header(result.columns) if result.content and not self.journal.written else b""
        self.out.write(header + result.content)
        self.out.flush()
        if self.side is not None:
            self.side.write(result.rejected)
        self.journal = self.journal.after(result, "", len(header) + len(result.content))

    def finish(self) -> None:
        """Where there was no row, write what an output has without any."""
        if not self.journal.written:
            self.out.write(self.form.empty(self.journal.columns))
            self.out.flush()


@contextmanager
def opened_pipe(form: OutputFormat, side: Path | None, begin: str) -> Iterator[Pipe]:
    """Standard output, and the file of rejected rows where there is one; it is left only where it has a row.

    :raises InputError: if that file is there, or appears meanwhile, and must not be replaced.
    """
    if side is None:
        yield Pipe(form, sys.stdout.buffer, None)
        return
    if side.exists() and begin != "replace":
        raise InputError(f"{side} exists already; choose another {REJECTED}, or replace it with {REPLACE}")
    copy = side.with_name(f".{side.name}.{os.getpid()}.part")
    try:
        with _created(copy, side) as file:
            pipe = Pipe(form, sys.stdout.buffer, file)
            yield pipe
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        copy.unlink(missing_ok=True)
        raise
    if pipe.journal.tally.rejected:
        _name(copy, side, begin == "replace")
    elif begin == "replace":
        side.unlink(missing_ok=True)
    copy.unlink(missing_ok=True)


def _created(copy: Path, side: Path) -> IO[bytes]:
    try:
        return copy.open("wb")
    except OSError as error:
        raise InputError(f"{side} cannot be written: {error.strerror}") from error


def _name(copy: Path, side: Path, replaces: bool) -> None:
    try:
        give_name(copy, side, replaces)
    except InputError as error:  # the other rows have gone to standard output, so nobody can do this again
        raise InputError(f"{side} has appeared since the job was begun; the rejected rows are in {copy}") from error
