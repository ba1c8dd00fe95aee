"""An output in the making: the folder `<output>.part`, which has all that a job needs to go on after it was killed.

    job.json       what was asked; written once
    journal.json   how far it came
    data           the output's bytes so far, and a little more than the journal knows of where the job was killed
    rejected       those of the side file

The process that writes holds a lock on the folder. It is gone when the output is there under its own name. Of the two records
the journal is the first to go where a job begins again and the last where it has ended: a kill leaves no doubt which it was.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from io import FileIO
from pathlib import Path
from typing import Any

from pssa.bulk import table
from pssa.bulk.advice import AGAIN, OUTPUT, REJECTED, REPLACE, RESUME
from pssa.bulk.destination import Destination, locked
from pssa.bulk.fitting import fit
from pssa.bulk.journal import Journal, difference
from pssa.bulk.naming import appeared, give_name, keep_names
from pssa.bulk.work import Result
from pssa.data.files import atomic_path, read_bounded, write_atomically
from pssa.data.validation import format_error
from pssa.errors import InputError

__all__ = ["Part", "is_settled", "opened_part"]

_JOB, _JOURNAL, _DATA, _REJECTED, _JOINED = "job.json", "journal.json", "data", "rejected", "joined"
_MOST = 1 << 28  # bytes of job.json, which names every input


@dataclass
class Part:
    """An output that grows by windows."""

    destination: Destination
    journal: Journal
    files: tuple[FileIO, ...]  # the output's and the side file's bytes
    replaces: bool  # whether files may be replaced that were there before

    @property
    def kept(self) -> int:
        """Rows after which a job can go on; none where somebody has removed the part."""
        return self.journal.tally.rows if (self.destination.folder / _JOURNAL).exists() else 0

    def fitted(self, result: Result) -> Result:
        """The window with what the output can hold of it; a column of Parquet has values of one kind."""
        if not result.content or self.destination.form.name != "parquet" or result.schema is not None:
            return result
        return fit(result, bytes.fromhex(self.journal.schema), self.destination.folder / _DATA)

    def append(self, result: Result) -> None:
        """Write a window so that it is never lost again."""
        result = self.fitted(result)
        content = result.content
        schema = self.journal.schema if result.schema is None else result.schema.hex()
        if content and not self.journal.written:
            content = self.destination.form.header(result.columns) + content
        for file, more in zip(self.files, (content, result.rejected), strict=True):
            _write(file, more)
        self.journal = self.journal.after(result, schema, len(content))
        self.journal.save(self.destination.folder / _JOURNAL)

    def finish(self) -> None:
        """Give everything its own name; a job that is killed in the midst of this can be resumed."""
        destination, folder = self.destination, self.destination.folder
        if not (self.journal.written or self.journal.complete):
            _write(self.files[0], destination.form.empty(self.journal.columns))
        self.journal = replace(self.journal, complete=True)
        self.journal.save(folder / _JOURNAL)
        ready = _joined(destination, self.journal) if destination.form.name == "parquet" else folder / _DATA
        self._finish_side()
        # Last: who sees the output sees a complete job.
        if ready.exists():
            give_name(ready, destination.output, self.replaces)
        keep_names(destination.output.parent)
        _clear(folder)

    def _finish_side(self) -> None:
        side, rejected, copy = self.destination.side, self.destination.folder / _REJECTED, _copy_of(self.destination)
        if not self.journal.written_rejected and self.replaces:
            side.unlink(missing_ok=True)
        if self.journal.written_rejected and rejected.exists():
            if not (
                side.exists() and copy.exists() and copy.samefile(side)
            ):  # else a kill came just after it was named
                _copy(rejected, copy)
            give_name(copy, side, self.replaces)
            # On the disk each before the next: while the rows are in the part, the copy tells whose the side file is.
            keep_names(side.parent)
            rejected.unlink()
            keep_names(rejected.parent)
        copy.unlink(missing_ok=True)


def is_settled(destination: Destination) -> bool:
    """Whether a job to be resumed has its output and nothing to go on with; what a kill at the very end has left is removed.

    :raises RunError: if another process is writing it.
    """
    if destination.begin != "resume" or not destination.output.is_file():
        return False
    job, journal = destination.folder / _JOB, destination.folder / _JOURNAL
    if not destination.folder.exists():
        return True
    with locked(destination):
        if job.exists():
            settled = not journal.exists() and not _asked_before(job)[1]
        else:
            settled = not journal.exists() or Journal.load(journal).complete
        if settled:
            _clear(destination.folder)
    return settled


@contextmanager
def opened_part(destination: Destination, asked: Mapping[str, Any] | None) -> Iterator[Part]:
    """The part, begun or gone on with. What its journal knows of is kept, whatever happens.

    :param asked: what decides about the output, in plain values; None: nobody will resume this, and a failure leaves nothing.
    :raises InputError: if something is there already that must not be replaced, or another job was begun.
    :raises RunError: if another process is writing it.
    """
    folder = destination.folder
    with locked(destination), ExitStack() as stack:
        left = (folder / _JOB).exists() and (folder / _JOURNAL).exists()
        if left and (asked is None or destination.begin == "new"):
            rows = Journal.load(folder / _JOURNAL).tally.rows
            raise InputError(
                f"{folder} holds a job that was not finished, {rows} rows; go on with {RESUME}, or {AGAIN}"
            )
        try:
            replaces = _replaces(destination)
            if left and destination.begin == "resume":
                journal = _resumed(destination, asked or {}, replaces)
            else:
                journal = _begun(destination, asked or {}, replaces)
            yield Part(destination, journal, _opened(folder, journal, stack), replaces)
        except BaseException:
            if asked is None or not (folder / _JOURNAL).exists():
                _copy_of(destination).unlink(missing_ok=True)
                _clear(folder)
            raise


def _replaces(destination: Destination) -> bool:
    """Whether the job may replace files, as it was told now or, where it is resumed, when it was begun."""
    job = destination.folder / _JOB
    return destination.begin == "replace" or (destination.begin == "resume" and job.exists() and _asked_before(job)[1])


def _begun(destination: Destination, asked: Mapping[str, Any], replaces: bool) -> Journal:
    """A new job, written down."""
    for option, path in ((OUTPUT, destination.output), (REJECTED, destination.side)):
        if path.exists() and not replaces:
            raise InputError(f"{path} exists already; choose another {option}, or replace it with {REPLACE}")
    # What was asked before stays until it is replaced: whoever resumes must learn from it that files may be.
    _empty(destination.folder, (_JOURNAL, _DATA, _REJECTED, _JOINED))
    _copy_of(destination).unlink(missing_ok=True)
    record = {"replaces": replaces, "asked": asked}
    write_atomically(destination.folder / _JOB, json.dumps(record).encode() + b"\n")
    return Journal()


def _resumed(destination: Destination, asked: Mapping[str, Any], replaces: bool) -> Journal:
    before, _ = _asked_before(destination.folder / _JOB)
    if changed := difference(before, json.loads(json.dumps(asked))):
        raise InputError(changed)
    journal = Journal.load(destination.folder / _JOURNAL)
    for path in (destination.output, destination.side):
        if path.exists() and not (replaces or journal.complete):
            raise appeared(path)
    return journal


def _asked_before(path: Path) -> tuple[dict[str, Any], bool]:
    """What was asked when the job was begun, and whether it may replace files."""
    try:
        record = json.loads(read_bounded(path, _MOST))
        return dict(record["asked"]), bool(record["replaces"])
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise InputError.at(path, None, f"is damaged ({format_error(error)}); {AGAIN}") from error


def _opened(folder: Path, journal: Journal, stack: ExitStack) -> tuple[FileIO, ...]:
    """Both files, cut to what the journal knows of; none where all is written and they may have been renamed."""
    if journal.complete:
        return ()
    files = []
    for name, size in ((_DATA, journal.written), (_REJECTED, journal.written_rejected)):
        # Without a buffer: what a full disk did not take would be tried again, and fail again, when the file is closed.
        file = stack.enter_context((folder / name).open("ab", buffering=0))
        if file.tell() < size:
            raise InputError.at(folder / name, None, f"is shorter than the journal says; {AGAIN}")
        file.truncate(size)
        files.append(file)
    return tuple(files)


def _write(file: FileIO, content: bytes) -> None:
    """Write all of it, to the disk."""
    if not content:
        return
    left = memoryview(content)
    try:
        while left:
            left = left[file.write(left) :]
        os.fsync(file.fileno())
    except OSError as error:  # the system does not say which file it was
        raise OSError(error.errno, error.strerror, str(file.name)) from error


def _joined(destination: Destination, journal: Journal) -> Path:
    data, target = destination.folder / _DATA, destination.folder / _JOINED
    if data.exists():
        try:
            with atomic_path(target) as made:
                table.join(data, made, bytes.fromhex(journal.schema))
        except InputError as error:
            raise InputError(
                f"{destination.output} {error}; what was scored is kept in {destination.folder}"
            ) from error
        data.unlink()
    return target


def _copy_of(destination: Destination) -> Path:
    """A name beside the side file, which may lie on another disk; no other output has the same."""
    whose = hashlib.sha256(str(destination.output.absolute()).encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return destination.side.with_name(f".{destination.side.name}.{whose}.part")


def _copy(source: Path, target: Path) -> None:
    target.unlink(missing_ok=True)
    try:
        shutil.copyfile(source, target)
        with target.open("rb") as file:
            os.fsync(file.fileno())
    except OSError:
        target.unlink(missing_ok=True)
        raise


def _empty(folder: Path, names: Sequence[str]) -> None:
    """Remove files that this module has written there, one after the other, and nothing else."""
    for name in names:
        for path in (folder / name, *folder.glob(f".{name}.*.part")):
            path.unlink(missing_ok=True)


def _clear(folder: Path) -> None:
    _empty(folder, (_DATA, _REJECTED, _JOINED, _JOB, _JOURNAL))
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
