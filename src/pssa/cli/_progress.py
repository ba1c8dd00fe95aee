"""Progress on standard error: bars in a terminal, elsewhere a line now and then."""

from __future__ import annotations

import sys
import threading
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TaskID, TextColumn, TimeElapsedColumn

from pssa.cli._output import counted

if TYPE_CHECKING:
    from pssa.data.evidence import Evidence, RoundReport
    from pssa.training import EpochRecord

# Least time between two lines: at the end of a stage or a round, and within a stage or between cells.
_QUIET_SECONDS = 5.0
_LONG_QUIET_SECONDS = 60.0


class StderrProgress(Progress):
    """Progress bars on standard error, disabled if that is no terminal."""

    def __init__(self, label: str, *columns: ProgressColumn, visible: bool = True) -> None:
        """Give the text before each bar, with `{task.description}` for the bar's name, and the columns after it."""
        super().__init__(
            TextColumn(label),
            BarColumn(bar_width=28),
            *columns,
            TextColumn("{task.fields[said]}"),
            console=Console(stderr=True),
            disable=not (visible and sys.stderr.isatty()),
        )
        self._last_line = time.monotonic()

    def _log(self, line: str, least: float) -> None:
        """Print a line if there is no terminal, unless one was printed less than `least` seconds ago."""
        now = time.monotonic()
        if self.disable and now - self._last_line >= least:
            self._last_line = now
            print(f"pssa: {line}", file=sys.stderr, flush=True)


class TrainingProgress(StderrProgress):
    """An observer that draws bars or prints lines."""

    def __init__(self, score: str = "macro-F1") -> None:
        """Give what the held-out score is called."""
        self._score = score
        super().__init__("{task.description:<10}", MofNCompleteColumn(), TimeElapsedColumn())
        self._stage: TaskID | None = None
        self._vectors: TaskID | None = None
        self._steps = self._done = 0
        self.result: tuple[dict[str, Any], Evidence | None] | None = None  # of a run that was finished

    def on_finish(self, metrics: dict[str, Any], evidence: Evidence | None) -> None:
        """Keep the outcome of a run for its summary."""
        self.result = metrics, evidence

    def on_vectors(self, read: int, total: int) -> None:
        """Show how many bytes of the vector file are read."""
        if self._vectors is None:
            self._vectors = self.add_task("vectors", total=total >> 20, said="MiB")
        self.update(self._vectors, completed=read >> 20)

    def on_stage(self, stage: str, steps: int) -> None:
        """Add a bar."""
        self._steps, self._done = steps, 0
        self._stage = self.add_task(stage, total=steps, said="")

    def on_epoch(self, record: EpochRecord) -> None:
        """Advance the bar by an epoch."""
        said = f"loss {record.loss:.3f}"
        if record.dev_macro_f1 is not None:
            said += f"  held-out {self._score} {record.dev_macro_f1:.3f}"
        self._done = record.epoch
        if self._stage is not None:
            self.update(self._stage, completed=record.epoch, said=said)
        if record.epoch < self._steps:
            self._log(f"stage {record.stage}: epoch {record.epoch} of {self._steps}, {said}", _LONG_QUIET_SECONDS)

    def on_stage_end(self, stage: str) -> None:
        """Fill the bar, also if a search stopped early."""
        if self._stage is not None:
            done = self.tasks[self.task_ids.index(self._stage)].completed
            self.update(self._stage, total=done)
        self._log(f"stage {stage}: {counted(self._done, 'epoch')}", _QUIET_SECONDS)

    def on_round(self, report: RoundReport) -> None:
        """Print a line above the bars."""
        if self.disable:
            found = f"{report.active} active, {report.misleading} misleading words"
            self._log(f"round {report.iteration}: {found}", _QUIET_SECONDS)
            return
        self.console.print(
            f"mining {report.iteration}: {report.active} active, {report.misleading} misleading words; right on "
            f"{report.accuracy:.1%} of train, mean entropy {report.mean_entropy:.2f} bits, "
            f"a word from {report.open_share:.1%} of the sentences",
            highlight=False,
        )


class CellsProgress(StderrProgress):
    """Progress of cells: a bar in a terminal, elsewhere a line once a minute."""

    def __init__(self) -> None:
        super().__init__("cells", MofNCompleteColumn(), TimeElapsedColumn())
        self._cells = self.add_task("cells", total=None, said="")
        self._began = time.monotonic()
        self._counts = (0, 0)
        self._over = threading.Event()

    def start(self) -> None:
        """Start the bar, or a thread that prints lines."""
        super().start()
        if self.disable:
            threading.Thread(target=self._log_regularly, daemon=True).start()

    def stop(self) -> None:
        """Stop both."""
        self._over.set()
        super().stop()

    def __call__(self, done: int, total: int, name: str) -> None:
        """Note that a cell is done or, with `done` 0, that the first starts."""
        spent = time.monotonic() - self._began
        self._counts = (done, total)
        left = f"{_clock(spent / done * (total - done))} left" if done else ""
        self.update(self._cells, completed=done, total=total, said=f"{left}  {name}".strip())
        if done:
            self._log(f"{done}/{total} cells, {_clock(spent)} elapsed, {left}; last {name}", _LONG_QUIET_SECONDS)
        elif total:
            self._log(f"{counted(total, 'cell')} to do", 0)

    def _log_regularly(self) -> None:
        """Print a line once a minute, also while a cell takes long."""
        while not self._over.wait(_LONG_QUIET_SECONDS):
            done, total = self._counts
            if total:
                spent = _clock(time.monotonic() - self._began)
                self._log(f"{done}/{total} cells, {spent} elapsed", _LONG_QUIET_SECONDS)


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
