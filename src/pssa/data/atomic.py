"""Writing a file so that a reader finds either the old content or the new, never a part of it."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pssa.errors import InputError

__all__ = ["replacing", "require_writable", "write_atomically"]

# What only writing can meet; the system says it without the name of the file.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)


def write_atomically(path: str | Path, content: bytes) -> None:
    """Write `content` to a temporary name beside `path`, then rename it; a failure leaves `path` as it was."""
    with replacing(path) as part:
        part.write_bytes(content)


def require_writable(path: str | Path) -> None:
    """Refuse, before work that takes long, a file that could not be written at its end.

    :raises InputError: if nothing can be written beside `path`.
    """
    part = _part_of(Path(path))
    try:
        part.touch()
        part.unlink()
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}; name a file elsewhere") from error


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A temporary name beside `path` to write to; it takes the place of `path` once the block ends well."""
    path = Path(path)
    part = _part_of(path)
    try:
        yield part
        with part.open("rb") as stream:
            os.fsync(stream.fileno())
        part.replace(path)
    except OSError as error:
        # The temporary name would tell nobody which file is meant.
        if str(error.filename) == str(part) or (error.errno in _NO_ROOM and error.filename is None):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
    finally:
        with suppress(OSError):  # where nothing can be written, nothing is to be removed, and the reason is known
            part.unlink(missing_ok=True)


def _part_of(path: Path) -> Path:
    # Under an own name, not by tempfile: the file then gets the permissions that the user's umask says.
    return path.with_name(f".{path.name}.{os.getpid()}.part")
