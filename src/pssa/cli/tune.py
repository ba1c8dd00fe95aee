"""`pssa tune`: evaluate a grid of settings on held-out data; repeated, it resumes."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from pssa.cli._options import add_cells, add_data, add_starts, names_in, reading, require_at_least
from pssa.cli._parser import FAILED, Commands, add_command, option
from pssa.cli.reproduce import command_line, print_failures
from pssa.errors import InputError

if TYPE_CHECKING:
    from pssa.experiments.tuning import GridResult, GridSearch
    from pssa.studies.reproduce import Reproduction


def add_parser(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(commands, "tune", "choose settings on held-out data", run)
    option(parser, "--train FILE", "labelled instances; a fifth is held out", required=True)
    option(parser, "--model NAME", names_in("models"), "tnet_att")
    option(parser, "--method NAME", "aw-as, pg-as, rm-as or consensus", required=True)
    varied = "setting that varies, such as gamma=0.5,2,8; repeatable"
    option(parser, "--grid NAME=VALUE,VALUE", varied, action="append", default=[])
    option(parser, "--grid-file FILE", "TOML file of settings with lists of values")
    option(parser, "--set KEY=VALUE", "fixed setting, such as epochs=10; repeatable", action="append", default=[])
    option(parser, "--seeds N", "trainings per setting", 3)
    option(parser, "--metric NAME", "macro_f1 or accuracy, to choose by", "macro_f1")
    add_starts(parser)
    option(parser, "--out DIR", "output folder; results in it are reused", required=True)
    add_cells(parser)
    add_data(parser.add_argument_group("data format"))


def run(arguments: argparse.Namespace) -> int:
    """Try every combination of a grid of settings on held-out instances and print the best. If you run it again, it continues
    from the results in --out.

    pssa tune --train reviews.csv --method pg-as --grid gamma=0.5,2,8 --out tuned
    pssa tune --train reviews.csv --method aw-as --grid gamma=0.5,2 --grid words=both,active --seeds 5 --out words
    pssa tune --train reviews.csv --method consensus --grid-file grid.toml --set epochs=10 --out consensus
    """
    require_at_least(1, arguments, "seeds")
    from pssa.cli._progress import CellsProgress
    from pssa.data.read_options import ReadOptions
    from pssa.experiments.resources import Scope
    from pssa.studies.reproduce import ExecutionOptions
    from pssa.studies.tune import tune, tuning_resources

    search = _search(arguments)
    starts = (arguments.train, arguments.vectors, arguments.encoder, arguments.device)
    resources = tuning_resources(*starts, ReadOptions.of(**reading(arguments)))
    options = ExecutionOptions(arguments.engine, arguments.workers, arguments.address, arguments.fresh)
    with CellsProgress() as bar:
        tuned = tune(
            search, Scope(resources, arguments.seeds), arguments.out, options, bar, command_line(["tune"], arguments)
        )
    return _print(*tuned, arguments.out, arguments.json)


def _search(arguments: argparse.Namespace) -> GridSearch:
    from pssa.experiments.tuning import GridSearch, parse_axis, parse_setting, read_grids

    axes = dict(parse_axis(text) for text in arguments.grid)
    if len(axes) < len(arguments.grid):
        raise InputError("--grid names a setting twice; give all of its values in one option")
    grids = read_grids(arguments.grid_file) if arguments.grid_file else ({},)
    fixed = tuple(parse_setting(text) for text in arguments.set)
    both = sorted({name for name in axes for grid in grids if name in grid})
    if both:
        raise InputError(f"--grid and {arguments.grid_file} both vary {', '.join(both)}; leave it out of one")
    # Settings of the command line are combined with every grid of the file.
    whole = tuple({**grid, **axes} for grid in grids)
    return GridSearch(arguments.model, arguments.method, whole, fixed, arguments.metric)


def _narrow(result: GridResult) -> tuple[list[str], list[list[str]]]:
    """Return columns and rows that fit a terminal: all settings in the first column, then scores."""
    from pssa.studies.tune import settings_table

    table, axes = settings_table(result), result.search.axes
    scores = slice(1 + len(axes), 4 + len(axes))  # after the number of seeds
    rows = []
    for name, *fields in table.rows:
        chosen = [f"{axis}={value}" for axis, value in zip(axes, fields, strict=False) if value is not None]
        rest = ["" if field is None else str(field) for field in fields[scores]]
        rows.append([" ".join([*([f"{name}:"] if name else []), *chosen]), *rest])
    return ["settings", *table.columns[1:][scores]], rows


def _print(result: GridResult, report: Reproduction, out: Path, as_json: bool) -> int:
    from pssa.cli._output import print_json, print_table, say
    from pssa.experiments.cells import cell_name
    from pssa.studies.tune import describe, summary

    if as_json:
        print_json({"out": str(out), **summary(result, report)})
        return 0 if report.is_complete else FAILED
    print_table("", *_narrow(result))
    say(describe(result))
    say(f"cells: {report.made} executed, {report.reused} reused, {len(report.failures)} failed")
    if result.helps:
        say(f"train with the best settings: pssa train --config {shlex.quote(str(out / 'best.toml'))} --out RUN")
    elif result.best is not None:
        say("the baseline is at least as good as the best: train with --method base, or try another grid")
    print_failures((cell_name(cell), reason) for cell, reason in report.failures.items())
    return 0 if report.is_complete else FAILED
