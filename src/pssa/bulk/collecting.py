"""How often Python looks for cycles of objects that nobody holds.

A window is tens of thousands of small objects, none of them in a cycle. Looking through all of them each time that seven
hundred are new, as is usual, took more than a quarter of the time of scoring where the encoder is tiny.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["collect_rarely", "collecting_rarely"]

_NEW_OBJECTS = 50_000  # about what a window has


def collect_rarely() -> None:
    """For a process that does nothing but score; one that collects still more rarely, or never, is left alone."""
    new, *others = gc.get_threshold()
    if 0 < new < _NEW_OBJECTS:
        gc.set_threshold(_NEW_OBJECTS, *others)


class _Shared:
    """Who is scoring just now; the first to begin changes the process, and the last to end leaves it as it was."""

    lock = threading.Lock()
    scoring = 0
    before = (0, 0, 0)


@contextmanager
def collecting_rarely() -> Iterator[None]:
    """For a process that goes on to do something else; several threads may score at once."""
    with _Shared.lock:
        if not _Shared.scoring:
            _Shared.before = gc.get_threshold()
            collect_rarely()
        _Shared.scoring += 1
    try:
        yield
    finally:
        with _Shared.lock:
            _Shared.scoring -= 1
            if not _Shared.scoring:
                gc.set_threshold(*_Shared.before)
