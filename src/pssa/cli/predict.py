"""`pssa predict`: label every row of files, in order, in bounded memory."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pssa.cli._options import (
    FINDING,
    add_job,
    add_run,
    add_shared,
    finding_options,
    job_progress,
    job_settings,
    print_job,
    set_row_defaults,
)
from pssa.cli._output import counted
from pssa.cli._parser import Commands, add_command, option
from pssa.errors import InputError

if TYPE_CHECKING:
    from pssa.predict import Engine, Job, Summary


def add_parser(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(commands, "predict", "label the rows of files of any size", run)
    add_run(parser)
    add_job(parser)
    option(parser, "--escape-formulas", "escape CSV cells that a spreadsheet would compute")
    option(parser, "--explain SALIENCY", "add word scores by this saliency (default: by model)", nargs="?", const="")
    finding = parser.add_argument_group("rows without aspects")
    add_shared(finding, *FINDING)
    option(finding, "--keep-empty", "write a row without label for a text without aspects")
    option(finding, "--min-score X", "least score of an aspect that is found")
    option(finding, "--mentions", "label aspects that are named without an opinion too")
    group = parser.add_argument_group("scoring")
    add_shared(group, "abstain", "abstain_risk")
    option(group, "--batch-size N", "sentences in one step (default: by model and device)")
    add_shared(group, "device")
    precision = "float32, or bfloat16 for encoders (default auto: bfloat16 where the device computes it)"
    option(group, "--precision NAME", precision, default="auto")
    workers = "processes, or models in a Ray cluster (default: threads; in a cluster one per CPU, or four per GPU)"
    option(group, "--workers N", workers)
    option(group, "--engine NAME", "local, or ray for a Ray cluster", "local")


def run(arguments: argparse.Namespace) -> None:
    """Label every row of one or more files of any size, in order and in bounded memory. A row without an aspect
    becomes one row for each aspect found in its text.

    pssa predict runs/reviews --input new.csv --output labelled.csv
    pssa predict runs/reviews --input 'parts/*.gz' --output all.csv --errors skip
    pssa predict runs/reviews --input raw.csv --output out.csv --aspects food,"front desk",wifi
    """
    from pssa.predict import Job, Scoring, predict

    set_row_defaults(arguments, arguments.input)
    names = ("batch_size", "device", "precision", "abstain", "abstain_risk")
    job = Job(
        run=arguments.run_path,
        **job_settings(arguments),
        escape_formulas=arguments.escape_formulas,
        scoring=Scoring(saliency=arguments.explain, **{name: getattr(arguments, name) for name in names}),
        finding=finding_options(arguments),
    )
    engine = _engine(arguments)
    with job_progress("predict", job) as observer:
        summary = predict(job, engine, observer)
    print_job(job, summary, summary.as_dict(), _summary_lines(job, summary), as_json=arguments.json)


def _engine(arguments: argparse.Namespace) -> Engine:
    from pssa.predict import LocalEngine, ProcessEngine, RayEngine

    if arguments.engine not in ("local", "ray"):
        raise InputError(f"--engine is {arguments.engine!r}; it can be local or ray")
    if arguments.engine == "ray":
        return RayEngine(actors=arguments.workers)
    return LocalEngine(has_helpers=True) if arguments.workers is None else ProcessEngine(arguments.workers)


def _summary_lines(job: Job, summary: Summary) -> Iterator[str]:
    from pssa.predict.rows import describe_rejection

    # A colon, because labels may be numbers too.
    counts = ", ".join(f"{label}: {count}" for label, count in summary.labels.items())
    yield f"{job.output_title}: {counted(summary.rows, 'row')} ({counts})"
    if summary.texts:
        without = "1 has none" if summary.empty == 1 else f"{summary.empty} have none"
        yield f"aspects were looked for in {counted(summary.texts, 'text')}; {without}"
    if summary.ambiguous:
        subject = "1 aspect occurs" if summary.ambiguous == 1 else f"{summary.ambiguous} aspects occur"
        yield f"{subject} several times in the text; the first occurrence was taken"
    for kind, count in sorted(summary.notes.items(), key=lambda note: -note[1]):
        yield f"{counted(count, 'row')} unlike the training data: {kind}"
    if summary.rejected:
        subject = "1 row was" if summary.rejected == 1 else f"{summary.rejected} rows were"
        with job.rejected_path.open("rb") as file:
            yield f"{job.rejected_path}: {subject} skipped; the first: {describe_rejection(file.readline())}"
