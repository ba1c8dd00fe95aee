"""`pssa predict`: label every row of a file, in order, in bounded memory."""

from __future__ import annotations

import argparse
from pathlib import Path

from pssa.cli._options import common_options
from pssa.errors import InputError

__all__ = ["add_parser"]


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("predict", parents=[common_options()], help="label the rows of a file")
    parser.add_argument("run_path", metavar="RUN", type=Path)
    parser.add_argument("--input", type=Path, required=True, help="JSON Lines or CSV with text, aspect, from/to")
    parser.add_argument("--output", type=Path, required=True, help="JSON Lines or CSV, by its name")
    parser.add_argument("--format", help="the format of the input, if it is not recognised")
    parser.add_argument("--batch-size", type=int, default=256, help="rows in one step (default 256)")
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda (default auto)")
    parser.add_argument(
        "--precision", default="auto", help="float32, or bfloat16 for encoders (default auto: the latter on a GPU)"
    )
    parser.add_argument("--force", action="store_true", help="replace an existing output")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Predict and say how many."""
    from pssa.bulk import predict_file
    from pssa.cli._output import print_json, say
    from pssa.runs import load

    if arguments.output.exists() and not arguments.force:
        raise InputError(f"{arguments.output} exists already; choose another --output, or replace it with --force")
    classifier = load(arguments.run_path, device=arguments.device, precision=arguments.precision)
    summary = predict_file(
        classifier, arguments.input, arguments.output, format=arguments.format, batch_size=arguments.batch_size
    )
    if arguments.json:
        print_json(summary.as_dict())
        return 0
    counts = ", ".join(f"{count} {label}" for label, count in summary.labels.items())
    say(f"{arguments.output}: {summary.rows} rows ({counts})")
    if summary.ambiguous:
        say(f"{summary.ambiguous} aspects occur several times in their text; the first occurrence was taken")
    return 0
