"""Scored rows: the folder of an unfinished job, in which `pssa.predict` leaves a row for each aspect, and files made of them.

The folder `<page>.part` has everything that a job needs to continue after it was killed:

    job.json              the fingerprint of what decides the rows
    rows.jsonl.gz         all rows, once they are scored, with the shares of words; a review without aspects has a row too
    rows.jsonl.gz.part/   windows of rows while they are scored
    rejected.jsonl        rows that could not be used
"""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from pssa.data.files import hold_lock, make_folder, read_bounded, write_atomically
from pssa.data.rows import Columns
from pssa.data.validation import format_error
from pssa.errors import InputError
from pssa.predict.engines import Engine
from pssa.predict.fingerprint import BEGIN_AGAIN, RESUME, find_difference, job_fingerprint
from pssa.predict.job import Job, Observer, predict
from pssa.predict.output_format import OutputFormat
from pssa.predict.partial_output import PartialOutput
from pssa.predict.rows import Summary, first_rejection
from pssa.predict.source import Source
from pssa.predict.window import Window

_JOB, _LOCK = "job.json", "lock"
_MAX_JOB_BYTES = 1 << 28
_ROWS_AT_ONCE = 2000


@dataclass(frozen=True)
class ScoredRows:
    """The folder of a job."""

    folder: Path

    @property
    def path(self) -> Path:
        """The file of all rows."""
        return self.folder / "rows.jsonl.gz"

    @property
    def rejected(self) -> Path:
        """The file of rows that could not be used; there is none if all could."""
        return self.folder / "rejected.jsonl"

    @contextmanager
    def opened(self, begin: str) -> Iterator[None]:
        """Hold the folder while the job runs. It stays if the job fails after rows were scored, and goes otherwise.

        :param begin: "new", "resume" an unfinished job, or "replace" it.
        :raises InputError: if it holds an unfinished job that is neither resumed nor replaced.
        :raises RunError: if another process works there.
        """
        is_ours = (self.folder / _JOB).is_file()
        if self.folder.exists() and not is_ours and not self._is_empty():
            raise InputError(f"{self.folder} is in the way; move it, or name another page")
        if is_ours and begin == "new":
            raise InputError(f"{self.folder} holds an unfinished job; resume it with {RESUME}, or {BEGIN_AGAIN}")
        make_folder(self.folder)
        with hold_lock(self.folder / _LOCK, self.folder):
            if begin == "replace":
                self._clear()
            try:
                yield
            except BaseException:
                if not self.path.exists() and not self._windows.exists():
                    shutil.rmtree(self.folder, ignore_errors=True)
                raise
            shutil.rmtree(self.folder, ignore_errors=True)

    def score(self, job: Job, sources: tuple[Source, ...], engine: Engine, observer: Observer | None) -> None:
        """Score what is not scored yet.

        :param job: its output and its rejected rows are replaced by those of this folder.
        :raises InputError: if the job that began here was another one.
        """
        begin = "resume" if self._windows.exists() else "new"
        job = replace(job, output=str(self.path), rejected=str(self.rejected), errors="skip", begin=begin)
        finding = job.finding.resolve(job.run, Columns.of(job.columns)) or job.finding
        self._compare(job_fingerprint(replace(job, finding=finding), sources))
        if self.path.exists():
            return
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".* has no rows")  # the page says so
            predict(job, engine, observer)

    def first_rejected(self) -> tuple[int, str]:
        """Return how many rows could not be used, and why the first could not."""
        if not self.rejected.exists():
            return 0, ""
        with self.rejected.open("rb") as file:
            n_rows = sum(1 for _ in file)
        return n_rows, first_rejection(self.rejected)

    @property
    def _windows(self) -> Path:
        return self.path.with_name(f"{self.path.name}.part")

    def _compare(self, fingerprint: Mapping[str, Any]) -> None:
        path = self.folder / _JOB
        plain = json.loads(json.dumps(fingerprint))
        if not path.exists():
            write_atomically(path, json.dumps(plain).encode())
            return
        try:
            before = json.loads(read_bounded(path, _MAX_JOB_BYTES))
            changed = find_difference(before, plain)
        except (ValueError, TypeError, AttributeError) as error:
            raise InputError.at(path, None, f"is damaged ({format_error(error)}); {BEGIN_AGAIN}") from error
        if changed:
            raise InputError(changed)

    def _is_empty(self) -> bool:
        """Return whether the folder has nothing but the lock of a job that was killed as it began."""
        return self.folder.is_dir() and all(path.name == _LOCK for path in self.folder.iterdir())

    def _clear(self) -> None:
        for path in (self.path, self.rejected, self.folder / _JOB):
            path.unlink(missing_ok=True)
        shutil.rmtree(self._windows, ignore_errors=True)


def write_rows(
    rows: Iterable[dict[str, Any]], path: Path, output_format: OutputFormat, on_rows: Callable[[int], None]
) -> None:
    """Write rows as CSV, JSON Lines or Parquet, in bounded memory.

    :param on_rows: is called with the number of rows written so far.
    :raises InputError: for a row that the format cannot hold.
    """
    columns: tuple[str, ...] = ()
    output = PartialOutput(path, path.with_name(f".{path.name}.rejected"), output_format, "replace")
    with output.opened({}):
        n_rows, left = 0, iter(rows)
        while part := list(islice(left, _ROWS_AT_ONCE)):
            columns = columns or tuple(part[0])
            for misfit in filter(None, (output_format.find_misfit(row, columns) for row in part)):
                raise InputError(f"{path}: {misfit}")
            n_rows += len(part)
            lines = tuple(range(n_rows - len(part), n_rows))
            content = output_format.encode(part, columns)
            window = Window(str(path), (0, n_rows), 0, (), columns, content=content, lines=lines)
            fitted = output.fit(replace(window, summary=Summary(len(part))))
            if fitted.first_rejected:
                raise InputError(f"{path}: {fitted.first_rejected}")
            output.append(fitted)
            on_rows(n_rows)
        output.publish()
