"""`pssa insights`: a page about what many reviews say."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from pssa.cli._options import FINDING, ROWS, add_run, add_shared, begin_mode, finding_options, set_row_defaults
from pssa.cli._output import counted, print_json, say
from pssa.cli._parser import Commands, add_command, option

if TYPE_CHECKING:
    from pssa.insights.job import InsightsJob, InsightsSummary


def add_parser(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(commands, "insights", "show what customers like and dislike in many reviews", run)
    add_run(parser, is_optional=True)
    add_shared(parser, "input", help="reviews in any format, also .gz or .zst")
    option(parser, "--out FILE", "HTML page to write", required=True)
    option(parser, "--by COLUMN", "column of groups to compare, such as a branch or a product")
    option(parser, "--date COLUMN", "column of dates, to show changes over time")
    option(parser, "--date-format FORMAT", "format of the dates, such as %%d/%%m/%%Y (default: detected)")
    option(parser, "--table FILE", "CSV to write: a line per aspect group and label")
    option(parser, "--rows FILE", "CSV, JSON Lines or Parquet to write: a line per aspect")
    option(parser, "--groups FILE", "CSV of spellings and groups: read if it exists, else written")
    option(parser, "--held-out FILE", "labelled reviews on which to measure the run's error rates")
    add_shared(parser, "resume", "force", "device", *ROWS)
    add_shared(parser.add_argument_group("rows without aspects"), *FINDING)


def run(arguments: argparse.Namespace) -> None:
    """Write a self-contained HTML page about reviews: what customers talk about, what they like and dislike, which words
    say so, how sure that is, and how it differs over time and between groups.

    pssa insights --input reviews.csv --out insights.html
    pssa insights runs/reviews --input reviews.csv --columns text=review --by branch --date visited --out insights.html
    pssa insights --input reviews.csv --groups groups.csv --table aspects.csv --rows rows.csv --out insights.html
    """
    from pssa.insights.job import InsightsJob, make_insights
    from pssa.predict import Scoring
    from pssa.progress import RowProgress

    set_row_defaults(arguments, arguments.input)
    names = ("out", "by", "date", "date_format", "table", "rows", "groups", "held_out", *ROWS)
    job = InsightsJob(
        inputs=tuple(arguments.input),
        run=arguments.run_path,
        begin=begin_mode(arguments),
        finding=finding_options(arguments),
        scoring=Scoring(device=arguments.device),
        **{name: getattr(arguments, name) for name in names},
    )
    writes_groups = job.groups is not None and not job.groups.exists()
    with RowProgress("insights") as bar:
        summary = make_insights(job, None, bar, bar.show_step)
    if arguments.json:
        print_json(summary.as_dict())
    else:
        _print_summary(job, summary)
        if writes_groups:
            say(f"{job.groups}: groups of aspects; edit them, then run the same command with --force")


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
