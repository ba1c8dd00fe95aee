"""`pssa insights`: a page about what many reviews say."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pssa.cli._jobs import add_begin, add_finding, add_input, begin_mode, finding_options
from pssa.cli._options import add_device, add_format, add_optional_run
from pssa.cli._output import counted, print_json, say
from pssa.cli._parser import Commands, add_command, option
from pssa.cli._run_data import set_row_defaults

if TYPE_CHECKING:
    from pssa.insights.job import InsightsJob, InsightsSummary
    from pssa.progress import StderrProgress


def add_parser(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(commands, "insights", "show what customers like and dislike in many reviews", run)
    add_optional_run(parser)
    add_input(parser, "reviews in any format, also .gz or .zst")
    option(parser, "--out FILE", "HTML page to write", required=True)
    option(parser, "--by COLUMN", "column of groups to compare, such as a branch or a product")
    option(parser, "--date COLUMN", "column of dates, to show changes over time")
    option(parser, "--date-format FORMAT", "format of the dates, such as %%d/%%m/%%Y (default: detected)")
    option(parser, "--table FILE", "CSV to write: a line per aspect group and label")
    option(parser, "--rows FILE", "CSV, JSON Lines or Parquet to write: a line per aspect")
    option(parser, "--groups FILE", "CSV of spellings and groups: read if it exists, else written")
    option(parser, "--held-out FILE", "labelled reviews on which to measure the run's error rates")
    add_begin(parser, "existing files")
    add_device(parser)
    add_format(parser)
    add_finding(parser.add_argument_group("rows without aspects"))


def run(arguments: argparse.Namespace) -> int:
    """Write a self-contained HTML page about reviews: what customers talk about, what they like and dislike, which words
    say so, how sure that is, and how it differs over time and between groups.

    pssa insights --input reviews.csv --out insights.html
    pssa insights runs/reviews --input reviews.csv --columns text=review --by branch --date visited --out insights.html
    pssa insights --input reviews.csv --groups groups.csv --table aspects.csv --rows rows.csv --out insights.html
    """
    from pssa.cli._progress import row_observer
    from pssa.insights.job import make_insights
    from pssa.progress import StderrProgress

    set_row_defaults(arguments, arguments.input)
    job = _job(arguments)
    writes_groups = job.groups is not None and not job.groups.exists()
    with StderrProgress("insights") as bar:
        summary = make_insights(job, None, row_observer(bar), _stepper(bar))
    if arguments.json:
        print_json(summary.as_dict())
    else:
        _print_summary(job, summary)
        if writes_groups:
            say(f"{job.groups}: groups of aspects; edit them, then run the same command with --force")
    return 0


def _job(arguments: argparse.Namespace) -> InsightsJob:
    from pssa.insights.job import InsightsJob
    from pssa.predict import Scoring

    return InsightsJob(
        inputs=tuple(arguments.input),
        out=arguments.out,
        run=arguments.run_path,
        by=arguments.by,
        date=arguments.date,
        date_format=arguments.date_format,
        table=arguments.table,
        rows=arguments.rows,
        groups=arguments.groups,
        held_out=arguments.held_out,
        format=arguments.format,
        columns=arguments.columns,
        encoding=arguments.encoding,
        begin=begin_mode(arguments),
        finding=finding_options(arguments),
        scoring=Scoring(device=arguments.device),
    )


def _stepper(bar: StderrProgress) -> Callable[[str, int], None]:
    """Return a function that shows how many rows a step after scoring has read."""
    task: list[Any] = []

    def step(name: str, n_rows: int) -> None:
        if not task:
            task.append(bar.add_task("", total=None, status=""))
        bar.update(task[0], status=f"{name}: {n_rows:,} rows")

    return step


def _print_summary(job: InsightsJob, summary: InsightsSummary) -> None:
    from pssa.runs.input_profile import is_unfounded

    found = f"{counted(summary.opinions, 'opinion')} about {counted(summary.aspects, 'aspect')}"
    say(f"{job.out}: {found} in {counted(summary.reviews, 'review')}; open it in a browser")
    for verb, names in (("like", summary.likes), ("dislike", summary.dislikes)):
        if names:
            say(f"they {verb}: {', '.join(names)}")
    if summary.mentions:
        say(f"{counted(summary.mentions, 'mention')} without an opinion, not counted")
    if summary.empty:
        unlike = "".join(f"; {count} unlike the training data: {kind}" for kind, count in summary.empty_notes.items())
        say(f"{counted(summary.empty, 'review')} without an aspect{unlike}")
    if summary.blank:
        say(f"{counted(summary.blank, 'row')} without a text, not counted")
    for kind, count in summary.notes.items():
        left_out = ", not counted" if is_unfounded(kind) else ""
        say(f"{counted(count, 'mention')} unlike the training data{left_out}: {kind}")
    if summary.undated:
        say(f"{counted(summary.undated, 'opinion')} without a date that can be read in the column {job.date}")
    if summary.rejected:
        say(f"{job.rejected}: {counted(summary.rejected, 'row')} skipped; {summary.reason}")
