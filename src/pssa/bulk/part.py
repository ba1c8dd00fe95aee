"""An output in the making: the folder `<output>.part`, which has all that a job needs to go on after it was killed.

    job.json       what was asked; written once
    journal.json   how far it came
    data           the output's bytes so far, and a little more than the journal knows of where the job was killed
    rejected       those of the side file

The process that writes holds a lock on the folder. It is gone when the output is there under its own name.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from pssa.bulk import table
from pssa.bulk.form import Form
from pssa.bulk.journal import Journal, difference
from pssa.bulk.work import Result
from pssa.data.atomic import replacing, write_atomically
from pssa.data.bounded import read_whole
from pssa.data.shown import told
from pssa.errors import InputError, RunError

__all__ = ["Part", "Place", "opened_part"]

_JOB, _JOURNAL, _DATA, _REJECTED, _JOINED = "job.json", "journal.json", "data", "rejected", "joined"
_MOST = 1 << 28  # bytes of job.json, which names every input


@dataclass(frozen=True)
class Place:
    """Where rows go, in what form, and how the job begins: "new", "resume" where it was left, or "replace" what is there."""

    output: Path
    side: Path  # for rejected rows
    form: Form
    begin: str = "new"

    @property
    def folder(self) -> Path:
        """The part."""
        return self.output.with_name(f"{self.output.name}.part")


@dataclass
class Part:
    """An output that grows by windows."""

    place: Place
    journal: Journal
    files: tuple[IO[bytes], ...]  # the output's and the side file's bytes

    def append(self, result: Result) -> None:
        """Write a window so that it is never lost again.

        :raises InputError: if a column of Parquet would have to hold two kinds of values.
        """
        schema, content = self.journal.schema, result.content
        if content and self.place.form.name == "parquet":
            schema = table.widened(bytes.fromhex(schema), content).hex()
        if content and not self.journal.written:
            content = self.place.form.header(result.columns) + content
        for file, more in zip(self.files, (content, result.rejected), strict=True):
            if more:
                file.write(more)
                file.flush()
                os.fsync(file.fileno())
        self.journal = self.journal.after(result, schema, len(content))
        self.journal.save(self.place.folder / _JOURNAL)

    def finish(self) -> None:
        """Give everything its own name; a job that is killed in the midst of this can be resumed."""
        place, folder = self.place, self.place.folder
        self.journal = replace(self.journal, complete=True)
        self.journal.save(folder / _JOURNAL)
        ready = _joined(folder, self.journal) if place.form.name == "parquet" else folder / _DATA
        if not self.journal.written_rejected:
            place.side.unlink(missing_ok=True)
        elif (folder / _REJECTED).exists():
            (folder / _REJECTED).replace(place.side)
        # Last: who sees the output sees a complete job.
        if ready.exists():
            ready.replace(place.output)
        _clear(folder)


@contextmanager
def opened_part(place: Place, asked: Mapping[str, Any] | None) -> Iterator[Part]:
    """The part, begun or gone on with. What its journal knows of is kept, whatever happens.

    :param asked: what decides about the output, in plain values; None: nobody will resume this, and a failure leaves nothing.
    :raises InputError: if something is there already that must not be replaced, or another job was begun.
    :raises RunError: if another process is writing it.
    """
    folder = place.folder
    with _locked(place), ExitStack() as stack:
        try:
            journal = _begun(place, asked or {})
            files = _opened(folder, journal, stack)
            yield Part(place, journal, files)
        except BaseException:
            if asked is None or not (folder / _JOURNAL).exists():
                _clear(folder)
            raise


@contextmanager
def _locked(place: Place) -> Iterator[None]:
    folder = place.folder
    try:
        if place.output.is_dir():
            raise InputError(f"output {place.output} cannot be written: it is a directory; name a file")
        folder.mkdir(exist_ok=True)
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError as error:
        raise InputError(f"output {place.output} cannot be written: {folder.parent} does not exist") from error
    except OSError as error:
        raise InputError(f"output {place.output} cannot be written: {error.strerror}") from error
    try:
        _hold(lock, place)
        yield
    finally:
        os.close(lock)


def _hold(lock: int, place: Place) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Whoever held it before may have ended the job and removed the folder meanwhile.
        held = os.path.samestat(os.fstat(lock), place.folder.stat())
    except (BlockingIOError, FileNotFoundError):
        held = False
    if not held:
        raise RunError(f"{place.output} is being written by another process; wait for it, or stop it first")


def _begun(place: Place, asked: Mapping[str, Any]) -> Journal:
    """How far the job came; a new one is written down."""
    folder, left = place.folder, (place.folder / _JOB).exists() and (place.folder / _JOURNAL).exists()
    if left and place.begin == "resume":
        return _resumed(place, asked)
    if left and place.begin == "new":
        rows = Journal.load(folder / _JOURNAL).tally.rows
        raise InputError(
            f"{folder} holds a job that was not finished, {rows} rows; go on with --resume, or begin again with --force"
        )
    taken = [path for path in (place.output, place.side) if path.exists()]
    if taken and place.begin != "replace":
        raise InputError(f"{taken[0]} exists already; choose another --output, or replace it with --force")
    _empty(folder)
    record = {"replaces": place.begin == "replace", "asked": asked}
    write_atomically(folder / _JOB, json.dumps(record).encode() + b"\n")
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
    if place.output.exists() and not (replaces or journal.complete):
        raise InputError(f"{place.output} has appeared since the job was begun; move it away, then --resume")
    return journal


def _opened(folder: Path, journal: Journal, stack: ExitStack) -> tuple[IO[bytes], ...]:
    """Both files, cut to what the journal knows of; none where all is written and they may have been renamed."""
    if journal.complete:
        return ()
    files = []
    for name, size in ((_DATA, journal.written), (_REJECTED, journal.written_rejected)):
        file = stack.enter_context((folder / name).open("ab"))
        if file.tell() < size:
            raise InputError.at(folder / name, None, "is shorter than the journal says; begin again with --force")
        file.truncate(size)
        files.append(file)
    return tuple(files)


def _joined(folder: Path, journal: Journal) -> Path:
    target = folder / _JOINED
    if (folder / _DATA).exists():
        with replacing(target) as made:
            table.join(folder / _DATA, made, bytes.fromhex(journal.schema))
        (folder / _DATA).unlink()
    return target


def _empty(folder: Path) -> None:
    """Remove what this module has written there, and nothing else."""
    for name in (_DATA, _REJECTED, _JOINED, _JOURNAL, _JOB):
        for path in (folder / name, *folder.glob(f".{name}.*.part")):
            path.unlink(missing_ok=True)


def _clear(folder: Path) -> None:
    _empty(folder)
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
