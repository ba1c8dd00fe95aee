"""`pssa reproduce`: rebuild tables and figures of the paper, and more; repeated, it resumes."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pssa.cli._options import add_cells, add_starts, label_names, names_in, require_at_least
from pssa.cli._parser import FAILED, Commands, add_command, option
from pssa.errors import InputError, for_command_line

if TYPE_CHECKING:
    from pssa.experiments.resources import Scope
    from pssa.studies.reproduce import ExecutionOptions, Reproduction

# Options that do not affect the results, and default values, are not part of the recorded command.
_OUTPUT_OPTIONS = ("run", "json", "debug", "command")
_DEFAULTS = (None, "", (), 0, False, "auto", "local")


def add_parser(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(commands, "reproduce", "rebuild the paper's tables and figures, and more", run)
    names = "exhibits to build; all: every one that your data allows"
    parser.add_argument("names", metavar="NAME", nargs="*", help=names)
    option(parser, "--list", "list the exhibits; train nothing")
    option(parser, "--data DIR", "folder with laptop, rest and/or twitter, each with train and test")
    add_starts(parser)
    option(parser, "--small-encoder NAME", "encoder of exhibits with many trainings (default: the encoder)")
    option(parser, "--seeds N", "maximum number of seeds per training", 5)
    option(parser, "--out DIR", "output folder; results in it are reused")
    several = {"type": label_names, "default": ()}
    option(parser, "--models NAME,...", f"models, separated by commas (default: {names_in('models')})", **several)
    option(parser, "--datasets NAME,...", "data sets, separated by commas (default: all of DIR)", **several)
    add_cells(parser)
    option(parser, "--plan", "count finished and remaining cells; execute and write nothing")
    option(parser, "--show-only", "render the finished results; execute nothing")


def run(arguments: argparse.Namespace) -> int:
    """Rebuild the tables and figures of the paper next to its numbers, and further studies. If you run it again, it continues
    from the results in --out.

    pssa reproduce --list
    pssa reproduce overall --data data --vectors glove.840B.300d.zip --out experiments
    pssa reproduce all --data data --vectors glove.840B.300d.zip --out experiments --plan
    """
    if arguments.list:
        return _list(arguments.json)
    _refuse(arguments)
    from pssa.cli._progress import CellsProgress
    from pssa.studies.reproduce import ExecutionOptions, reproduce, show_only

    options = ExecutionOptions(arguments.engine, arguments.workers, arguments.address, arguments.fresh)
    scope, command = _scope(arguments), _command(arguments)
    if arguments.plan:
        return _plan(arguments, scope, options)
    if arguments.show_only:
        report = show_only(arguments.names, scope, arguments.out, command)
    else:
        with CellsProgress() as bar:
            report = reproduce(arguments.names, scope, arguments.out, options, bar, command)
    return _print(report, arguments.json)


def _list(as_json: bool) -> int:
    from pssa.cli._output import print_json, say
    from pssa.studies import exhibits
    from pssa.studies.filters import mark_settings

    found = [exhibits.find(name) for name in exhibits.names()]
    if as_json:
        rows = [{"name": e.name, "title": e.title, "beyond": e.beyond, "needs": list(e.needs)} for e in found]
        print_json({"exhibits": rows})
        return 0
    wide = max(len(exhibit.name) for exhibit in found)
    for title, beyond in (("In the paper", False), ("Beyond the paper", True)):
        say(f"{title}:")
        for exhibit in (exhibit for exhibit in found if exhibit.beyond == beyond):
            needs = f" (needs {for_command_line(mark_settings(', '.join(exhibit.needs)))})" if exhibit.needs else ""
            say(f"  {exhibit.name:<{wide}}  {exhibit.title}{needs}")
    return 0


def _refuse(arguments: argparse.Namespace) -> None:
    """Refuse wrong options before anything heavy is loaded."""
    if not arguments.names:
        raise InputError("name an exhibit, or all; pssa reproduce --list lists them")
    for name in ("data", "out"):
        if getattr(arguments, name) is None:
            raise InputError(f"pssa reproduce needs --{name} DIR")
    if arguments.small_encoder and not arguments.encoder:
        raise InputError(f"--small-encoder {arguments.small_encoder} needs --encoder NAME; add it")
    require_at_least(1, arguments, "seeds")
    if arguments.plan and arguments.show_only:
        raise InputError("--plan only counts and --show-only only shows; leave one out")
    if arguments.fresh and arguments.show_only:
        raise InputError("--fresh executes cells again and --show-only executes none; leave one out")


def _scope(arguments: argparse.Namespace) -> Scope:
    from pssa import models
    from pssa.experiments.resources import Resources, Scope

    resources = Resources.find(arguments.data, arguments.vectors, arguments.encoder, arguments.device)
    resources = resources.with_small_encoder(arguments.small_encoder)
    for name, given, known in (
        ("--models", arguments.models, models.names()),
        ("--datasets", arguments.datasets, tuple(resources.sources)),
    ):
        unknown = [each for each in given if each not in known]
        if unknown:
            raise InputError(f"{name} names {', '.join(map(repr, unknown))}; there are {', '.join(known)}")
    return Scope(resources, arguments.seeds, tuple(arguments.models), tuple(arguments.datasets))


def _plan(arguments: argparse.Namespace, scope: Scope, options: ExecutionOptions) -> int:
    from pssa.cli._output import print_json, print_table, say
    from pssa.studies.filters import dry_run

    found = dry_run(arguments.names, scope, arguments.out, options.accepts)
    code = FAILED if found["broken"] else 0
    if arguments.json:
        print_json(found)
        return code
    counts = {**found["exhibits"], "in all": found["total"]}
    rows = [[name, *(f"{number:,}" for number in count.values())] for name, count in counts.items()]
    print_table("", ("exhibit", "cells", "done", "to do"), rows)
    if any(each["device"] for each in found["time"]):
        title = "Time of one worker for the cells to do, by the last like cells in the folder; several workers share it"
        print_table(title, ("models start from", "device", "to do", "time", "unknown"), _time_rows(found["time"]))
    _say_missing(found["left_out"], found["skipped"])
    for name, reason in found["broken"].items():
        say(f"not shown: {name} {reason}")
    return code


def _time_rows(times: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    return [
        [each["start"], each["device"], f"{each['cells']:,}", _duration(each["seconds"]), str(each["unknown"] or "")]
        for each in times
    ]


def _duration(seconds: float) -> str:
    if not seconds:
        return ""
    if seconds < 3600:
        return f"{seconds / 60:.1f} min"
    return f"{seconds / 3600:.1f} h"


def _say_missing(left_out: Mapping[str, str], skipped: Mapping[str, str]) -> None:
    """Print the models and exhibits whose needs are missing, with the options that give them."""
    from pssa.cli._output import say
    from pssa.studies.filters import mark_settings

    for what, reasons in (("left out", left_out), ("not shown", skipped)):
        for name, reason in reasons.items():
            say(f"{what}: {name} {for_command_line(mark_settings(reason))}")


def _command(arguments: argparse.Namespace) -> str:
    """Return the command that makes these results: without options that do not affect them, such as --show-only."""
    return command_line(["reproduce", *arguments.names], arguments, ("names", "list", "plan", "show_only"))


def command_line(words: Sequence[str], arguments: argparse.Namespace, left_out: Container[str] = ()) -> str:
    """Return the command with these words and the options that affect the results and are not at their default."""
    words = ["pssa", *words]
    for name, value in vars(arguments).items():
        if name in left_out or name in _OUTPUT_OPTIONS:
            continue
        for given in value if isinstance(value, list) else [value]:
            if given not in _DEFAULTS:
                text = ",".join(given) if isinstance(given, tuple) else str(given)
                words += [f"--{name.replace('_', '-')}", *([] if given is True else [text])]
    return shlex.join(words)


def _print(report: Reproduction, as_json: bool) -> int:
    from pssa.cli._output import print_json, say
    from pssa.experiments.cells import cell_name

    if as_json:
        print_json(report.as_dict())
        return 0 if report.is_complete else FAILED
    missing = f", {report.missing} missing" if report.missing else ""
    say(f"{report.page}: {', '.join(report.shown) or 'nothing'}")
    say(f"cells: {report.made} executed, {report.reused} reused, {len(report.failures)} failed{missing}")
    _say_missing(report.left_out, report.skipped)
    print_failures([*report.broken.items(), *((cell_name(cell), why) for cell, why in report.failures.items())])
    return 0 if report.is_complete else FAILED


def print_failures(failures: Iterable[tuple[str, str]]) -> None:
    """Print names with the reason of their failure on standard error, a line each."""
    for name, reason in failures:
        print(f"pssa: failed: {' '.join(f'{name}: {reason}'.split())}", file=sys.stderr)
