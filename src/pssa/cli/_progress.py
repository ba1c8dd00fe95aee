"""Progress of a training on standard error: bars in a terminal, elsewhere a line now and then."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from pssa.cli._output import counted

if TYPE_CHECKING:
    from pssa.data.evidence import Evidence, RoundReport
    from pssa.training import EpochRecord

# Least time between two lines: at the end of a stage or a round, and within a stage.
_QUIET_SECONDS = 5.0
_QUIET_SECONDS_OF_EPOCHS = 60.0


def make_progress(label: str) -> Progress:
    """Return progress bars on standard error, disabled if that is no terminal.

    :param label: text before each bar, with `{task.description}` for the bar's name.
    """
    return Progress(
        TextColumn(label),
        BarColumn(bar_width=28),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[said]}"),
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
    )


class TrainingProgress:
    """An observer that draws bars or prints lines; a context manager, so that the terminal is left tidy."""

    def __init__(self) -> None:
        self._progress = make_progress("{task.description:<10}")
        self._task: TaskID | None = None
        self._vectors: TaskID | None = None
        self._last_line = time.monotonic()
        self._steps = self._done = 0
        self.result: tuple[dict[str, Any], Evidence | None] | None = None  # of a run that was finished

    def __enter__(self) -> TrainingProgress:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def on_finish(self, metrics: dict[str, Any], evidence: Evidence | None) -> None:
        """Keep the outcome of a run for its summary."""
        self.result = metrics, evidence

    def on_vectors(self, read: int, total: int) -> None:
        """Show how many bytes of the vector file are read."""
        if self._vectors is None:
            self._vectors = self._progress.add_task("vectors", total=total >> 20, said="MiB")
        self._progress.update(self._vectors, completed=read >> 20)

    def on_stage(self, stage: str, steps: int) -> None:
        """Add a bar."""
        self._steps, self._done = steps, 0
        self._task = self._progress.add_task(stage, total=steps, said="")

    def on_epoch(self, record: EpochRecord) -> None:
        """Advance the bar by an epoch."""
        said = f"loss {record.loss:.3f}"
        if record.dev_macro_f1 is not None:
            said += f"  held-out macro-F1 {record.dev_macro_f1:.3f}"
        self._done = record.epoch
        if self._task is not None:
            self._progress.update(self._task, completed=record.epoch, said=said)
        if record.epoch < self._steps:
            self._log(f"stage {record.stage}: epoch {record.epoch} of {self._steps}, {said}", _QUIET_SECONDS_OF_EPOCHS)

    def on_stage_end(self, stage: str) -> None:
        """Fill the bar, also if a search stopped early."""
        if self._task is not None:
            done = self._progress.tasks[self._progress.task_ids.index(self._task)].completed
            self._progress.update(self._task, total=done)
        self._log(f"stage {stage}: {counted(self._done, 'epoch')}", _QUIET_SECONDS)

    def on_round(self, report: RoundReport) -> None:
        """Print a line above the bars."""
        if self._progress.disable:
            found = f"{report.active} active, {report.misleading} misleading words"
            self._log(f"round {report.iteration}: {found}", _QUIET_SECONDS)
            return
        self._progress.console.print(
            f"mining {report.iteration}: {report.active} active, {report.misleading} misleading words; right on "
            f"{report.accuracy:.1%} of train, mean entropy {report.mean_entropy:.2f} bits, "
            f"a word from {report.open_share:.1%} of the sentences",
            highlight=False,
        )

    def _log(self, line: str, least: float) -> None:
        """Print a line if there is no terminal, unless one was printed a moment ago."""
        now = time.monotonic()
        if self._progress.disable and now - self._last_line >= least:
            self._last_line = now
            print(f"pssa: {line}", file=sys.stderr, flush=True)
