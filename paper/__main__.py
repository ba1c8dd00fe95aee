"""`python -m paper`: rebuild the tables and figures of the paper next to its numbers, and further studies.

    python -m paper --list
    python -m paper overall --data data --vectors glove.840B.300d.zip --out experiments
    python -m paper all --data data --vectors glove.840B.300d.zip --out experiments --plan

It runs in a clone of the repository, from its root. If you run it again, it continues from the results in --out.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

from paper.experiments.cells import cell_name
from paper.experiments.resources import Resources, Scope
from paper.experiments.schedule import Progress
from paper.studies import exhibits
from paper.studies.filters import dry_run
from paper.studies.reproduce import ExecutionOptions, Reproduction, reproduce, show_only
from pssa import models
from pssa.errors import InputError, PssaError

FAILED, BAD_USAGE, INTERRUPTED = 1, 2, 130  # exit codes
_LOG_SECONDS = 10.0  # between lines of progress, at least
_SILENT = ("plan", "show_only", "list")  # options that do not affect what is measured
_DEFAULTS: tuple[object, ...] = (None, "", (), [], 0, False, "auto", "local")  # which the recorded command leaves out


def main(words: Sequence[str] | None = None) -> int:
    """Run the command with these words, by default those of the command line; return the exit code."""
    arguments = _parser().parse_args(words)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: _say(f"warning: {message}")
            return _run(arguments)
    except KeyboardInterrupt as interrupt:
        _say("; ".join(["interrupted", *map(str, interrupt.args)]))
        return INTERRUPTED
    except PssaError as error:
        _say(str(error))
        return BAD_USAGE if isinstance(error, InputError) else FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m paper", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "names", metavar="NAME", nargs="*", help="exhibits to build; all: every one that the data allows"
    )
    add = parser.add_argument
    add("--list", action="store_true", help="list the exhibits; train nothing")
    add("--data", metavar="DIR", type=Path, help="folder with laptop, rest and/or twitter, each with train and test")
    add("--vectors", metavar="FILE", type=Path, help="word vectors, for models on word vectors")
    add("--encoder", metavar="NAME", help="folder or hub name of a pretrained encoder")
    add("--small-encoder", metavar="NAME", help="encoder of exhibits with many trainings (default: the encoder)")
    add("--seeds", metavar="N", type=int, default=5, help="maximum number of seeds per training (default 5)")
    add("--out", metavar="DIR", type=Path, help="output folder; results in it are reused")
    add("--models", metavar="NAME,...", type=_names, default=(), help="models (default: all)")
    add("--datasets", metavar="NAME,...", type=_names, default=(), help="data sets (default: all of --data)")
    add("--workers", metavar="N", type=int, default=0, help="cells executed at a time (default: as many as fit)")
    add("--device", metavar="NAME", default="auto", help="auto, cpu or cuda (default auto)")
    add("--engine", metavar="NAME", default="local", help="local, or ray for a Ray cluster (default local)")
    add("--address", metavar="A", default="", help="address of the Ray cluster (default: detected)")
    add("--fresh", action="store_true", help="recompute results that another version of the code produced")
    add("--files", action="store_true", help="write each table as CSV and LaTeX too, and each figure as PNG")
    add("--plan", action="store_true", help="count finished and remaining cells; execute and write nothing")
    add("--show-only", action="store_true", help="render the finished results; execute nothing")
    return parser


def _names(given: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in given.split(","))


def _run(arguments: argparse.Namespace) -> int:
    if arguments.list:
        return _list()
    small, is_shown = arguments.small_encoder, arguments.show_only
    for is_wrong, problem in (
        (not arguments.names, "name an exhibit, or all; --list lists them"),
        (arguments.data is None, "--data DIR is missing; name a folder"),
        (arguments.out is None, "--out DIR is missing; name a folder"),
        (arguments.seeds < 1, f"--seeds is {arguments.seeds}; it must be at least 1"),
        (small and not arguments.encoder, f"--small-encoder {small} needs --encoder NAME; add it"),
        (arguments.plan and is_shown, "--plan only counts and --show-only only shows; leave one out"),
        (arguments.fresh and is_shown, "--fresh executes cells again and --show-only executes none; leave one out"),
    ):
        if is_wrong:
            raise InputError(problem)
    options = ExecutionOptions(arguments.engine, arguments.workers, arguments.address, arguments.fresh, arguments.files)
    scope, command = _scope(arguments), _command(arguments)
    if arguments.plan:
        return _plan(arguments, scope, options)
    if arguments.show_only:
        return _report(show_only(arguments.names, scope, arguments.out, command, arguments.files))
    return _report(reproduce(arguments.names, scope, arguments.out, options, _progress(), command))


def _list() -> int:
    wide = max(map(len, exhibits.names()))
    for title, names in exhibits.PAGES.items():
        print(f"{title}:")
        for exhibit in map(exhibits.find, names):
            needs = f" (needs {', '.join(exhibit.needs)})" if exhibit.needs else ""
            print(f"  {exhibit.name:<{wide}}  {exhibit.title}{needs}")
    return 0


def _scope(arguments: argparse.Namespace) -> Scope:
    encoders = {"encoder": arguments.encoder, "small_encoder": arguments.small_encoder}
    resources = Resources.find(arguments.data, arguments.vectors, device=arguments.device, **encoders)
    for name, given, known in (
        ("--models", arguments.models, models.names()),
        ("--datasets", arguments.datasets, tuple(resources.sources)),
    ):
        unknown = [each for each in given if each not in known]
        if unknown:
            raise InputError(f"{name} names {', '.join(map(repr, unknown))}; there are {', '.join(known)}")
    return Scope(resources, arguments.seeds, tuple(arguments.models), tuple(arguments.datasets))


def _command(arguments: argparse.Namespace) -> str:
    """Return the command with the options that affect the results and are not at their default."""
    words = ["python", "-m", "paper", *arguments.names]
    for name, value in vars(arguments).items():
        if name not in (*_SILENT, "names", "files") and value not in _DEFAULTS:
            text = ",".join(value) if isinstance(value, tuple) else str(value)
            words += [f"--{name.replace('_', '-')}", *([] if value is True else [text])]
    return shlex.join(words)


def _plan(arguments: argparse.Namespace, scope: Scope, options: ExecutionOptions) -> int:
    found = dry_run(arguments.names, scope, arguments.out, options.accepts)
    print(f"{'exhibit':<20} {'cells':>7} {'done':>7} {'to do':>7}")
    for name, count in {**found["exhibits"], "in all": found["total"]}.items():
        print(f"{name:<20} {count['cells']:>7,} {count['there']:>7,} {count['to_do']:>7,}")
    left_out = found["left_out"] if found["total"]["cells"] else {}  # what trains nothing needs no vectors
    _print_reasons(left_out, {**found["skipped"], **found["broken"]})
    return FAILED if found["broken"] else 0


def _report(report: Reproduction) -> int:
    missing = f", {report.missing} missing" if report.missing else ""
    print(f"{report.page}: {', '.join(report.shown) or 'nothing'}")
    print(f"cells: {report.made} executed, {report.reused} reused, {len(report.failures)} failed{missing}")
    trains = report.made or report.reused or report.missing or report.failures
    _print_reasons(report.left_out if trains else {}, report.skipped)
    for name, reason in {**report.broken, **{cell_name(cell): why for cell, why in report.failures.items()}}.items():
        _say(f"failed: {name}: {reason}")
    return 0 if report.is_complete else FAILED


def _print_reasons(left_out: Mapping[str, str], not_shown: Mapping[str, str]) -> None:
    """Print the models and exhibits whose needs are missing."""
    for what, reasons in (("left out", left_out), ("not shown", not_shown)):
        for name, reason in reasons.items():
            print(f"{what}: {name} {reason}")


def _progress() -> Progress:
    """Return an observer that prints a line on standard error now and then."""
    began = last = time.monotonic()

    def note(done: int, total: int, name: str) -> None:
        nonlocal last
        now = time.monotonic()
        if not done or done == total or now - last >= _LOG_SECONDS:
            last = now
            left = f", {(now - began) / done * (total - done) / 60:.0f} min left; last {name}" if done else ""
            _say(f"{done} of {total} cells done{left}")

    return note


def _say(text: str) -> None:
    print(f"paper: {' '.join(text.split())}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
