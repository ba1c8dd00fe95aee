"""Progress bars of rows and of steps on standard error, or lines in a log, at least every ten seconds; no torch."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, ProgressColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

if TYPE_CHECKING:
    from pssa.predict import Progress

__all__ = ["QUIET_SECONDS", "SHORT_SECONDS", "Heartbeat", "RowProgress", "StderrProgress", "StepProgress", "clock"]

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


class StderrProgress(Bars):
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


class StepProgress(StderrProgress):
    """The step that a command is at and the time since it began; a bar goes away when the command is done."""

    def __init__(self, command: str) -> None:
        super().__init__(command, TimeElapsedColumn())
        self.live.transient = True
        self._step = self.add_task("", total=None, status="")
        self._began = time.monotonic()

    def __call__(self, name: str) -> None:
        """Note that a step begins."""
        self.update(self._step, status=name)

    def describe(self) -> str:
        """Return the step and the time."""
        return f"{super().describe()}, {clock(time.monotonic() - self._began)} elapsed"


class RowProgress(StderrProgress):
    """The rows that a job has done, as its observer; rows of an earlier session do not count as speed."""

    def __init__(self, command: str, visible: bool = True) -> None:
        super().__init__(command, visible=visible)
        self._rows = self.add_task("", total=None, status="")
        self._start: tuple[float, Progress] | None = None
        self._step: TaskID | None = None

    def __call__(self, now: Progress) -> None:
        """Show rows so far, rows per second since the first call and, if the inputs' sizes are known, the time left."""
        began, first = self._start = self._start or (time.monotonic(), now)
        seconds = time.monotonic() - began
        text = f"{now.rows:,} {'row' if now.rows == 1 else 'rows'}"
        if now.rejected:
            text += f", {now.rejected:,} skipped"
        if seconds > 0 and now.rows > first.rows:
            text += f", {(now.rows - first.rows) / seconds:,.0f} rows/s"
        if now.total and now.read > first.read:
            text += f", {clock(seconds * (now.total - now.read) // (now.read - first.read))} left"
        self.update(self._rows, completed=now.read, total=now.total or None, status=text)

    def show_step(self, name: str, n_rows: int) -> None:
        """Show how many rows a step after the job has read."""
        if self._step is None:
            self._step = self.add_task("", total=None, status="")
        self.update(self._step, status=f"{name}: {n_rows:,} rows")
