"""`pssa report`: one page about a run: what it is, how well it does, what was mined, what changed."""

from __future__ import annotations

import argparse
from pathlib import Path

from pssa.cli._options import common_options, reading, run_data_options
from pssa.cli._parser import page
from pssa.data.files import require_writable
from pssa.errors import InputError

__all__ = ["add_parser", "refuse_output"]


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "report",
        parents=[common_options(), run_data_options()],
        help="write a page about a run that can be passed on",
        **page(
            "Write one self-contained HTML page about a run: what it is, how well it does, what was mined, what changed"
            " against another run, and how far to trust it.",
            "pssa report runs/reviews --data test.csv --out report.html",
            "pssa report runs/reviews --versus runs/base --data test.csv --sample 30 --out versus.html",
        ),
    )
    parser.add_argument("run_path", metavar="RUN", type=Path, help="a run, as `pssa train --out RUN` makes it")
    parser.add_argument(
        "--versus",
        type=Path,
        metavar="RUN2",
        help="compare with RUN2 (default: the model before mining, if there is one)",
    )
    parser.add_argument("--data", type=Path, help="labelled instances that no training has seen, to score both on")
    parser.add_argument(
        "--sample",
        type=int,
        default=100,
        help="instances to measure faithfulness on, which takes longest (default 100)",
    )
    parser.add_argument("--out", type=Path, required=True, help="the HTML file to write")
    parser.add_argument("--force", action="store_true", help="replace an existing file")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write the page and say where."""
    from pssa.cli._output import print_json, say
    from pssa.data.read import read_for
    from pssa.report.run_report import write_report
    from pssa.runs.saved_model import Description

    refuse_output(arguments.out, force=arguments.force)
    if arguments.sample < 1:
        raise InputError(f"sample is {arguments.sample}; it must be at least 1")
    data = None
    if arguments.data is not None:
        labels = Description.load(arguments.run_path).labels
        data = read_for(arguments.run_path, arguments.data, **reading(arguments, labels))
    written = write_report(
        arguments.run_path, arguments.out, versus=arguments.versus, data=data, sample=arguments.sample
    )
    if arguments.json:
        print_json({"report": str(written), "bytes": written.stat().st_size})
    else:
        say(f"{written}: open it in a browser; it needs no network and no other file")
    return 0


def refuse_output(path: Path, *, force: bool) -> None:
    """Refuse, before any work is done, a file that exists or cannot be written."""
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file")
    if path.exists() and not force:
        raise InputError(f"{path} exists already; choose another name, or replace it with --force")
    if not path.parent.is_dir():
        raise InputError(f"{path} cannot be written: {path.parent} does not exist")
    require_writable(path)
