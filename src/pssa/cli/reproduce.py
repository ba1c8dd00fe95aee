"""`pssa reproduce`: rebuild tables and figures of the paper, and more; repeated, it resumes."""

from __future__ import annotations

import argparse
import shlex
import sys
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from pssa.cli._options import add_cells, label_names, names_in
from pssa.cli._parser import finish, page
from pssa.errors import InputError

if TYPE_CHECKING:
    from pssa.experiments.resources import Scope
    from pssa.studies.reproduce import ExecutionOptions, Reproduction

_FAILED = 1
_QUIET_SECONDS = 60.0  # between two lines if no terminal shows a bar


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "reproduce",
        help="rebuild the paper's tables and figures, and more",
        **page(
            "Rebuild the tables and figures of the paper beside its numbers, and further studies. Run again, it resumes from"
            " the results in --out.",
            "pssa reproduce --list",
            "pssa reproduce overall --data data --vectors glove.840B.300d.zip --out experiments",
            "pssa reproduce all --data data --vectors glove.840B.300d.zip --out experiments --plan",
        ),
    )
    parser.add_argument(
        "names", metavar="NAME", nargs="*", help="exhibits to build; all: every one that the resources allow"
    )
    parser.add_argument("--list", action="store_true", help="list the exhibits; train nothing")
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="folder of data sets, such as laptop/train.txt and laptop/test.txt"
    )
    parser.add_argument("--vectors", type=Path, metavar="FILE", help="word vectors, for models on word vectors")
    parser.add_argument("--encoder", metavar="NAME", help="folder or hub name of a pretrained encoder")
    parser.add_argument(
        "--seeds", type=int, metavar="N", default=5, help="maximum number of seeds per training (default 5)"
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="output folder; results in it are reused")
    parser.add_argument(
        "--models",
        type=label_names,
        metavar="NAME,...",
        default=(),
        help=f"models, separated by commas (default: {names_in('models')})",
    )
    parser.add_argument(
        "--datasets",
        type=label_names,
        metavar="NAME,...",
        default=(),
        help="data sets, separated by commas (default: all of DIR)",
    )
    add_cells(parser)
    parser.add_argument(
        "--plan", action="store_true", help="count finished and remaining cells; execute and write nothing"
    )
    parser.add_argument("--show-only", action="store_true", help="render the finished results; execute nothing")
    finish(parser, run)


def run(arguments: argparse.Namespace) -> int:
    """Reproduce, and print a summary."""
    if arguments.list:
        return _list(arguments.json)
    _refuse(arguments)
    from pssa.studies.reproduce import ExecutionOptions, reproduce, show_only

    options = ExecutionOptions(arguments.engine, arguments.workers, arguments.address, arguments.fresh)
    scope, command = _scope(arguments), _command(arguments)
    if arguments.plan:
        return _plan(arguments, scope, options)
    if arguments.show_only:
        report = show_only(arguments.names, scope, arguments.out, command)
    else:
        with CellsBar() as bar:
            report = reproduce(arguments.names, scope, arguments.out, options, bar, command)
    return _print(report, arguments.json)


def _list(as_json: bool) -> int:
    from pssa.cli._output import print_json, say
    from pssa.studies import exhibits

    found = [exhibits.find(name) for name in exhibits.names()]
    if as_json:
        rows = [{"name": e.name, "title": e.title, "beyond": e.beyond, "needs": list(e.needs)} for e in found]
        print_json({"exhibits": rows})
        return 0
    wide = max(len(exhibit.name) for exhibit in found)
    for title, beyond in (("In the paper", False), ("Beyond the paper", True)):
        say(f"{title}:")
        for exhibit in (exhibit for exhibit in found if exhibit.beyond == beyond):
            needs = f" (needs {', '.join(exhibit.needs)})" if exhibit.needs else ""
            say(f"  {exhibit.name:<{wide}}  {exhibit.title}{needs}")
    return 0


def _refuse(arguments: argparse.Namespace) -> None:
    """Refuse wrong options before anything heavy is loaded."""
    if not arguments.names:
        raise InputError("name an exhibit, or all; pssa reproduce --list lists them")
    for name in ("data", "out"):
        if getattr(arguments, name) is None:
            raise InputError(f"pssa reproduce needs --{name} DIR")
    if arguments.seeds < 1:
        raise InputError(f"--seeds is {arguments.seeds}; it must be at least 1")
    if arguments.plan and arguments.show_only:
        raise InputError("--plan only counts and --show-only only shows; leave one out")
    if arguments.fresh and arguments.show_only:
        raise InputError("--fresh executes cells again and --show-only executes none; leave one out")


def _scope(arguments: argparse.Namespace) -> Scope:
    from pssa import models
    from pssa.experiments.resources import Resources, Scope

    resources = Resources.find(arguments.data, arguments.vectors, arguments.encoder, arguments.device)
    for option, given, known in (
        ("--models", arguments.models, models.names()),
        ("--datasets", arguments.datasets, tuple(resources.sources)),
    ):
        unknown = [name for name in given if name not in known]
        if unknown:
            raise InputError(f"{option} names {', '.join(map(repr, unknown))}; there are {', '.join(known)}")
    return Scope(resources, arguments.seeds, tuple(arguments.models), tuple(arguments.datasets))


def _plan(arguments: argparse.Namespace, scope: Scope, options: ExecutionOptions) -> int:
    from pssa.cli._output import print_json, print_table, say
    from pssa.studies.filters import dry_run

    found = dry_run(arguments.names, scope, arguments.out, options.accepts)
    code = _FAILED if found["broken"] else 0
    if arguments.json:
        print_json(found)
        return code
    counts = {**found["exhibits"], "in all": found["total"]}
    rows = [[name, *(f"{number:,}" for number in count.values())] for name, count in counts.items()]
    print_table("", ("exhibit", "cells", "there", "to do"), rows)
    for model, reason in found["left_out"].items():
        say(f"left out: {model} {reason}")
    for name, reason in {**found["skipped"], **found["broken"]}.items():
        say(f"not shown: {name} {reason}")
    return code


def _command(arguments: argparse.Namespace) -> str:
    """Return the command that makes these results: without options that do not affect them, such as --show-only."""
    words = ["pssa", "reproduce", *arguments.names]
    for name in (
        "data",
        "vectors",
        "encoder",
        "seeds",
        "out",
        "models",
        "datasets",
        "workers",
        "device",
        "engine",
        "address",
    ):
        value = getattr(arguments, name)
        given = ",".join(value) if isinstance(value, tuple) else value
        if given not in (None, "", 0, "auto", "local"):
            words += [f"--{name}", str(given)]
    return shlex.join([*words, *(["--fresh"] if arguments.fresh else [])])


def _print(report: Reproduction, as_json: bool) -> int:
    from pssa.cli._output import print_json, say

    if as_json:
        print_json(report.as_dict())
        return 0 if report.is_complete else _FAILED
    missing = f", {report.missing} missing" if report.missing else ""
    say(f"{report.page}: {', '.join(report.shown) or 'nothing'}")
    say(f"cells: {report.made} executed, {report.reused} reused, {len(report.failures)} failed{missing}")
    for model, reason in report.left_out.items():
        say(f"left out: {model} {reason}")
    for name, reason in report.skipped.items():
        say(f"not shown: {name} {reason}")
    values = report.as_dict()
    for line in [f"{name}: {reason}" for name, reason in report.broken.items()] + [
        f"{failure['cell']}: {failure['reason']}" for failure in values["failed"]
    ]:
        print(f"pssa: failed: {' '.join(line.split())}", file=sys.stderr)
    return 0 if report.is_complete else _FAILED


class CellsBar:
    """Progress on standard error: a bar in a terminal, elsewhere a line once a minute."""

    def __init__(self) -> None:
        from pssa.cli._progress import make_progress

        self._bar = make_progress("cells")
        self._task = self._bar.add_task("cells", total=None, said="")
        self._began = self._printed = time.monotonic()
        self._progress = (0, 0)
        self._over = threading.Event()

    def __enter__(self) -> CellsBar:
        self._bar.start()
        if self._bar.disable:
            threading.Thread(target=self._report_regularly, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._bar.stop()

    def __call__(self, done: int, total: int, name: str) -> None:
        """Note that a cell is done or, with `done` 0, that the first starts."""
        from pssa.cli._output import counted

        now = time.monotonic()
        spent = now - self._began
        self._progress = (done, total)
        left = f"{_clock(spent / done * (total - done))} left" if done else ""
        self._bar.update(self._task, completed=done, total=total, said=f"{left}  {name}".strip())
        if self._bar.disable and total and not done:
            print(f"pssa: {counted(total, 'cell')} to do", file=sys.stderr, flush=True)
        if self._bar.disable and done and now - self._printed >= _QUIET_SECONDS:
            self._printed = now
            print(
                f"pssa: {done}/{total} cells, {_clock(spent)} elapsed, {left}; last {name}", file=sys.stderr, flush=True
            )

    def _report_regularly(self) -> None:
        """Print a line once a minute, also while a cell takes long."""
        while not self._over.wait(_QUIET_SECONDS):
            now, (done, total) = time.monotonic(), self._progress
            if total and now - self._printed >= _QUIET_SECONDS:
                self._printed = now
                print(f"pssa: {done}/{total} cells, {_clock(now - self._began)} elapsed", file=sys.stderr, flush=True)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}"
