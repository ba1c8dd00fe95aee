"""Progress bars on standard error, or lines in a log, at least every ten seconds; no torch."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from datetime import timedelta

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn

__all__ = ["QUIET_SECONDS", "SHORT_SECONDS", "Heartbeat", "StderrProgress", "clock"]

# Longest time between two lines of a log, and the least time before the line of a stage or round that ended.
QUIET_SECONDS = 10.0
SHORT_SECONDS = 5.0


def clock(seconds: float) -> str:
    """Format a time as `0:01:30`."""
    return str(timedelta(seconds=round(seconds)))


class Heartbeat:
    """Calls a function every few seconds from a thread of its own, until it is stopped."""

    def __init__(self, beat: Callable[[], None], seconds: float) -> None:
        self._beat, self._seconds = beat, seconds
        self._over = threading.Event()

    def start(self) -> None:
        """Start the thread; it never keeps the process alive."""
        threading.Thread(target=self._run, daemon=True).start()

    def stop(self) -> None:
        """Stop the thread."""
        self._over.set()

    def _run(self) -> None:
        while not self._over.wait(self._seconds):
            self._beat()


class StderrProgress(Progress):
    """Progress bars on standard error; lines instead of bars if that is not a terminal."""

    def __init__(self, label: str, *columns: ProgressColumn, visible: bool = True) -> None:
        """Give the text before each bar, with `{task.description}` for the bar's name, and the columns after it.

        :param visible: False: show nothing, since the terminal shows something else.
        """
        super().__init__(
            TextColumn(label),
            BarColumn(bar_width=14),
            *columns,
            TextColumn("{task.fields[status]}"),
            console=Console(stderr=True),
            disable=not (visible and sys.stderr.isatty()),
        )
        self._name = label
        self._last_line = time.monotonic()
        # Checked twice as often as needed: a beat shortly before a line is due must not wait for another whole pause.
        self._heart = Heartbeat(lambda: self.write_line(self.describe(), QUIET_SECONDS), QUIET_SECONDS / 2)
        self._logs = visible and self.disable

    def start(self) -> None:
        """Start the bars, or a thread that prints lines."""
        super().start()
        if self._logs:
            self._heart.start()

    def stop(self) -> None:
        """Stop both."""
        self._heart.stop()
        super().stop()

    def describe(self) -> str:
        """Return how far the work is, for a line of a log."""
        status = [str(task.fields["status"]) for task in self.tasks if task.fields.get("status")]
        return f"{self._name}: {status[-1] if status else 'starting'}"

    def write_line(self, line: str, least: float) -> None:
        """Print a line if there is no terminal, unless one was printed less than `least` seconds ago."""
        now = time.monotonic()
        if self._logs and now - self._last_line >= least:
            self._last_line = now
            sys.stderr.write(f"pssa: {line}\n")
            sys.stderr.flush()
