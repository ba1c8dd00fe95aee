"""Carrying out a job: results of an engine into a sink, in their order, and a refusal of what cannot be done.

Whatever the engine, windows and what is written of them are the same, and the output appears under its name when it is complete.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

import torch

from pssa.bulk.advice import AGAIN, REPLACE, RESUME, SKIP
from pssa.bulk.asked import asked_of
from pssa.bulk.destination import Destination, followed
from pssa.bulk.engines import score_windows
from pssa.bulk.job import Engine, Job, Observer, Progress, Sink, Summary, Task
from pssa.bulk.output_format import choose_output_format
from pssa.bulk.part import is_settled, opened_part
from pssa.bulk.pipe import opened_pipe
from pssa.bulk.scorer import Scorer, Scoring, by_length, sizes, threads_of
from pssa.bulk.source import STANDARD, Source, find_sources, require_apart, require_unchanged
from pssa.bulk.window import Position, Reading, windows
from pssa.bulk.work import Result
from pssa.data.read import ColumnNames
from pssa.data.validation import format_error
from pssa.errors import InputError, RunError
from pssa.execution import WorkerLost
from pssa.runs import Classifier
from pssa.runs.directory import RunDirectory
from pssa.runs.saved_model import Description

__all__ = ["fill", "predict", "predict_file"]

_NO_MEMORY = (MemoryError, torch.OutOfMemoryError)
_FILE_WINDOW = 2048  # rows of a window of `predict_file`
_EXPLAINED = 4  # windows with word scores are so many times smaller


def predict(job: Job, engine: Engine, observer: Observer | None = None) -> Summary:
    """Carry out a job.

    :param observer: is told how far it is, after each window.
    :raises InputError: for what cannot be read, scored or written; a row is named by its line.
    """
    known = Description.load(RunDirectory.open(job.run).root)
    form = choose_output_format(job.output, job.output_format, known.labels)
    sources = find_sources(job.inputs, job.format, job.columns)
    _check(job, sources)
    destination = Destination(followed(Path(job.output)), followed(job.side), form, job.begin)
    if job.output != STANDARD and is_settled(destination):
        found = f"{job.output} exists and no part of it is unfinished; nothing was done"
        warnings.warn(f"{found}. Whether this job made it is not known: {REPLACE} makes it again", stacklevel=2)
        return Summary(0, dict.fromkeys(known.labels, 0), 0, existed=True)
    with _told_once():
        job = replace(job, scoring=engine.resolve(job.scoring))
        reading = _reading(sources, known.model, job.scoring)
        with _sink(job, destination, reading) as sink, _hinting(job, sink):
            if sources and not sink.journal.complete:
                _check_position(sink.journal.position, len(sources))
                task = Task(job.run, job.scoring, reading, form, sink.journal.position, sink.journal.columns)
                with closing(engine.results(task)) as results:
                    fill(sink, results, job.errors, _reporter(sources, sink, observer))
                require_unchanged(sources)
            sink.finish()
    tally = sink.journal.tally
    if not tally.rows:
        why = f"none of {tally.rejected} can be used, {job.side} says why" if tally.rejected else "the input has none"
        warnings.warn(f"{_shown(job.output)} has no rows: {why}", stacklevel=2)
    labels = {label: tally.labels.get(label, 0) for label in known.labels}
    return Summary(tally.rows, labels, tally.ambiguous, tally.rejected)


def predict_file(
    classifier: Classifier,
    source: Path,
    target: Path,
    *,
    format: str | None = None,
    columns: ColumnNames | None = None,
    batch_size: int = 64,
) -> Summary:
    """Score every row of `source` into `target`; each output row has the input's fields, a label and probabilities.

    A label that the input has already is kept as `gold`.

    :raises InputError: naming the line of the first row that cannot be used; `target` is then not written. Also if
        `source` is `target`, or a job into it was not finished.
    """
    if batch_size < 1:
        raise InputError(f"batch_size is {batch_size}; it must be at least 1")
    reading = Reading(find_sources([str(source)], format, columns), _FILE_WINDOW)
    form = choose_output_format(str(target), None, classifier.labels)
    destination = Destination(followed(target), target.with_name(f"{target.name}.rejected.jsonl"), form, "replace")
    require_apart(reading.sources, target, destination.side)
    score = partial(by_length, partial(classifier.answer, batch_size=batch_size))
    scorer = Scorer(score, threads_of(classifier))
    with opened_part(destination, None) as part, closing(score_windows(windows(reading), scorer, form)) as results:
        fill(part, results, "fail")
        require_unchanged(reading.sources)
        part.finish()
    tally = part.journal.tally
    labels = {label: tally.labels.get(label, 0) for label in classifier.labels}
    return Summary(tally.rows, labels, tally.ambiguous)


def fill(sink: Sink, results: Iterable[Result], errors: str, report: Callable[[], None] | None = None) -> None:
    """Write every result.

    :raises InputError: for what could not be read or written and, where `errors` is "fail", for the first rejected row.
    """
    for result in results:
        for text in result.warnings:
            warnings.warn(text, stacklevel=2)
        if result.fault:
            raise _Fault(result.fault)
        written = sink.fitted(result)
        if written.first_rejected and errors == "fail":
            raise _RejectedRow(written.first_rejected)
        sink.append(written)
        if report is not None:
            report()


class _RejectedRow(InputError):
    """A row that could be skipped."""


class _Fault(InputError):
    """Nothing can be read or scored from here on."""


def _check(job: Job, sources: Sequence[Source]) -> None:
    for source in sources:
        if source.once and job.begin == "resume":
            raise InputError(f"{source.title} cannot be read again, so the job cannot be resumed; read from a file")
    require_apart(sources, None if job.output == STANDARD else Path(job.output), job.side)


def _shown(output: str) -> str:
    return "standard output" if output == STANDARD else output


def _check_position(position: Position, n_sources: int) -> None:
    if position.source >= n_sources:
        raise InputError(f"the journal speaks of input {position.source + 1} of {n_sources}; {AGAIN}")


def _reading(sources: tuple[Source, ...], model: str, scoring: Scoring) -> Reading:
    rows = sizes(model, scoring.chosen_device).window
    if scoring.saliency is None:
        return Reading(sources, rows)
    # Some saliencies run a model dozens of times for a row; nobody should wait long for the next window.
    return Reading(sources, -(-rows // _EXPLAINED), explained=True)


def _sink(job: Job, destination: Destination, reading: Reading) -> AbstractContextManager[Sink]:
    if job.output == STANDARD:
        return opened_pipe(destination.form, destination.side if job.errors == "skip" else None, job.begin)
    return opened_part(destination, asked_of(job, reading))


@contextmanager
def _hinting(job: Job, sink: Sink) -> Generator[None]:
    """Say, where a job ends before its time, that what is done is not lost."""
    try:
        yield
    except (_RejectedRow, _Fault, KeyboardInterrupt, OSError, WorkerLost, *_NO_MEMORY) as end:
        rows = sink.kept
        how = f"{RESUME} and {SKIP}" if isinstance(end, _RejectedRow) else RESUME
        kept = f"the {rows} rows before are kept: go on with {how}"
        if isinstance(end, _NO_MEMORY):
            said = f"there is not enough memory ({format_error(end)}); give a smaller `batch_size` (--batch-size)"
            raise RunError(f"{said}; {kept}" if rows else said) from end
        if not rows and isinstance(end, _RejectedRow):
            other = "say by `format` (--format) what standard input holds if it is no JSON Lines; "
            asked = other if STANDARD in job.inputs and not job.format else ""
            raise InputError(f"{end}; {asked}{SKIP} leaves such rows out") from end
        if not rows and isinstance(end, OSError) and job.output != STANDARD and sink.journal.tally.rows:
            raise RunError(f"{end}; somebody has removed the part and nothing is kept: begin again") from end
        if not rows:
            raise
        if isinstance(end, _Fault):
            again = f"{RESUME} goes on once the same inputs can be read; with others {AGAIN}"
            raise InputError(f"{end}; the {rows} rows before are kept: {again}") from end
        if isinstance(end, KeyboardInterrupt):
            raise KeyboardInterrupt(kept) from end
        kind = InputError if isinstance(end, _RejectedRow) else RunError
        raise kind(f"{end}; {kept}") from end


def _reporter(sources: Iterable[Source], sink: Sink, observer: Observer | None) -> Callable[[], None] | None:
    if observer is None:
        return None
    known = [source.size for source in sources]
    before = [0, *accumulate(known)]

    def report() -> None:
        journal = sink.journal
        read = before[journal.position.source] + journal.read
        observer(Progress(journal.tally.rows, journal.tally.rejected, read, before[-1] if all(known) else 0))

    report()
    return report


@contextmanager
def _told_once() -> Iterator[None]:
    """A warning that every window gives, of its own number of rows, is told once."""
    said: set[str] = set()
    with warnings.catch_warnings():
        tell = warnings.showwarning

        def tell_once(message: Any, *details: Any, **more: Any) -> None:
            kind = re.sub(r"\d+", "", str(message))
            if kind not in said:
                said.add(kind)
                tell(message, *details, **more)

        warnings.showwarning = tell_once
        yield
