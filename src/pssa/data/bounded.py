"""Reading within bounds: files that are read whole, and text that is packed.

A few kilobytes can hide gigabytes of text. Texts of people pack to a tenth of their size, so what grows without end is no text.
"""

from __future__ import annotations

import io
import os
import stat
from pathlib import Path
from typing import IO, Any

from pssa.errors import InputError

__all__ = ["MOST_BLANK_LINES", "Unpacked", "read_whole", "require_regular"]

MOST_BLANK_LINES = 1_000_000  # in a row: nobody writes them, and a packed file has room for billions

_FREE = 1 << 24  # bytes that any packed file may have inside
_MOST_TIMES = 100  # its own size, beyond that


class Unpacked(io.RawIOBase):
    """The text in a packed file, which is refused once it has outgrown its file."""

    def __init__(self, path: Path, stream: IO[bytes]) -> None:
        super().__init__()
        self._path = path
        self._stream = stream
        self._left = max(_FREE, _MOST_TIMES * path.stat().st_size)

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """The next bytes.

        :raises InputError: if they are too many.
        """
        room = memoryview(buffer).cast("B")
        content = self._stream.read(len(room))
        room[: len(content)] = content
        self._left -= len(content)
        if self._left < 0:
            raise InputError.at(
                self._path,
                None,
                f"unpacks to more than {_MOST_TIMES} times its size; if that is right, unpack it first",
            )
        return len(content)


def read_whole(path: Path, most: int) -> bytes:
    """All bytes of a file that should be small.

    :raises InputError: if it has more than `most`, or is no file.
    :raises OSError: if it cannot be read.
    """
    require_regular(path)
    with open(path, "rb", opener=_at_once) as stream:
        content = stream.read(most + 1)
    if len(content) > most:
        raise InputError.at(path, None, f"has more than {most} bytes, which such a file never has; get it again")
    return content


def require_regular(path: str | Path) -> None:
    """Refuse what is there and is no file: a pipe without a writer would be waited for without end, a device read so.

    :raises OSError: if nobody can say.
    """
    found = os.stat(path)
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
        raise InputError.at(path, None, "is a pipe, a socket or a device; expected a file")


def _at_once(path: str, flags: int) -> int:
    # What was put there since it was looked at may be a pipe after all.
    return os.open(path, flags | os.O_NONBLOCK)
