"""Where a job's rows go, held by one process at a time."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pssa.bulk.advice import OUTPUT, REJECTED
from pssa.bulk.output_format import OutputFormat
from pssa.errors import InputError, RunError

__all__ = ["Destination", "followed", "locked"]


@dataclass(frozen=True)
class Destination:
    """Where rows go, in what form, and how the job begins: "new", "resume" where it was left, or "replace" what is there."""

    output: Path
    side: Path  # for rejected rows
    form: OutputFormat
    begin: str = "new"

    @property
    def folder(self) -> Path:
        """The part, in which the output is made."""
        return self.output.with_name(f"{self.output.name}.part")


def followed(path: Path) -> Path:
    """The file that a symbolic link means, which need not be there yet; any other path as it is."""
    meant = Path(os.path.realpath(path)) if path.is_symlink() else path
    return meant if meant.is_file() or not path.exists() else path


@contextmanager
def locked(destination: Destination) -> Iterator[None]:
    """Make the part, and be the one who writes there.

    :raises InputError: if the output or the side file cannot be written.
    :raises RunError: if another process is writing it.
    """
    folder = destination.folder
    _require_file_name(destination.output, OUTPUT)
    _require_file_name(destination.side, REJECTED)
    try:
        folder.mkdir(exist_ok=True)
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise InputError(
            f"{destination.output} cannot be written: {folder}: {error.strerror}; name a file elsewhere with {OUTPUT}"
        ) from error
    try:
        _hold(lock, destination)
        yield
    finally:
        os.close(lock)


def _require_file_name(path: Path, option: str) -> None:
    if not path.parent.is_dir():
        raise InputError(
            f"{path} cannot be written: {path.parent} does not exist; make the folder, or choose another {option}"
        )
    if path.exists() and not path.is_file():
        raise InputError(f"{path} cannot be written: it is a directory or a device; name a file with {option}")


def _hold(lock: int, destination: Destination) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Whoever held it before may have ended the job and removed the folder meanwhile.
        held = os.path.samestat(os.fstat(lock), destination.folder.stat())
    except (BlockingIOError, FileNotFoundError):
        held = False
    if not held:
        raise RunError(f"{destination.output} is being written by another process; wait for it, or stop it first")
