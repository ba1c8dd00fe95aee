"""`pssa report`: write a self-contained HTML report about a run."""

from __future__ import annotations

import argparse
from pathlib import Path

from pssa.cli._options import add_run, add_run_data, reading
from pssa.cli._output import print_json, require_new_file, say
from pssa.cli._parser import finish, page
from pssa.errors import InputError


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "report",
        help="write a self-contained HTML report about a run",
        **page(
            "Write a self-contained HTML report about a run: its settings, scores, training curves and mined evidence, the"
            " predictions that changed against another run, and the faithfulness of its heat maps.",
            "pssa report runs/reviews --data test.csv --out report.html",
            "pssa report runs/reviews --versus runs/base --data test.csv --sample 30 --out versus.html",
        ),
    )
    add_run(parser)
    parser.add_argument(
        "--versus",
        type=Path,
        metavar="RUN2",
        help="run to compare with (default: the model before mining, if any)",
    )
    parser.add_argument("--data", type=Path, metavar="FILE", help="labelled instances unseen in training")
    parser.add_argument(
        "--sample",
        type=int,
        metavar="N",
        default=100,
        help="instances to measure faithfulness on (default 100)",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", required=True, help="HTML file to write")
    parser.add_argument("--force", action="store_true", help="replace an existing file")
    add_run_data(parser.add_argument_group("data format"))
    finish(parser, run)


def run(arguments: argparse.Namespace) -> int:
    """Write the report."""
    from pssa.data.io import read_for
    from pssa.report.run_report import write_report
    from pssa.runs.saved_model import Description

    require_new_file(arguments.out, force=arguments.force)
    if arguments.sample < 1:
        raise InputError(f"--sample is {arguments.sample}; it must be at least 1")
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
