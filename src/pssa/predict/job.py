"""Jobs: rows of some inputs, scored by a run, into one output.

Whatever the engine, the windows and what is written of them are the same. The output appears under its name when it is complete.
`find_aspects` is a job like that of `predict`, whose output has a row for each aspect found.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from pssa.aspects.find import FIND_ADVICE, open_tagger
from pssa.data.fields import has_aspect
from pssa.data.io import ON_ERRORS, check_encoding
from pssa.data.rows import ColumnNames, Columns, Row
from pssa.data.validation import format_error
from pssa.errors import InputError, PssaWarning, RunError, setting
from pssa.execution import WorkerLost
from pssa.predict.engines import Engine, LocalEngine, ScoringTask
from pssa.predict.finding import FindingOptions
from pssa.predict.fingerprint import BEGIN_AGAIN, REPLACE, RESUME, job_fingerprint
from pssa.predict.output import Output, PartialOutput, open_standard_output
from pssa.predict.output_format import OutputFormat, choose_output_format
from pssa.predict.rows import OutputFields, Summary
from pssa.predict.scorer import Scoring
from pssa.predict.source import STANDARD, Source, find_csv_style, find_sources, require_apart, require_unchanged
from pssa.predict.window import Window
from pssa.runs.answers import UNCERTAIN
from pssa.runs.calibration import Calibration, choose_threshold
from pssa.runs.directory import RunDirectory
from pssa.runs.input_profile import FILE as PROFILE
from pssa.runs.loading import describe_run, finds_aspects, is_joint, runtime_kind
from pssa.runs.run_names import has_starter, lend_starter, resolve_run

BEGINNINGS = ("new", "resume", "replace")
_EXPORTED_ROWS = 512  # of a window: all cores have one
_TAGGER_ROWS, _ENCODER_TAGGER_ROWS = 512, 128  # of a window in which aspects are found
_FOUND_SHARE = 4  # windows of raw texts are so many times smaller
_EXPLAINED_SHARE = 4  # windows with word scores are so many times smaller
_SKIP = setting("errors", "skip")


@dataclass(frozen=True)
class Job:
    """What to score, and where to write it.

    :raises InputError: for values that contradict each other.
    """

    run: Path
    inputs: tuple[str, ...]  # files, patterns, or - for standard input
    output: str  # a file, or - for standard output
    format: str | None = None  # of the inputs, if it is not recognised
    columns: ColumnNames | Columns | None = None  # of the inputs, if they have other names
    encoding: str | None = None  # of the inputs, if they are text and not UTF-8
    output_format: str | None = None  # if the output's suffix does not decide it
    escape_formulas: bool = False  # in CSV, for spreadsheets
    errors: str = "fail"  # on invalid rows; or "skip" them
    rejected: str | None = None  # the file of skipped rows; None: the output's name and .rejected.jsonl
    begin: str = "new"  # or "resume" an unfinished job, or "replace" what exists
    scoring: Scoring = field(default_factory=Scoring)
    finding: FindingOptions = field(default_factory=FindingOptions)  # of the aspects of rows that have none

    def __post_init__(self) -> None:
        if self.errors not in ON_ERRORS:
            raise InputError(f"{setting('errors')} is {self.errors!r}; it can be {' or '.join(ON_ERRORS)}")
        check_encoding(self.encoding)
        if self.begin not in BEGINNINGS:
            raise InputError(f"begin is {self.begin!r}; it can be {', '.join(BEGINNINGS)}")
        if self.output == STANDARD and self.begin == "resume":
            raise InputError(f"a job to standard output cannot be resumed; name a file with {setting('output')}")
        if self.output == STANDARD and self.errors == "skip" and self.rejected is None:
            raise InputError(f"skipped rows need a file of their own; name one with {setting('rejected')}")

    @property
    def output_title(self) -> str:
        """What people call the output."""
        return "standard output" if self.output == STANDARD else self.output

    @property
    def rejected_path(self) -> Path:
        """The file of rejected rows."""
        return Path(self.rejected or f"{self.output}.rejected.jsonl")


@dataclass(frozen=True)
class Progress:
    """How far a job is."""

    rows: int
    rejected: int
    read: int  # bytes of the inputs
    total: int  # bytes of all inputs; 0 if unknown


Observer = Callable[[Progress], None]
Finish = Callable[[PartialOutput, Path], None]  # writes a file of its own from the rows of a job


def predict(job: Job, engine: Engine, observer: Observer | None = None, finish: Finish | None = None) -> Summary:
    """Carry out a job.

    :param observer: is called with the progress after each window.
    :param finish: is called when every row is scored, and writes what the job leaves in place of the rows, which are JSON Lines
        with gzip.
    :raises InputError: for what cannot be read, scored or written; the message names a row by its line.
    """
    root = RunDirectory.open(job.run).root
    _, labels = describe_run(root)
    job = replace(job, run=root, scoring=scoring_of_run(root, job.scoring))
    if job.scoring.abstains:  # refused before anything is written
        choose_threshold(Calibration.load(root), job.scoring.abstain, job.scoring.abstain_risk)
    columns = Columns.of(job.columns)
    if not (job.finding.finds or finds_aspects(root)) and has_starter() and _lacks_aspects(job):
        job = replace(job, finding=replace(job.finding, tagger=lend_starter()))
    finding = job.finding.resolve(root, columns)
    if finding is not None:
        job = replace(job, finding=finding, columns=replace(columns, text_only=True))
    else:
        job = replace(job, columns=replace(columns, advice=FIND_ADVICE))

    fields = OutputFields(finding, saliency=job.scoring.saliency, has_notes=(root / PROFILE).is_file())
    output_format = _output_format(job, "rows.jsonl.gz" if finish else job.output, labels)
    summary = _carry_out(job, engine, fields, output_format, observer, finish)
    if job.scoring.abstains:
        labels = (*labels, UNCERTAIN)
    return replace(summary, labels={label: summary.labels.get(label, 0) for label in labels})


def _lacks_aspects(job: Job) -> bool:
    """Return whether the first row of the inputs has a text and no aspect; False where it can be read only once."""
    sources = find_sources(job.inputs, job.format, replace(Columns.of(job.columns), text_only=True), job.encoding)
    for source in sources:
        if source.is_stream:
            return False
        rows = (event for event in source.events() if isinstance(event, Row))
        if (row := next(rows, None)) is not None:
            return bool(row.fields.get("text")) and not has_aspect(row.fields)
    return False


def find_aspects(job: Job, observer: Observer | None = None) -> Summary:
    """Carry out a job whose run is a tagger, or finds aspects, in threads of this process.

    A row of the output has the input's own columns and `aspect`, `from` and `to`, so that `predict` can label it. A text without
    aspects has no row and is counted.

    :param observer: is called with the progress after each window.
    :raises InputError: for what cannot be read or written; the message names a row by its line.
    """
    root = resolve_run(job.run)
    root = root if is_joint(root) else open_tagger(root).root
    # Whatever aspects a row has, all of its text is read.
    job = replace(job, run=root, columns=replace(Columns.of(job.columns), text_only=True))
    fields = OutputFields(FindingOptions(root), is_scored=False)
    return _carry_out(job, LocalEngine(), fields, _output_format(job, job.output), observer)


def scoring_of_run(run: Path, scoring: Scoring) -> Scoring:
    """Return how a run is scored: one that was exported on the CPU, without a look at what torch finds."""
    return replace(scoring, device="cpu") if runtime_kind(run) == "onnx" else scoring


def _output_format(job: Job, output: str, labels: tuple[str, ...] = ()) -> OutputFormat:
    return replace(choose_output_format(output, job.output_format, labels), escape_formulas=job.escape_formulas)


def _carry_out(
    job: Job,
    engine: Engine,
    fields: OutputFields,
    output_format: OutputFormat,
    observer: Observer | None = None,
    finish: Finish | None = None,
) -> Summary:
    """Let the engine work on all inputs, and write the output."""
    to_file = job.output != STANDARD
    sources = find_sources(job.inputs, job.format, job.columns, job.encoding)
    style = find_csv_style(sources)
    output_format = output_format.styled(replace(style, has_bom=style.has_bom and to_file))
    if job.begin == "resume" and (streams := [source.title for source in sources if source.is_stream]):
        raise InputError(f"{streams[0]} cannot be read again, so the job cannot be resumed; read from a file")
    require_apart(sources, Path(job.output) if to_file else None, job.rejected_path)
    partial_output = PartialOutput(
        format=output_format, output=_follow(Path(job.output)), rejected=_follow(job.rejected_path), begin=job.begin
    )
    with _warn_once():
        job = replace(job, scoring=engine.resolve(job.scoring))
        rejected = partial_output.rejected if job.errors == "skip" else None
        with (
            partial_output.opened(job_fingerprint(job, sources))
            if to_file
            else open_standard_output(output_format, rejected, job.begin) as output,
            _resume_hints(output),
        ):
            if partial_output.is_settled:
                found = f"{job.output} exists and there is no unfinished job; nothing was done"
                advice = f"it may come from another job: {REPLACE} scores the rows again"
                warnings.warn(PssaWarning(f"{found}; {advice}"), stacklevel=3)
                return Summary(existed=True)
            if sources and not output.is_complete:
                n_rows, begun = _window_rows(job, fields), (output.position, output.columns)
                task = ScoringTask(job.run, job.scoring, sources, n_rows, output_format, fields, *begun)
                with closing(engine.results(task)) as results:
                    _write(job, sources, results, output, observer)
                require_unchanged(sources)
            if finish:
                partial_output.publish(partial(finish, partial_output))
            else:
                output.publish()
    if not output.summary.rows:
        why = "the input has none"
        if output.summary.texts:
            why = f"no aspect was found in {output.summary.texts} texts"
        elif output.summary.rejected:
            why = f"all {output.summary.rejected} are invalid; {job.rejected_path} says why"
        warnings.warn(PssaWarning(f"{job.output_title} has no rows: {why}"), stacklevel=3)
    return output.summary


def default_window_rows(model: str, device: str) -> int:
    """Return how many rows a window has; on a CPU few enough for all cores to have one."""
    from pssa import models

    if device != "cpu":
        return 4096
    return 512 if models.uses_encoder(model) else 2048


def _window_rows(job: Job, fields: OutputFields) -> int:
    """Return how many rows a window has, at most."""
    if not fields.is_scored:
        return _ENCODER_TAGGER_ROWS if (job.run / "encoder").is_dir() or is_joint(job.run) else _TAGGER_ROWS
    model, _ = describe_run(job.run)
    n_rows = _EXPORTED_ROWS if is_joint(job.run) else default_window_rows(model, job.scoring.chosen_device)
    if fields.finding is not None:  # a row becomes several
        n_rows = -(-n_rows // _FOUND_SHARE)
    # Some saliencies run a model dozens of times for a row; nobody should wait long for the next window.
    return n_rows if fields.saliency is None else -(-n_rows // _EXPLAINED_SHARE)


def _write(
    job: Job, sources: Sequence[Source], results: Iterable[Window], output: Output, observer: Observer | None
) -> None:
    """Write every result; a disk may take its time while the next is computed.

    :raises InputError: for what could not be read or written and, unless such rows are skipped, for the first rejected row.
    """
    sizes = [source.size for source in sources]
    total = sum(sizes) if all(sizes) else 0

    def report() -> None:
        if observer is not None:
            read = sum(sizes[: output.position[0]]) + output.read
            observer(Progress(output.summary.rows, output.summary.rejected, read, total))

    report()
    with ThreadPoolExecutor(1, "writer") as writer:
        written: Future[None] | None = None
        for result in results:
            if written is not None:
                written.result()
                report()
            for text in result.warnings:
                warnings.warn(PssaWarning(text), stacklevel=2)
            if result.fault:
                again = f"{_kept_rows(output)} once the same inputs can be read; with others {BEGIN_AGAIN}"
                raise InputError(f"{result.fault}; {again}" if output.n_kept else result.fault)
            fitted = output.fit(result)
            if fitted.first_rejected and job.errors == "fail":
                advice = f"{_SKIP} leaves such rows out"
                if output.n_kept:
                    advice = f"{_kept_rows(output)} and {_SKIP}"
                elif STANDARD in job.inputs and not job.format:
                    advice = (
                        f"name the format of standard input with {setting('format')} if it is not JSON Lines; {advice}"
                    )
                raise InputError(f"{fitted.first_rejected}; {advice}")
            written = writer.submit(output.append, fitted)
        if written is not None:
            written.result()
            report()


def _kept_rows(output: Output) -> str:
    return f"the {output.n_kept} rows before are kept: resume with {RESUME}"


def _follow(path: Path) -> Path:
    """Return the file that a symbolic link means, which need not exist yet; any other path as it is."""
    meant = Path(os.path.realpath(path)) if path.is_symlink() else path
    return meant if meant.is_file() or not path.exists() else path


@contextmanager
def _resume_hints(output: Output) -> Generator[None]:
    """Add to the error that ends a job what is kept, and how to resume it."""
    try:
        yield
    except KeyboardInterrupt as end:
        if output.n_kept:
            raise KeyboardInterrupt(RunError(_kept_rows(output))) from end
        raise
    except (OSError, WorkerLost, MemoryError, RuntimeError) as end:
        torch = sys.modules.get("torch")  # which has an error of its own
        if isinstance(end, (MemoryError, torch.OutOfMemoryError) if torch else MemoryError):
            reason = f"there is not enough memory ({format_error(end)}); set a smaller {setting('batch_size')}"
            raise RunError(f"{reason}; {_kept_rows(output)}" if output.n_kept else reason) from end
        if isinstance(end, RuntimeError):
            raise
        reason = end.message if isinstance(end, WorkerLost) else str(end)
        if isinstance(end, OSError) and end.filename:  # Python would begin with the error's number
            reason = f"{end.filename}: {end.strerror}"
        if output.n_kept:
            raise RunError(f"{reason}; {_kept_rows(output)}") from end
        if isinstance(end, OSError) and output.is_removed:
            raise RunError(f"{reason}; somebody has removed the unfinished job, and no row is kept") from end
        raise


@contextmanager
def _warn_once() -> Iterator[None]:
    """Show a warning once that every window gives, each with its own number of rows."""
    seen: set[str] = set()
    with warnings.catch_warnings():
        show = warnings.showwarning

        def show_once(message: Any, *details: Any, **more: Any) -> None:
            kind = re.sub(r"\d+", "", str(message))
            if kind not in seen:
                seen.add(kind)
                show(message, *details, **more)

        warnings.showwarning = show_once
        yield
