"""Progress of rows and of steps on standard error: a bar in a terminal, elsewhere a line every few seconds."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from rich.progress import TimeElapsedColumn

from pssa.progress import StderrProgress, clock

if TYPE_CHECKING:
    from pssa.predict import Progress


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


def row_observer(bar: StderrProgress) -> Callable[[Progress], None]:
    """Return the observer of a job that shows its progress; rows of an earlier session do not count as speed."""
    task = bar.add_task("", total=None, status="")
    start: tuple[float, Progress] | None = None

    def update(now: Progress) -> None:
        nonlocal start
        began, first = start = start or (time.monotonic(), now)
        text = progress_text(first, now, time.monotonic() - began)
        bar.update(task, completed=now.read, total=now.total or None, status=text)

    return update


def progress_text(first: Progress, now: Progress, seconds: float) -> str:
    """Return rows so far, rows per second since `first` and, if the inputs' sizes are known, the time left."""
    text = f"{now.rows:,} {'row' if now.rows == 1 else 'rows'}"
    if now.rejected:
        text += f", {now.rejected:,} skipped"
    if seconds > 0 and now.rows > first.rows:
        text += f", {(now.rows - first.rows) / seconds:,.0f} rows/s"
    if now.total and now.read > first.read:
        left = int(seconds * (now.total - now.read) / (now.read - first.read))
        text += f", {left // 3600}:{left // 60 % 60:02}:{left % 60:02} left"
    return text
