"""Progress of a training: bars in a terminal, a block in a notebook, lines in a log, at least every ten seconds.

`pssa.train` shows a training by itself in terminals and notebooks; commands also write lines where there is no terminal.
"""

from __future__ import annotations

import html
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self

from rich.progress import TaskID, TextColumn

from pssa.data.evidence import RoundReport
from pssa.display import percent
from pssa.progress import QUIET_SECONDS, SHORT_SECONDS, Heartbeat, StderrProgress, clock
from pssa.training.checkpoint import EpochRecord
from pssa.training.observers import Observer, ObserverGroup
from pssa.training.parallel import Team

_DRAW_SECONDS = 0.2  # least time between two updates of a display
_N_LINES = 8  # of finished stages that a notebook keeps in sight


def _short_clock(seconds: float) -> str:
    return clock(seconds).removeprefix("0:")


@dataclass
class StageProgress:
    """How far a stage is, for every display."""

    name: str
    epochs: int  # at most
    epoch: int = 0  # epochs that are done
    step: int = 0  # steps that are done, of all epochs
    steps: int = 0  # at most; 0: not known yet
    status: str = ""  # loss and held-out score of the last epoch
    began: float = field(default_factory=lambda: time.monotonic())
    first: int | None = None  # steps that an earlier session did
    ended: float | None = None

    @property
    def seconds(self) -> float:
        """Time since the stage began, or the whole of its time."""
        return (self.ended or time.monotonic()) - self.began

    @property
    def seconds_left(self) -> float | None:
        """Time that the rest of the stage takes at the speed so far; None before the first step."""
        done = self.step - (self.first or 0)
        return self.seconds / done * (self.steps - self.step) if done > 0 and self.steps else None

    def advance(self, step: int, steps: int) -> None:
        """Note the steps that are done, and how many there are at most."""
        self.first = step if self.first is None else self.first
        self.step, self.steps = step, steps

    def end_epoch(self, record: EpochRecord, score: str) -> None:
        """Note an epoch that is done."""
        self.epoch = record.epoch
        self.status = f"loss {record.loss:.3f}"
        if record.dev_macro_f1 is not None:
            self.status += f", held-out {score} {percent(record.dev_macro_f1)}"

    def describe(self) -> str:
        """Return one line about the stage."""
        if self.ended is not None:
            epochs = "1 epoch" if self.epoch == 1 else f"{self.epoch} epochs"
            return ", ".join(filter(None, [f"stage {self.name}: {epochs}", self.status, clock(self.seconds)]))
        parts = [f"stage {self.name}: epoch {min(self.epoch + 1, self.epochs)} of {self.epochs}"]
        parts += [f"step {self.step} of {self.steps}"] if self.steps else []
        parts += [self.status] if self.status else []
        parts += [f"{clock(self.seconds)} elapsed"]
        left = self.seconds_left
        return ", ".join([*parts, *([f"{clock(left)} left"] if left is not None else [])])


class _StageDisplay(Observer, ABC):
    """What displays of a training share: the stage that they show, and how often they draw."""

    def __init__(self, score: str, *columns: Any) -> None:
        """Give what the held-out score is called."""
        super().__init__(*columns)
        self._score = score
        self._stage: StageProgress | None = None
        self._drawn = 0.0
        self._began = time.monotonic()

    def on_step(self, step: int, steps: int) -> None:
        """Advance the stage by a step."""
        if self._stage is None:
            return
        self._stage.advance(step, steps)
        if (now := time.monotonic()) - self._drawn >= _DRAW_SECONDS:
            self._drawn = now
            self._draw()

    def on_epoch(self, record: EpochRecord) -> None:
        """Show the loss and the held-out score."""
        if self._stage is not None:
            self._stage.end_epoch(record, self._score)
            self._draw()

    @abstractmethod
    def _draw(self) -> None:
        """Show the stage as it is now."""


class TrainingProgress(_StageDisplay, StderrProgress):
    """An observer that draws bars or prints lines."""

    def __init__(self, score: str = "macro-F1") -> None:
        """Give what the held-out score is called."""
        # The time that the rest of a stage takes at most or, once it is done, that it took.
        columns = TextColumn("{task.fields[count]}"), TextColumn("{task.fields[time]}", "progress.remaining")
        super().__init__(score, "{task.description:<10}", *columns)
        self._bar: TaskID | None = None
        self._vectors: TaskID | None = None

    def on_vectors(self, read: int, total: int) -> None:
        """Show how many bytes of the vector file are read."""
        if self._vectors is None:
            self._vectors = self.add_task("vectors", total=total, status="", count="", time="")
        self.update(self._vectors, completed=read, count=f"{read >> 20}/{total >> 20}", status="MiB")

    def on_stage(self, stage: str, steps: int) -> None:
        """Add a bar."""
        self._stage = StageProgress(stage, steps)
        self._bar = self.add_task(stage, total=steps, status="", count=f"0/{steps}", time="")

    def on_stage_end(self, stage: str) -> None:
        """Fill the bar, also if a search stopped early."""
        if self._stage is None or self._bar is None:
            return
        self._stage.ended = time.monotonic()
        self._draw()
        done = self.tasks[self.task_ids.index(self._bar)].completed
        self.update(self._bar, total=done, time=_short_clock(self._stage.seconds))
        self.write_line(self._stage.describe(), SHORT_SECONDS)

    def on_round(self, report: RoundReport) -> None:
        """Print a line above the bars."""
        if self.disable:
            found = f"{report.active} active, {report.misleading} misleading words"
            self.write_line(f"round {report.iteration}: {found}", SHORT_SECONDS)
            return
        self.console.print(describe_round(report), highlight=False)

    def describe(self) -> str:
        """Return how far the training is: within a stage, between two, or before the first."""
        stage, now = self._stage, time.monotonic()
        if stage is None:
            return f"preparing the data, {clock(now - self._began)} so far"
        if stage.ended is not None:
            return f"stage {stage.name} is done; at work on the next step for {clock(now - stage.ended)}"
        return stage.describe()

    def _draw(self) -> None:
        stage = self._stage
        if stage is None or self._bar is None or self.disable:
            return
        done, total = (stage.step, stage.steps) if stage.steps else (stage.epoch, stage.epochs)
        if stage.steps and stage.epoch == stage.epochs:
            done = total
        left = stage.seconds_left
        time_left, count = "" if left is None else f"{_short_clock(left)} left", f"{stage.epoch}/{stage.epochs}"
        self.update(self._bar, completed=done, total=total, time=time_left, count=count, status=stage.status)


class NotebookProgress(_StageDisplay):
    """An observer that keeps one block of a notebook's output up to date."""

    def __init__(self, score: str = "macro-F1") -> None:
        super().__init__(score)
        self._done: list[str] = []
        self._handle: Any = None
        self._heart = Heartbeat(self._draw, QUIET_SECONDS / 2)

    def __enter__(self) -> Self:
        from IPython.display import display

        self._handle = display({"text/plain": "", "text/html": ""}, raw=True, display_id=True)
        self._heart.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        self._heart.stop()
        if self._stage is not None and self._stage.ended is None:
            self._done.append(self._stage.describe())
        self._stage = None
        self._done.append(f"{'done' if kind is None else 'stopped'} after {clock(time.monotonic() - self._began)}")
        self._draw()

    def on_stage(self, stage: str, steps: int) -> None:
        """Show a new stage."""
        self._stage = StageProgress(stage, steps)
        self._draw()

    def on_stage_end(self, stage: str) -> None:
        """Keep a line about the stage."""
        if self._stage is not None:
            self._stage.ended = time.monotonic()
            self._done.append(self._stage.describe())
            self._stage = None

    def on_round(self, report: RoundReport) -> None:
        """Keep a line about the round."""
        self._done.append(describe_round(report))

    def _draw(self) -> None:
        stage = self._stage
        lines = self._done[-_N_LINES:]
        if len(self._done) > _N_LINES:
            lines = [f"{len(self._done) - _N_LINES} more before", *lines]
        bar = ""
        if stage is not None:
            share = f' value="{stage.step}" max="{stage.steps}"' if stage.steps else ""
            bar = f"<progress{share} style='width: 14rem'></progress>"
            lines = [*lines, stage.describe()]
        page = "<br>".join(map(html.escape, lines)) + (f"<br>{bar}" if bar else "")
        if self._handle is not None:
            self._handle.update({"text/plain": "\n".join(lines), "text/html": page}, raw=True)


def describe_round(report: RoundReport) -> str:
    """Return one line about a round of mining."""
    return (
        f"mining {report.iteration}: {report.active} active, {report.misleading} misleading words; right on "
        f"{percent(report.accuracy)} of train, mean entropy {report.mean_entropy:.2f} bits, "
        f"a word from {percent(report.open_share)} of the sentences"
    )


def is_notebook() -> bool:
    """Whether this code runs in a notebook, whose kernel can show a block of HTML."""
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    return hasattr(get_ipython(), "kernel")


@contextmanager
def show_training(observer: Observer | None, progress: bool | None) -> Iterator[Observer]:
    """Show a training while it runs; yield the observer that the training calls, which hears nothing but in the main process.

    :param progress: None: show it in a terminal or a notebook; True: write lines where there is neither; False: show nothing.
    """
    if not Team.from_environment().is_main:
        yield Observer()
        return
    display: TrainingProgress | NotebookProgress | None = None
    if progress is not False:
        if is_notebook():
            display = NotebookProgress()
        elif progress or sys.stderr.isatty():
            display = TrainingProgress()
    if display is None:
        yield observer or Observer()
        return
    with display:
        yield ObserverGroup((observer, display) if observer else (display,))
