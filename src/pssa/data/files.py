"""Safe access to files: atomic writes, locks, bounded reads, and folders from strangers.

- Atomic writes: a reader finds either the old content or the new, never a part of it, also after a power cut.
- Locks: the kernel releases them when the process ends, even if it is killed.
- Folders from strangers: nothing in them may lead outside, and a pipe in place of a file is never opened.
- Bounded reads: a few kilobytes can unpack to gigabytes. Real text shrinks to about a tenth of its size, so a file that grows
  far beyond that is refused.
"""

from __future__ import annotations

import errno
import fcntl
import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from pssa.errors import InputError, RunError

MAX_BLANK_LINES = 1_000_000  # in a row: no real text has so many, and a packed file has room for billions

_MAX_UNPACKED = 1 << 24  # bytes that any packed file may unpack to
_MAX_GROWTH = 100  # times its own size, beyond that
# Errors of writing that the system reports without the name of the file.
_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)


def write_atomically(path: str | Path, content: bytes) -> None:
    """Write `content` to a temporary file beside `path`, then rename it; a failure leaves `path` as it was."""
    with atomic_path(path) as part:
        part.write_bytes(content)


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path` to write to; it replaces `path` if the block ends without an error."""
    path = Path(path)
    part = _temporary_path(path)
    try:
        with suppress(FileNotFoundError):
            part.unlink()
        # Surely new: something else under its name could be a link that leads anywhere.
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
        yield part
        with part.open("rb") as stream:
            os.fsync(stream.fileno())
        part.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        # Name the file itself: the temporary name means nothing to the user.
        if str(error.filename) == str(part) or (error.errno in _DISK_ERRORS and error.filename is None):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
    finally:
        with suppress(OSError):  # a disk that refuses writes has nothing to remove, and the first error says why
            part.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Write the names in a folder to disk, so that they outlast a power cut."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_tree(folder: Path) -> None:
    """Write everything in a folder that a library has filled to disk, and the folder's own name."""
    for parent, _, names in os.walk(folder):
        for name in names:
            with open(Path(parent, name), "rb") as stream:
                os.fsync(stream.fileno())
        sync_folder(Path(parent))
    sync_folder(folder.parent)


def make_folder(folder: Path) -> None:
    """Make a folder, unless there is one, so that it outlasts a power cut; the folder that contains it must exist."""
    try:
        folder.mkdir()
    except FileExistsError:
        if not folder.is_dir():
            raise
    else:
        sync_folder(folder.parent)


def make_folders(folder: Path) -> None:
    """Make a folder and those that contain it, as far as they do not exist, so that all outlast a power cut."""
    if not folder.parent.is_dir():
        make_folders(folder.parent)
    make_folder(folder)


def require_writable(path: str | Path) -> None:
    """Refuse, before long work, a `path` that its result cannot be written to."""
    part = _temporary_path(Path(path))
    try:
        part.touch()
        part.unlink()
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}; name a file elsewhere") from error


def acquire_lock(handle: int | IO[Any], name: str | Path) -> None:
    """Lock an open file or folder until `handle` is closed; raise `RunError` if another process holds the lock."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise RunError(f"{name} is in use by another process; wait for it, or stop it first") from error


@contextmanager
def hold_lock(path: str | Path, name: str | Path | None = None) -> Iterator[IO[bytes]]:
    """Open the file `path` for appending, create it if needed, and lock it while the block runs; messages call it `name`."""
    with os.fdopen(open_regular(path, os.O_RDWR | os.O_APPEND | os.O_CREAT), "a+b") as handle:
        acquire_lock(handle, path if name is None else name)
        yield handle


def open_regular(path: str | Path, flags: int) -> int:
    """Return the descriptor of a file in a folder that may come from a stranger.

    :raises InputError: if `path` is a link, which could lead to any file, or a pipe or a device, which could block.
    """
    try:
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise InputError.at(path, None, "is a symbolic link; expected a file, so remove the link") from error
        if error.errno == errno.ENXIO:  # a pipe that nobody reads, or a socket
            raise _not_a_file(path) from error
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _not_a_file(path)
    return descriptor


def require_contained(folder: Path) -> None:
    """Refuse a folder from a stranger in which a link leads outside, or which holds a pipe, a socket or a device.

    :raises InputError: naming the first of them.
    """
    top = os.path.realpath(folder)
    # A hub's cache is snapshots/COMMIT/ with links to blobs/, all below the folder of one repository.
    grandparent = Path(top).parent.parent
    allowed = (top, str(grandparent / "blobs")) if Path(top).parent.name == "snapshots" else (top,)
    for parent, folders, files in os.walk(folder):
        for path in (Path(parent, name) for name in (*folders, *files)):
            try:
                mode = path.lstat().st_mode
            except FileNotFoundError:  # somebody is writing here
                continue
            if stat.S_ISLNK(mode):
                target = os.path.realpath(path)
                if not any(target == top or target.startswith(top + os.sep) for top in allowed):
                    what = "is a symbolic link that leads out of its folder"
                    raise InputError.at(path, None, f"{what}; replace it with what it leads to, if you trust that")
            elif not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                raise _not_a_file(path)


def read_bounded(path: Path, max_bytes: int) -> bytes:
    """Return the content of a file that should be small; refuse one of more than `max_bytes`, a pipe or a device."""
    require_regular(path)
    # The path may have become a pipe since it was checked.
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as stream:
        content = stream.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise InputError.at(path, None, f"has more than {max_bytes} bytes, too many for such a file; get it again")
    return content


def require_regular(path: str | Path) -> None:
    """Refuse a pipe, which could block without end, and what could be read without end: a device, or a file of holes."""
    found = os.stat(path)
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
        raise _not_a_file(path)
    if stat.S_ISREG(found.st_mode) and found.st_size > _MAX_UNPACKED:
        stored = _stored_bytes(path, found.st_size)
        if found.st_size > max(_MAX_UNPACKED, _MAX_GROWTH * stored):
            what = f"is a sparse file of {found.st_size} bytes, {stored} of them stored; get it again"
            raise InputError.at(path, None, what)


def _stored_bytes(path: str | Path, size: int) -> int:
    """Return how many bytes of a file are not in holes, or enough of them to be sure that it is not made of holes."""
    stored = end = 0
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        while end < size and stored * _MAX_GROWTH < size:
            start = os.lseek(descriptor, end, os.SEEK_DATA)
            end = os.lseek(descriptor, start, os.SEEK_HOLE)
            stored += end - start
    except OSError as error:  # ENXIO: no data after `end`; any other: the file system knows no holes
        return stored if error.errno == errno.ENXIO else size
    finally:
        os.close(descriptor)
    return stored


def _not_a_file(path: str | Path) -> InputError:
    return InputError.at(path, None, "is a pipe, a socket or a device; expected a file")


class BoundedStream(io.RawIOBase):
    """The content of a packed file; reading stops with an error once it grows out of proportion to the file."""

    def __init__(self, path: Path, stream: IO[bytes]) -> None:
        super().__init__()
        self._path = path
        self._stream = stream
        self._left = max(_MAX_UNPACKED, _MAX_GROWTH * path.stat().st_size)

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Read the next bytes into `buffer`; refuse content that is too large for its file."""
        room = memoryview(buffer).cast("B")
        content = self._stream.read(len(room))
        room[: len(content)] = content
        self._left -= len(content)
        if self._left < 0:
            what = f"unpacks to more than {_MAX_GROWTH} times its size; if that is right, unpack it first"
            raise InputError.at(self._path, None, what)
        return len(content)


def _temporary_path(path: Path) -> Path:
    # Not from tempfile: a file opened this way gets the permissions of the user's umask.
    return path.with_name(f".{path.name}.{os.getpid()}.part")
