"""Writing a file so that a reader finds either the old content or the new, never a part of it."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["write_atomically"]


def write_atomically(path: str | Path, content: bytes) -> None:
    """Write `content` to a temporary name beside `path`, then rename it; a failure leaves `path` as it was."""
    path = Path(path)
    # Opened under an own name, not by tempfile: the file then gets the permissions that the user's umask says.
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
