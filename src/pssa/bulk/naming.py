"""Giving a file that is ready its own name, so that nothing which somebody else put there is lost."""

from __future__ import annotations

import errno
import filecmp
import os
from pathlib import Path

from pssa.bulk.advice import RESUME
from pssa.errors import InputError

__all__ = ["appeared", "give_name", "keep_names"]

# What file systems say that have no second names for a file.
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


def give_name(ready: Path, target: Path, replaces: bool) -> None:
    """Let a file, which lies on the same disk, be found under its own name.

    Where it replaces nothing it keeps its old name too, so that whoever does this again after a kill knows it for the same.

    :raises InputError: if another file has the name and must not be replaced.
    """
    if replaces:
        ready.replace(target)
        return
    try:
        os.link(ready, target)
    except FileExistsError as error:
        if not (target.exists() and ready.samefile(target)):
            raise appeared(target) from error
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # Without links nobody can look and rename in one step; who comes between the two is replaced.
        if target.exists() and not filecmp.cmp(ready, target, shallow=False):
            raise appeared(target) from error
        ready.replace(target)


def appeared(target: Path) -> InputError:
    """What to say of a file that a job would have to replace without having been asked to."""
    return InputError(f"{target} has appeared since the job was begun; move it away, then go on with {RESUME}")


def keep_names(folder: Path) -> None:
    """Let the names that were given in a folder outlast a power cut."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
