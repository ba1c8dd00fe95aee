"""What a person at a terminal sees of a training: a bar per stage. Piped output stays quiet."""

from __future__ import annotations

import sys
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from pssa.data.evidence import RoundReport
from pssa.training import EpochRecord

__all__ = ["ProgressBars"]


class ProgressBars:
    """An observer that draws bars on standard error; a context manager, since the terminal must be left tidy."""

    def __init__(self) -> None:
        self._progress = Progress(
            TextColumn("{task.description:<10}"),
            BarColumn(bar_width=28),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[said]}"),
            console=Console(stderr=True),
            disable=not sys.stderr.isatty(),
        )
        self._task: TaskID | None = None
        self._vectors: TaskID | None = None

    def __enter__(self) -> ProgressBars:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def on_vectors(self, read: int, total: int) -> None:
        """Bytes of the vector file."""
        if self._vectors is None:
            self._vectors = self._progress.add_task("vectors", total=total >> 20, said="MiB")
        self._progress.update(self._vectors, completed=read >> 20)

    def on_stage(self, stage: str, steps: int) -> None:
        """A new bar."""
        self._task = self._progress.add_task(stage, total=steps, said="")

    def on_epoch(self, record: EpochRecord) -> None:
        """One step of the bar."""
        said = f"loss {record.loss:.3f}"
        if record.dev_macro_f1 is not None:
            said += f"  held-out macro-F1 {record.dev_macro_f1:.3f}"
        if self._task is not None:
            self._progress.update(self._task, completed=record.epoch, said=said)

    def on_stage_end(self, stage: str) -> None:
        """The bar is full, also where a search stopped early."""
        if self._task is not None:
            done = self._progress.tasks[self._progress.task_ids.index(self._task)].completed
            self._progress.update(self._task, total=done)

    def on_round(self, report: RoundReport) -> None:
        """A line above the bars."""
        if self._progress.disable:
            return
        self._progress.console.print(
            f"mining {report.iteration}: {report.active} active, {report.misleading} misleading words; right on "
            f"{report.accuracy:.1%} of train, mean entropy {report.mean_entropy:.2f} bits, "
            f"a word from {report.open_share:.1%} of the sentences",
            highlight=False,
        )
