"""Standard output as the place where rows go: they are gone as soon as they are written, so there is no part to go on with."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from pssa.bulk.form import Form
from pssa.bulk.journal import Journal
from pssa.bulk.work import Result
from pssa.data.atomic import replacing
from pssa.errors import InputError

__all__ = ["Pipe", "opened_pipe"]


@dataclass
class Pipe:
    """Rows to standard output; rejected ones to a file."""

    form: Form
    out: IO[bytes]
    side: IO[bytes] | None
    journal: Journal = field(default_factory=Journal)

    @property
    def kept(self) -> int:
        """None: what was written cannot be gone on with."""
        return 0

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
def opened_pipe(form: Form, side: Path | None, begin: str) -> Iterator[Pipe]:
    """Standard output, and the file of rejected rows where there is one; it is left only where it has a row."""
    if side is not None and side.exists() and begin != "replace":
        raise InputError(f"{side} exists already; choose another --rejected, or replace it with --force")
    with ExitStack() as stack:
        file = None
        if side is not None:
            try:
                file = stack.enter_context(stack.enter_context(replacing(side)).open("wb"))
            except OSError as error:
                raise InputError(f"{side} cannot be written: {error.strerror}") from error
        pipe = Pipe(form, sys.stdout.buffer, file)
        yield pipe
    if side is not None and not pipe.journal.tally.rejected:
        side.unlink()
