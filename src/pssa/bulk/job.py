"""A job: rows of some inputs, scored by a run, into one output; and what passes between those who carry it out."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from pssa.bulk.advice import OUTPUT, REJECTED
from pssa.bulk.journal import Journal
from pssa.bulk.output_format import OutputFormat
from pssa.bulk.scorer import Scoring
from pssa.bulk.source import STANDARD
from pssa.bulk.window import Position, Reading
from pssa.bulk.work import Result
from pssa.data.read import ColumnNames
from pssa.errors import InputError

__all__ = ["Engine", "Job", "Observer", "Progress", "Sink", "Summary", "Task"]

_ERRORS = ("fail", "skip")
_BEGINNINGS = ("new", "resume", "replace")


@dataclass(frozen=True)
class Job:
    """What is asked for.

    :raises InputError: for values that cannot be.
    """

    run: Path
    inputs: tuple[str, ...]  # files, patterns, or - for standard input
    output: str  # a file, or - for standard output
    format: str | None = None  # of the inputs, where it is not recognised
    columns: ColumnNames | None = None  # of the inputs, where they have names of their own
    output_format: str | None = None  # where the output's name does not say it
    errors: str = "fail"  # at a row that cannot be used; or "skip" it
    rejected: str | None = None  # the file of skipped rows; None: the output's name and .rejected.jsonl
    begin: str = "new"  # or "resume" where it was left, or "replace" what is there
    scoring: Scoring = field(default_factory=Scoring)

    def __post_init__(self) -> None:
        if self.errors not in _ERRORS:
            raise InputError(f"errors is {self.errors!r}; it can be {' or '.join(_ERRORS)}")
        if self.begin not in _BEGINNINGS:
            raise InputError(f"begin is {self.begin!r}; it can be {', '.join(_BEGINNINGS)}")
        if self.output == STANDARD and self.begin == "resume":
            raise InputError(f"what went to standard output cannot be gone on with; name a file with {OUTPUT}")
        if self.output == STANDARD and self.errors == "skip" and self.rejected is None:
            raise InputError(f"standard output has no file of rejected rows beside it; name one with {REJECTED}")

    @property
    def side(self) -> Path:
        """The file of rejected rows."""
        return Path(self.rejected or f"{self.output}.rejected.jsonl")


@dataclass(frozen=True)
class Summary:
    """What was scored."""

    rows: int
    labels: dict[str, int]  # how often each was predicted
    ambiguous: int  # rows whose aspect occurs several times in the text; the first was taken
    rejected: int = 0  # rows that were skipped
    existed: bool = False  # the output of a job to be resumed was there, and nothing was done

    def as_dict(self) -> dict[str, Any]:
        """The counts as plain values, for JSON."""
        values = asdict(self)
        del values["existed"]
        return values


@dataclass(frozen=True)
class Progress:
    """How far a job is."""

    rows: int
    rejected: int
    read: int  # bytes of the inputs
    total: int  # bytes of all of them; 0 where nobody knows


Observer = Callable[[Progress], None]


@dataclass(frozen=True)
class Task:
    """What an engine has to do: score the rows after `start`."""

    run: Path
    scoring: Scoring
    reading: Reading
    form: OutputFormat
    start: Position
    columns: tuple[str, ...]  # of the output, where rows were written before


class Engine(Protocol):
    """Who scores."""

    def resolve(self, scoring: Scoring) -> Scoring:
        """The same, with the device that will be used."""
        ...

    def results(self, task: Task) -> Generator[Result]:
        """What becomes of each window, in their order; closing it ends the work."""
        ...


class Sink(Protocol):
    """Where results go."""

    journal: Journal

    @property
    def kept(self) -> int:
        """Rows after which another job can go on."""
        ...

    def fitted(self, result: Result) -> Result:
        """The window, with those rows rejected that cannot stand beside the ones before."""
        ...

    def append(self, result: Result) -> None:
        """Write a window."""
        ...

    def finish(self) -> None:
        """All windows are written."""
        ...
