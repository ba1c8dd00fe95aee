"""How often Python looks for cycles of objects that nobody holds.

A window is tens of thousands of small objects, none of them in a cycle. Looking through all of them each time that seven
hundred are new, as is usual, took a third of the time of cutting sentences.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["collect_rarely", "collecting_rarely"]

_NEW_OBJECTS = 50_000  # about what a window has


def collect_rarely() -> None:
    """For a process that does nothing but score; one that collects still more rarely, or never, is left alone."""
    new, *others = gc.get_threshold()
    if 0 < new < _NEW_OBJECTS:
        gc.set_threshold(_NEW_OBJECTS, *others)


@contextmanager
def collecting_rarely() -> Iterator[None]:
    """For a process that goes on to do something else."""
    before = gc.get_threshold()
    collect_rarely()
    try:
        yield
    finally:
        gc.set_threshold(*before)
