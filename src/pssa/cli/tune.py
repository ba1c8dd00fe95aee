"""`pssa tune`: judge a declared grid of settings on held-out data, with evidence mined once; started again, it goes on."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pssa.cli._options import add_cells, common_options, data_options, names_in, reading
from pssa.cli._parser import page
from pssa.errors import InputError

if TYPE_CHECKING:
    from pssa.experiments.grid import Study
    from pssa.experiments.resources import HowRead
    from pssa.studies.tune import Tuned
    from pssa.studies.tuning import Tuning

__all__ = ["add_parser"]

_FAILED = 1
# Options that decide nothing about the results, and values that need not be told.
_OF_OUTPUT = ("run", "json", "debug")
_USUAL = (None, "", 0, False, "auto", "local")


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "tune",
        parents=[data_options(), common_options()],
        help="choose settings on held-out data",
        **page(
            "Judge a grid of settings of one model and method on held-out instances, with evidence mined once, and say"
            " which is best. Started again, it goes on with what --out has.",
            "pssa tune --train reviews.csv --method pg-as --grid gamma=0.5,2,8 --out tuned",
            "pssa tune --train reviews.csv --method aw-as --grid gamma=0.5,2 --grid words=both,active --seeds 5 --out words",
            "pssa tune --train reviews.csv --method consensus --grid-file grid.toml --set epochs=10 --out consensus",
        ),
    )
    parser.add_argument("--train", type=Path, required=True, help="labelled instances; a fifth of them judges")
    parser.add_argument("--model", default="tnet_att", help=f"{names_in('models')} (default tnet_att)")
    parser.add_argument("--method", required=True, help="aw-as, pg-as, rm-as or consensus")
    parser.add_argument(
        "--grid",
        action="append",
        default=[],
        metavar="NAME=VALUE,VALUE",
        help="a setting that varies, such as gamma=0.5,2,8; several make all combinations",
    )
    parser.add_argument("--grid-file", type=Path, metavar="F", help="TOML file of such, with lists of values")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a setting that stays, such as epochs=10"
    )
    parser.add_argument("--seeds", type=int, default=3, help="trainings of each setting (default 3)")
    parser.add_argument("--metric", default="macro_f1", help="that chooses: macro_f1 or accuracy (default macro_f1)")
    parser.add_argument("--vectors", type=Path, metavar="F", help="word vectors, for models that read words")
    parser.add_argument("--encoder", metavar="E", help="folder or hub name of an encoder, for models on one")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="what is there already is reused")
    add_cells(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Tune, and say what came of it."""
    if arguments.seeds < 1:
        raise InputError(f"--seeds is {arguments.seeds}; it must be at least 1")
    from pssa.cli.reproduce import CellsBar
    from pssa.experiments.scope import Scope
    from pssa.studies.reproduce import Means
    from pssa.studies.tune import resources_of, tune

    study = _study(arguments)
    starts = (arguments.train, arguments.vectors, arguments.encoder, arguments.device)
    resources = resources_of(*starts, _reading(arguments))
    means = Means(arguments.engine, arguments.workers, arguments.address, arguments.fresh)
    with CellsBar() as bar:
        tuned = tune(study, Scope(resources, arguments.seeds), arguments.out, means, bar, _command(arguments))
    return _tell(tuned, arguments.out, arguments.json)


def _reading(arguments: argparse.Namespace) -> HowRead:
    from pssa.data.example import DEFAULT_LABELS
    from pssa.data.read import Columns
    from pssa.experiments.resources import HowRead

    asked = reading(arguments, arguments.labels or DEFAULT_LABELS)
    return HowRead(asked["format"] or "", Columns.of(asked["columns"]), asked["labels"], asked["conflict"])


def _study(arguments: argparse.Namespace) -> Study:
    from pssa.experiments.grid import Study, parse_axis, parse_setting, read_grids

    axes = dict(parse_axis(text) for text in arguments.grid)
    if len(axes) < len(arguments.grid):
        raise InputError("--grid names a setting twice; give all of its values at once")
    grids = read_grids(arguments.grid_file) if arguments.grid_file else ({},)
    fixed = tuple(parse_setting(text) for text in arguments.set)
    both = sorted({name for name in axes for grid in grids if name in grid})
    if both:
        raise InputError(f"--grid and {arguments.grid_file} both vary {', '.join(both)}; leave it out of one of them")
    # What the command line varies is combined with every grid of the file.
    whole = tuple({**grid, **axes} for grid in grids)
    return Study(arguments.model, arguments.method, whole, fixed, arguments.metric)


def _command(arguments: argparse.Namespace) -> str:
    """What was typed, but for what is usual."""
    words = ["pssa", "tune"]
    for name, value in vars(arguments).items():
        several = value if isinstance(value, list) else [value]
        for given in several:
            if name not in _OF_OUTPUT and given not in _USUAL:
                words += [f"--{name.replace('_', '-')}", *([] if given is True else [_typed(given)])]
    return shlex.join(words)


def _typed(value: object) -> str:
    return ",".join(value) if isinstance(value, tuple) else str(value)


def _narrow(tuning: Tuning) -> tuple[list[str], list[list[str]]]:
    """Columns and rows for a terminal, which has little room: all settings in the first, and only scores beside it."""
    table, axes = tuning.table(), tuning.study.axes
    scores = slice(1 + len(axes), 4 + len(axes))  # what follows the number of seeds
    rows = []
    for name, *fields in table.rows:
        chosen = [f"{axis}={value}" for axis, value in zip(axes, fields, strict=False) if value is not None]
        rest = ["" if field is None else str(field) for field in fields[scores]]
        rows.append([" ".join([*([f"{name}:"] if name else []), *chosen]), *rest])
    return ["settings", *table.columns[1:][scores]], rows


def _tell(tuned: Tuned, out: Path, as_json: bool) -> int:
    from pssa.cli._output import print_json, print_table, say

    report = tuned.report
    if as_json:
        print_json({"out": str(out), **tuned.plain()})
        return 0 if report.is_well else _FAILED
    print_table("", *_narrow(tuned.tuning))
    say(tuned.tuning.told())
    say(f"cells: {report.made} carried out, {report.reused} reused, {len(report.failures)} failed")
    if tuned.tuning.helps:
        say(f"train with the best: pssa train --config {shlex.quote(str(out / 'best.toml'))} --out RUN")
    elif tuned.tuning.best is not None:
        say("the baseline is at least as good as the best: train with --method base, or try another grid")
    for failure in report.plain()["failed"]:
        line = f"{failure['cell']}: {failure['reason']}"
        print(f"pssa: failed: {' '.join(line.split())}", file=sys.stderr)
    return 0 if report.is_well else _FAILED
