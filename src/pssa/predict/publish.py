"""Publishing a finished file: it gets its own name at once, and never takes the place of a file that must stay."""

from __future__ import annotations

import errno
import filecmp
import os
from pathlib import Path

from pssa.errors import InputError
from pssa.predict.fingerprint import RESUME

# Errors of file systems that do not have hard links.
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


def publish_file(ready: Path, target: Path, replaces: bool) -> None:
    """Give a file, which lies on the same disk, its own name; doing it again after a kill changes nothing.

    :raises InputError: if another file has the name and must not be replaced.
    """
    if replaces:
        ready.replace(target)
        return
    try:
        os.link(ready, target)
    except FileExistsError as error:
        if not _is_same(ready, target):
            raise appeared_error(target) from error
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # Without links, checking and renaming are two steps: a file that appears between them is replaced.
        if target.exists() and not _is_same(ready, target):
            raise appeared_error(target) from error
        ready.replace(target)


def appeared_error(target: Path) -> InputError:
    """Return the error about a file that the job would have to replace without permission."""
    return InputError(f"{target} has appeared since the job began; move it away, then resume with {RESUME}")


def _is_same(ready: Path, target: Path) -> bool:
    return target.is_file() and (ready.samefile(target) or filecmp.cmp(ready, target, shallow=False))
