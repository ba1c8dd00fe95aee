"""Reading within bounds: files that are read whole, and text that is packed.

A few kilobytes can hide gigabytes of text. Texts of people pack to a tenth of their size, so what grows without end is no text.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import IO, Any

from pssa.errors import InputError

__all__ = ["MOST_BLANK_LINES", "Unpacked", "read_whole"]

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

    :raises InputError: if it has more than `most`.
    :raises OSError: if it cannot be read.
    """
    with path.open("rb") as stream:
        content = stream.read(most + 1)
    if len(content) > most:
        raise InputError.at(path, None, f"has more than {most} bytes, which such a file never has; get it again")
    return content
