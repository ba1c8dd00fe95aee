"""An output in the making: the folder `<output>.part`, which has all that a job needs to go on after it was killed.

    job.json       what was asked; written once
    journal.json   how far it came
    data           the output's bytes so far, and a little more than the journal knows of where the job was killed
    rejected       those of the side file

The process that writes holds a lock on the folder. It is gone when the output is there under its own name.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from io import FileIO
from pathlib import Path
from typing import Any

from pssa.bulk import table
from pssa.bulk.fitting import fit
from pssa.bulk.journal import Journal, difference
from pssa.bulk.place import Place, locked
from pssa.bulk.work import Result
from pssa.data.atomic import replacing, write_atomically
from pssa.data.bounded import read_whole
from pssa.data.shown import told
from pssa.errors import InputError

__all__ = ["Part", "opened_part"]

_JOB, _JOURNAL, _DATA, _REJECTED, _JOINED = "job.json", "journal.json", "data", "rejected", "joined"
_MOST = 1 << 28  # bytes of job.json, which names every input


@dataclass
class Part:
    """An output that grows by windows."""

    place: Place
    journal: Journal
    files: tuple[FileIO, ...]  # the output's and the side file's bytes

    def fitted(self, result: Result) -> Result:
        """The window with what the output can hold of it; a column of Parquet has values of one kind."""
        if not result.content or self.place.form.name != "parquet" or result.schema is not None:
            return result
        return fit(result, bytes.fromhex(self.journal.schema), self.place.folder / _DATA)

    def append(self, result: Result) -> None:
        """Write a window so that it is never lost again."""
        result = self.fitted(result)
        content = result.content
        schema = self.journal.schema if result.schema is None else result.schema.hex()
        if content and not self.journal.written:
            content = self.place.form.header(result.columns) + content
        for file, more in zip(self.files, (content, result.rejected), strict=True):
            _write(file, more)
        self.journal = self.journal.after(result, schema, len(content))
        self.journal.save(self.place.folder / _JOURNAL)

    def finish(self) -> None:
        """Give everything its own name; a job that is killed in the midst of this can be resumed."""
        place, folder = self.place, self.place.folder
        if not (self.journal.written or self.journal.complete):
            _write(self.files[0], place.form.empty(self.journal.columns))
        self.journal = replace(self.journal, complete=True)
        self.journal.save(folder / _JOURNAL)
        ready = _joined(place, self.journal) if place.form.name == "parquet" else folder / _DATA
        if not self.journal.written_rejected:
            place.side.unlink(missing_ok=True)
        elif (folder / _REJECTED).exists():
            with replacing(place.side) as copy:  # which may lie on another disk
                shutil.copyfile(folder / _REJECTED, copy)
        # Last: who sees the output sees a complete job.
        if ready.exists():
            ready.replace(place.output)
        for parent in {place.side.parent, place.output.parent}:
            _keep_names(parent)
        _clear(folder)


@contextmanager
def opened_part(place: Place, asked: Mapping[str, Any] | None) -> Iterator[Part]:
    """The part, begun or gone on with. What its journal knows of is kept, whatever happens.

    :param asked: what decides about the output, in plain values; None: nobody will resume this, and a failure leaves nothing.
    :raises InputError: if something is there already that must not be replaced, or another job was begun.
    :raises RunError: if another process is writing it.
    """
    folder = place.folder
    with locked(place), ExitStack() as stack:
        left = (folder / _JOB).exists() and (folder / _JOURNAL).exists()
        if left and (asked is None or place.begin == "new"):
            rows = Journal.load(folder / _JOURNAL).tally.rows
            raise InputError(
                f"{folder} holds a job that was not finished, {rows} rows; go on with --resume, or begin again with --force"
            )
        try:
            journal = _resumed(place, asked or {}) if left and place.begin == "resume" else _begun(place, asked or {})
            files = _opened(folder, journal, stack)
            yield Part(place, journal, files)
        except BaseException:
            if asked is None or not (folder / _JOURNAL).exists():
                _clear(folder)
            raise


def _begun(place: Place, asked: Mapping[str, Any]) -> Journal:
    """A new job, written down."""
    for option, path in (("--output", place.output), ("--rejected", place.side)):
        if path.exists() and place.begin != "replace":
            raise InputError(f"{path} exists already; choose another {option}, or replace it with --force")
    _empty(place.folder)
    record = {"replaces": place.begin == "replace", "asked": asked}
    write_atomically(place.folder / _JOB, json.dumps(record).encode() + b"\n")
    return Journal()


def _resumed(place: Place, asked: Mapping[str, Any]) -> Journal:
    path = place.folder / _JOB
    try:
        record = json.loads(read_whole(path, _MOST))
        before, replaces = dict(record["asked"]), bool(record["replaces"])
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise InputError.at(path, None, f"is damaged ({told(error)}); begin again with --force") from error
    if changed := difference(before, json.loads(json.dumps(asked))):
        raise InputError(changed)
    journal = Journal.load(place.folder / _JOURNAL)
    for path in (place.output, place.side):
        if path.exists() and not (replaces or journal.complete):
            raise InputError(f"{path} has appeared since the job was begun; move it away, then --resume")
    return journal


def _opened(folder: Path, journal: Journal, stack: ExitStack) -> tuple[FileIO, ...]:
    """Both files, cut to what the journal knows of; none where all is written and they may have been renamed."""
    if journal.complete:
        return ()
    files = []
    for name, size in ((_DATA, journal.written), (_REJECTED, journal.written_rejected)):
        # Without a buffer: what a full disk did not take would be tried again, and fail again, when the file is closed.
        file = stack.enter_context((folder / name).open("ab", buffering=0))
        if file.tell() < size:
            raise InputError.at(folder / name, None, "is shorter than the journal says; begin again with --force")
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


def _joined(place: Place, journal: Journal) -> Path:
    data, target = place.folder / _DATA, place.folder / _JOINED
    if data.exists():
        try:
            with replacing(target) as made:
                table.join(data, made, bytes.fromhex(journal.schema))
        except InputError as error:
            raise InputError(f"{place.output} {error}; what was scored is kept in {place.folder}") from error
        data.unlink()
    return target


def _keep_names(folder: Path) -> None:
    """Let the names that were given in a folder outlast a power cut."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _empty(folder: Path) -> None:
    """Remove what this module has written there, and nothing else."""
    for name in (_DATA, _REJECTED, _JOINED, _JOURNAL, _JOB):
        for path in (folder / name, *folder.glob(f".{name}.*.part")):
            path.unlink(missing_ok=True)


def _clear(folder: Path) -> None:
    _empty(folder)
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
