"""Outputs of a job: a file, which appears under its name when it is complete, and standard output.

The folder `<output>.part` has everything that a job needs to continue after it was killed:

    job.json        the job's fingerprint, and whether it may replace files
    progress.json   after each window: how many bytes of the next two count, where in the inputs they end, and counts
    rows            the output so far; of Parquet, Arrow streams that are joined at the end
    rejected        the rejected rows so far

Rows are appended and synced before progress.json is replaced, and what a killed process wrote after that is cut off. The process
that writes locks the folder.
"""

from __future__ import annotations

import filecmp
import glob
import gzip
import hashlib
import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from pssa.data.files import (
    acquire_lock,
    atomic_path,
    make_folder,
    open_regular,
    read_bounded,
    require_contained,
    require_writable,
    sync_folder,
    write_atomically,
)
from pssa.data.validation import format_error
from pssa.errors import InputError, RunError, setting
from pssa.predict import parquet_schema
from pssa.predict.fingerprint import BEGIN_AGAIN, REPLACE, RESUME, find_difference
from pssa.predict.output_format import OutputFormat
from pssa.predict.rows import Summary
from pssa.predict.window import START, Position, Window

_LAYOUT = 4
_JOB, _PROGRESS, _ROWS, _REJECTED, _JOINED = "job.json", "progress.json", "rows", "rejected", "joined"
_MAX_BYTES = 1 << 28  # of a record: job.json names every input
_FIRST_LAYOUT = "journal.json"  # which only folders of the first version have
_OUR_FILES = re.compile(
    r"\.?(job\.json|progress\.json|rows|rejected|joined|journal\.json|data|(window|output)-[0-9a-f]{8}(-\d+)?)(\.\d+\.part)?"
)


@dataclass(kw_only=True)
class Output:
    """The rows of a job as they are written, and how far they are."""

    format: OutputFormat
    rows_file: IO[bytes] = field(default_factory=lambda: sys.stdout.buffer)
    rejected_file: IO[bytes] | None = None
    position: Position = START
    read: int = 0  # bytes of the source at `position`
    columns: tuple[str, ...] = ()
    schema: bytes = b""  # of Parquet
    summary: Summary = field(default_factory=Summary)
    n_bytes: int = 0  # of the rows
    n_rejected_bytes: int = 0
    is_complete: bool = False  # whether every row is written

    @property
    def n_kept(self) -> int:
        """Rows after which the job can be resumed."""
        return 0

    @property
    def is_removed(self) -> bool:
        """Whether somebody has removed the folder of an unfinished job."""
        return False

    def fit(self, window: Window) -> Window:
        """Return the window without rows that cannot stand beside earlier ones."""
        return window

    def append(self, window: Window) -> None:
        """Write a window, which must fit."""
        if window.content:
            begin = b"" if self.n_bytes else self.format.header(window.columns)
            self.n_bytes += self.rows_file.write(begin + window.content)
            self.rows_file.flush()
        if window.rejected and self.rejected_file is not None:
            self.n_rejected_bytes += self.rejected_file.write(window.rejected)
            self.rejected_file.flush()
        self.position, self.read, self.columns = window.end, window.read, window.columns
        self.schema = self.schema if window.schema is None else window.schema
        self.summary += window.summary

    def publish(self) -> None:
        """End the output: one without rows has a header, or what its compression needs."""
        if not self.n_bytes:
            self.rows_file.write(self.format.empty(self.columns))
            self.rows_file.flush()


@dataclass(kw_only=True)
class PartialOutput(Output):
    """An output that grows in a folder and appears under its name when it is complete."""

    output: Path
    rejected: Path  # the file of rejected rows
    begin: str = "new"  # or "resume", or "replace" what exists
    replaces: bool = False  # whether existing files may be replaced, now or when the job began
    is_settled: bool = False  # whether a job to be resumed has its output and nothing left to do

    @property
    def folder(self) -> Path:
        """The folder of an unfinished job."""
        return self.output.with_name(f"{self.output.name}.part")

    @property
    def n_kept(self) -> int:
        """Rows after which the job can be resumed; 0 if somebody has removed the folder."""
        return int(self._load(_PROGRESS).get("summary", {"rows": 0})["rows"])

    @property
    def is_removed(self) -> bool:
        """Whether somebody has removed the folder of an unfinished job."""
        return not (self.folder / _JOB).exists()

    @contextmanager
    def opened(self, fingerprint: Mapping[str, Any]) -> Iterator[PartialOutput]:
        """Begin or resume the job, unless it is to be resumed and is settled. Its windows are kept whatever happens.

        :raises InputError: if a file exists that must not be replaced, or the folder holds another job.
        :raises RunError: if another process is writing it.
        """
        with self._locked():
            # Whoever replaces an unfinished job need not be able to read it.
            job, progress = ({}, {}) if self.begin == "replace" else self._load_job()
            if progress and self.begin == "new":
                n_rows, advice = progress["summary"]["rows"], f"resume it with {RESUME}, or {BEGIN_AGAIN}"
                raise InputError(f"{self.folder} holds an unfinished job with {n_rows} rows; {advice}")
            # Whoever resumes a job may replace what it was allowed to replace when it began.
            self.replaces = self.begin == "replace" or (self.begin == "resume" and job.get("replaces", False))
            if self.begin == "resume" and self.output.is_file():
                # Its rows have got their own name, or somebody else has written the output.
                is_published = progress and progress["is_complete"] and not (self.folder / _ROWS).exists()
                self.is_settled = bool(is_published or not (progress or self.replaces))
            if self.is_settled:
                self.clear()  # what a kill at its very end left
                yield self
                return
            try:
                if progress:
                    self._resume(job, progress, fingerprint)
                else:
                    self._begin(fingerprint)
                with self._open(_ROWS, self.n_bytes) as rows, self._open(_REJECTED, self.n_rejected_bytes) as rejected:
                    self.rows_file, self.rejected_file = rows, rejected
                    yield self
            except BaseException:
                if not (self.folder / _PROGRESS).exists():
                    self.clear()
                raise

    def fit(self, window: Window) -> Window:
        """Return the window without rows that cannot stand beside earlier ones: a column of Parquet has one type."""
        if not window.content or self.format.name != "parquet" or window.schema is not None:
            return window
        return parquet_schema.fit(window, self.schema, self.tables)

    def append(self, window: Window) -> None:
        """Write a window, which must fit, to disk."""
        try:
            super().append(window)
            for file in (self.rows_file, self.rejected_file):
                if file is not None:
                    os.fsync(file.fileno())
        except OSError as error:  # which does not say what could not be written
            for file in filter(None, (self.rows_file, self.rejected_file)):
                with suppress(OSError):  # about what is left of the window, in place of this one when the job ends
                    file.close()
            raise OSError(error.errno, error.strerror, str(self.folder / _ROWS)) from error
        self._save_progress()

    def tables(self) -> Iterator[Any]:
        """Yield the tables of Parquet that were written."""
        with (self.folder / _ROWS).open("rb") as file:
            yield from parquet_schema.read_tables(file)

    def json_lines(self) -> Iterator[bytes]:
        """Yield the rows of JSON Lines with gzip that were written."""
        with gzip.open(self.folder / _ROWS) as file:
            yield from file

    @property
    def first_rejected(self) -> bytes:
        """The first rejected row; empty if there is none."""
        with (self.folder / _REJECTED).open("rb") as file:
            return file.readline()

    def publish(self, write: Callable[[Path], None] | None = None) -> None:
        """Give everything its own name; a job that is killed while it does so can be resumed.

        :param write: writes a file of its own from the rows, which takes their place.
        """
        if not self.is_complete:
            self.is_complete = True
            self._save_progress()
        ready = self.folder / _JOINED
        if write is None and self.format.name == "parquet":
            write = self._join
        if write is not None:
            with atomic_path(ready) as part:
                write(part)
        else:
            super().publish()
            os.fsync(self.rows_file.fileno())
            ready = self.folder / _ROWS
        self._publish_rejected()
        # Last: whoever sees the output sees a complete job.
        _require_own(self.output, ready, self.replaces)
        ready.replace(self.output)
        sync_folder(self.output.parent)
        self.clear()

    def clear(self) -> None:
        """Remove the job, and the folder if nobody else has put files there."""
        for part in self.rejected.parent.glob(f".{glob.escape(self.rejected.name)}.*.part"):
            part.unlink(missing_ok=True)  # which a killed process did not rename
        self._remove()
        if self.folder.is_dir() and not any(self.folder.iterdir()):
            self.folder.rmdir()

    def _remove(self, keep: str = "") -> None:
        """Remove our files: first the rows, by which a published job is known, and last those that tell how far it is."""
        found = self.folder.iterdir() if self.folder.is_dir() else ()
        for path in sorted(found, key=lambda path: (path.name == _PROGRESS, path.name == _JOB, path.name != _ROWS)):
            if path.name != keep and _OUR_FILES.fullmatch(path.name):
                path.unlink(missing_ok=True)

    def _begin(self, fingerprint: Mapping[str, Any]) -> None:
        for name, path in (("output", self.output), ("rejected", self.rejected)):
            if path.exists() and not self.replaces:
                raise InputError(f"{path} already exists; choose another {setting(name)}, or replace it with {REPLACE}")
        (self.folder / _PROGRESS).unlink(missing_ok=True)  # without it, nothing else of an earlier job counts
        job = {"layout": _LAYOUT, "replaces": self.replaces, "fingerprint": dict(fingerprint)}
        write_atomically(self.folder / _JOB, _seal(job))
        self._remove(keep=_JOB)

    def _resume(self, job: Mapping[str, Any], progress: Mapping[str, Any], fingerprint: Mapping[str, Any]) -> None:
        if changed := find_difference(job["fingerprint"], json.loads(json.dumps(fingerprint))):
            raise InputError(changed)
        source, n_events = progress["position"]
        self.position, self.read = (source, n_events), progress["read"]
        self.columns, self.schema = tuple(progress["columns"]), bytes.fromhex(progress["schema"])
        self.summary = Summary(**progress["summary"])
        self.n_bytes, self.n_rejected_bytes = progress["n_bytes"], progress["n_rejected_bytes"]
        self.is_complete = progress["is_complete"]
        for path in (self.output, self.rejected):
            if path.exists() and not (self.replaces or self.is_complete):
                raise _appeared(path)

    def _open(self, name: str, n_bytes: int) -> IO[bytes]:
        """Open a file to append to its first bytes; later ones are of a window that was not finished."""
        path = self.folder / name
        file = os.fdopen(open_regular(path, os.O_RDWR | os.O_CREAT), "r+b")
        if file.seek(0, os.SEEK_END) < n_bytes:
            file.close()
            raise InputError.at(path, None, f"is damaged (its end is missing); {BEGIN_AGAIN}")
        file.truncate(n_bytes)
        file.seek(n_bytes)
        return file

    def _join(self, target: Path) -> None:
        try:
            parquet_schema.join(self.tables(), target, self.schema)
        except InputError as error:
            kept = f"the scored rows are kept in {self.folder}"
            raise InputError(f"{self.output} {error.message}; {kept}") from error

    def _publish_rejected(self) -> None:
        if self.summary.rejected:  # the file may lie on another disk
            _require_own(self.rejected, self.folder / _REJECTED, self.replaces)
            with atomic_path(self.rejected) as part:
                shutil.copyfile(self.folder / _REJECTED, part)
        elif self.replaces:
            self.rejected.unlink(missing_ok=True)

    def _save_progress(self) -> None:
        progress = {
            "position": self.position,
            "read": self.read,
            "columns": self.columns,
            "schema": self.schema.hex(),
            "summary": asdict(self.summary),
            "n_bytes": self.n_bytes,
            "n_rejected_bytes": self.n_rejected_bytes,
            "is_complete": self.is_complete,
        }
        write_atomically(self.folder / _PROGRESS, _seal(progress))

    def _load_job(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the content of job.json and of progress.json; empty if there is no job, or no window of it.

        :raises InputError: if it is damaged, or another version of pssa began the job.
        """
        job = self._load(_JOB)
        if job.get("layout", _LAYOUT) != _LAYOUT or (self.folder / _FIRST_LAYOUT).exists():
            raise InputError(f"{self.folder} holds an unfinished job of another version of pssa; {BEGIN_AGAIN}")
        return job, self._load(_PROGRESS) if job else {}

    def _load(self, name: str) -> dict[str, Any]:
        path = self.folder / name
        if not path.exists():
            return {}
        try:
            return _unseal(read_bounded(path, _MAX_BYTES))
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise InputError.at(path, None, f"is damaged ({format_error(error)}); {BEGIN_AGAIN}") from error

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Make the folder, and be the one who writes there."""
        for name, path in (("output", self.output), ("rejected", self.rejected)):
            if not path.parent.is_dir():
                advice = f"make the folder, or choose another {setting(name)}"
                raise InputError(f"{path} cannot be written: {path.parent} does not exist; {advice}")
            if path.exists() and not path.is_file():
                reason = "it is a directory or a device"
                raise InputError(f"{path} cannot be written: {reason}; name a file with {setting(name)}")
        try:
            make_folder(self.folder)
            handle = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError as error:
            reason = f"{self.output} cannot be written: {self.folder}: {error.strerror}"
            raise InputError(f"{reason}; name a file elsewhere with {setting('output')}") from error
        try:
            require_contained(self.folder)
            acquire_lock(handle, self.output)
            is_held = False
            with suppress(FileNotFoundError):  # its last holder may have finished the job and removed the folder
                is_held = os.path.samestat(os.fstat(handle), self.folder.stat())
            if not is_held:
                raise RunError(f"{self.output} is in use by another process; wait for it, or stop it first")
            yield
        finally:
            os.close(handle)


@contextmanager
def open_standard_output(output_format: OutputFormat, rejected: Path | None, begin: str) -> Iterator[Output]:
    """Open standard output and, if there is one, the file of rejected rows, which is left only if it has a row.

    :raises InputError: if that file exists and must not be replaced.
    """
    output = Output(format=output_format)
    if rejected is None:
        yield output
        return
    if rejected.exists() and begin != "replace":
        advice = f"choose another {setting('rejected')}, or replace it with {REPLACE}"
        raise InputError(f"{rejected} already exists; {advice}")
    require_writable(rejected)
    part = rejected.with_name(f".{rejected.name}.{os.getpid()}.part")  # what exists stays until the job is done
    try:
        with part.open("wb") as output.rejected_file:
            yield output
            os.fsync(output.rejected_file.fileno())
        if not output.summary.rejected:
            if begin == "replace":
                rejected.unlink(missing_ok=True)
        elif rejected.exists() and begin != "replace":  # the other rows have gone to standard output
            kept = rejected.with_name(f"{rejected.name}.{os.getpid()}")
            part.replace(kept)
            raise InputError(f"{rejected} has appeared since the job began; the rejected rows are in {kept}")
        else:
            part.replace(rejected)
    finally:
        part.unlink(missing_ok=True)


def _require_own(target: Path, ready: Path, replaces: bool) -> None:
    """Refuse to replace a file without permission; the same one was published before a kill.

    :raises InputError: if another file has the name.
    """
    is_own = replaces or not target.exists() or (target.is_file() and filecmp.cmp(ready, target, shallow=False))
    if not is_own:
        raise _appeared(target)


def _appeared(target: Path) -> InputError:
    """Return the error about a file that the job would have to replace without permission."""
    return InputError(f"{target} has appeared since the job began; move it away, then resume with {RESUME}")


def _seal(record: Mapping[str, Any]) -> bytes:
    """Return a record as JSON with a digest, by which damage is noticed."""
    return json.dumps({**record, "digest": _digest(record)}).encode()


def _unseal(content: bytes) -> dict[str, Any]:
    """Return the record that `_seal` made into this.

    :raises ValueError: if it is damaged.
    """
    record: dict[str, Any] = json.loads(content)
    if record.pop("digest") != _digest(record):
        raise ValueError("its digest is wrong")
    return record


def _digest(record: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(record).encode()).hexdigest()
