"""SIGTERM, as schedulers and `kill` send it, ends a command as Ctrl-C does: it lets go of what it holds and says how to go on."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType

__all__ = ["Sigterm"]


class _Terminated(KeyboardInterrupt):
    """One of its own: where the plain one passes through code of a string, Python ends by SIGINT, whoever caught it."""


class Sigterm:
    """Raises a KeyboardInterrupt at the signal, and knows that it came; a second one ends the process at once.

    A handler of somebody else is left alone, and so is a process that `torchrun` started: it may wait for the others, where no
    handler of Python runs.
    """

    came = False
    _heeded = False

    def __enter__(self) -> Sigterm:
        hears = threading.current_thread() is threading.main_thread() and "RANK" not in os.environ
        self._heeded = hears and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        if self._heeded:
            signal.signal(signal.SIGTERM, self._interrupt)
        return self

    def __exit__(self, *error: object) -> None:
        if self._heeded:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def _interrupt(self, sign: int, frame: FrameType | None) -> None:
        self.came = True
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if _imports(frame):
            signal.raise_signal(signal.SIGTERM)
        raise _Terminated


def _imports(frame: FrameType | None) -> bool:
    """Whether a module is being imported, where torch would swallow what is raised, and nothing is held yet."""
    while frame is not None and not frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    return frame is not None
