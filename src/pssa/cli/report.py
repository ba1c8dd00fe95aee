"""`pssa report`: write a self-contained HTML report about a run."""

from __future__ import annotations

import argparse

from pssa.cli._options import RUN_DATA, add_run, add_shared, read_run_data, require_at_least
from pssa.cli._output import print_json, require_new_file, say
from pssa.cli._parser import Commands, add_command, option


def add_parser(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(commands, "report", "write a self-contained HTML report about a run", run)
    add_run(parser)
    option(parser, "--versus RUN2", "run to compare with (default: the model before mining, if any)")
    option(parser, "--data FILE", "labelled instances unseen in training")
    option(parser, "--limit N", "instances to measure faithfulness on", 100)
    option(parser, "--out FILE", "HTML file to write", required=True)
    add_shared(parser, "force")
    add_shared(parser.add_argument_group("data format"), *RUN_DATA)


def run(arguments: argparse.Namespace) -> None:
    """Write a self-contained HTML report about a run: its settings, scores, training curves and mined evidence, the
    predictions that changed against another run, and the faithfulness of its heat maps.

    pssa report runs/reviews --data test.csv --out report.html
    pssa report runs/reviews --versus runs/base --data test.csv --limit 30 --out versus.html
    """
    from pssa.progress import StepProgress
    from pssa.report.run_report import write_report
    from pssa.runs.loading import describe_run

    require_new_file(arguments.out, force=arguments.force)
    require_at_least(1, arguments, "limit")
    data = None
    if arguments.data is not None:
        data = read_run_data(arguments, describe_run(arguments.run_path)[1])
    with StepProgress("report") as step:
        written = write_report(arguments.run_path, arguments.out, arguments.versus, data, arguments.limit, step)
    if arguments.json:
        print_json({"report": str(written), "bytes": written.stat().st_size})
    else:
        say(f"{written}: open it in a browser; it needs no network and no other file")
