"""Commands that read files of rows of any size: their options, the settings of their jobs, their progress and their summary."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pssa.cli._options import add_format
from pssa.cli._output import for_terminal, print_json
from pssa.cli._parser import option, run_path
from pssa.errors import InputError

if TYPE_CHECKING:
    from pssa.predict import FindingOptions, Job, Progress, Summary

_INPUT = "files in any format, also .gz or .zst; - for standard input"


def add_input(container: argparse._ActionsContainer, help: str = _INPUT) -> None:
    """Add `--input`, which takes several files."""
    option(container, "--input FILE", help, type=str, required=True, nargs="+", action="extend")


def add_begin(container: argparse._ActionsContainer, replaced: str = "an existing output") -> None:
    """Add `--resume` and `--force`."""
    option(container, "--resume", "resume an interrupted job")
    option(container, "--force", f"replace {replaced}")


def add_job(container: argparse._ActionsContainer) -> None:
    """Add the files of a job, their formats, and the treatment of invalid rows."""
    add_input(container)
    output = "JSON Lines, CSV or Parquet, .gz or .zst; - for standard output"
    option(container, "--output FILE", output, type=str, required=True)
    add_format(container)
    option(container, "--output-format NAME", "json_lines, csv or parquet (default: by the extension)")
    option(container, "--errors MODE", "on invalid rows: fail, or skip and report them", "fail")
    rejected = "file of skipped rows, with reasons (default: OUTPUT.rejected.jsonl)"
    option(container, "--rejected FILE", rejected, type=str)
    add_begin(container)


def add_finding(container: argparse._ActionsContainer) -> None:
    """Add the options for finding aspects in rows that have none."""
    text = "tagger that finds aspects, or starter (default: that of the run)"
    option(container, "--aspects-from DIR", text, type=run_path)
    option(container, "--aspects NAME,...", "aspects to look for by name")
    option(container, "--aspects-file FILE", "file of aspects to look for, one per line")


def begin_mode(arguments: argparse.Namespace) -> str:
    """Return `begin` of a job: `new`, `resume` or `replace`."""
    if arguments.resume and arguments.force:
        raise InputError("--resume continues an unfinished job and --force starts again; give one of the two")
    return "resume" if arguments.resume else "replace" if arguments.force else "new"


def job_settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of a `Job` that the options of `add_job` give."""
    names = ("output", "format", "columns", "encoding", "output_format", "errors", "rejected")
    given = {name: getattr(arguments, name) for name in names}
    return {"inputs": tuple(arguments.input), **given, "begin": begin_mode(arguments)}


def finding_options(arguments: argparse.Namespace) -> FindingOptions:
    """Return what the options of `add_finding` say."""
    from pssa.aspects.names import NameFinder, parse_names, read_names
    from pssa.predict import FindingOptions

    given = [name for name in ("aspects_from", "aspects", "aspects_file") if getattr(arguments, name) is not None]
    if len(given) > 1:
        first, second = ("--" + name.replace("_", "-") for name in given[:2])
        raise InputError(f"{first} and {second} both choose the aspects to find; give one of the two")
    names: tuple[str, ...] = ()
    if arguments.aspects is not None:
        names = parse_names(arguments.aspects)
        NameFinder(names)
    if arguments.aspects_file is not None:
        names = read_names(arguments.aspects_file)
    more = {name: getattr(arguments, name, None) for name in ("keep_empty", "min_score", "mentions")}
    return FindingOptions(arguments.aspects_from, names, **{name: value for name, value in more.items() if value})


@contextmanager
def job_progress(command: str, job: Job) -> Iterator[Callable[[Progress], None]]:
    """Show the progress of a job, of which the result is the observer."""
    from pssa.cli._progress import row_observer
    from pssa.predict import STANDARD
    from pssa.progress import StderrProgress

    # Rows that go to a terminal would be mixed with the bar.
    with StderrProgress(command, visible=not (job.output == STANDARD and sys.stdout.isatty())) as bar:
        yield row_observer(bar)


def print_job(job: Job, summary: Summary, values: Mapping[str, Any], lines: Iterable[str], *, as_json: bool) -> None:
    """Print what a job has done: values for programs, or lines for people."""
    from pssa.predict import STANDARD

    # Rows that go to standard output must stay alone there.
    stream = sys.stderr if job.output == STANDARD else sys.stdout
    if as_json:
        print_json({"output": job.output, "existed": True} if summary.existed else values, stream)
    elif not summary.existed:  # otherwise a warning was printed
        for line in lines:
            print(for_terminal(line), file=stream)
