"""Progress of cells on standard error: a bar in a terminal, elsewhere a line every few seconds."""

from __future__ import annotations

import time

from rich.progress import MofNCompleteColumn, TimeElapsedColumn

from pssa.cli._output import counted
from pssa.training import progress
from pssa.training.progress import StderrProgress, clock


class CellsProgress(StderrProgress):
    """Progress of the cells of an experiment."""

    def __init__(self) -> None:
        super().__init__("cells", MofNCompleteColumn(), TimeElapsedColumn())
        self._cells = self.add_task("cells", total=None, said="")
        self._began = time.monotonic()
        self._counts = (0, 0)

    def __call__(self, done: int, total: int, name: str) -> None:
        """Note that a cell is done or, with `done` 0, that the first starts."""
        spent = time.monotonic() - self._began
        self._counts = (done, total)
        left = f"{clock(spent / done * (total - done))} left" if done else ""
        self.update(self._cells, completed=done, total=total, said=f"{left}  {name}".strip())
        if done:
            self._log(f"{done}/{total} cells, {clock(spent)} elapsed, {left}; last {name}", progress.QUIET_SECONDS)
        elif total:
            self._log(f"{counted(total, 'cell')} to do", 0)

    def describe(self) -> str:
        """Return how far the cells are, also while one takes long."""
        done, total = self._counts
        return f"{done}/{total} cells, {clock(time.monotonic() - self._began)} elapsed"
