"""`pssa bench`: measure speed and memory on this machine, as ratios of things that were measured in turns."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pssa.cli._help import page
from pssa.cli._options import common_options
from pssa.errors import InputError

if TYPE_CHECKING:
    from pssa.cli._bench import Measurement, Request

__all__ = ["add_parser"]


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "bench",
        parents=[common_options()],
        help="measure speed and memory on this machine",
        **page(
            "Measure speed and memory on this machine, as ratios of things that were measured in turns.",
            "pssa bench --list",
            "pssa bench startup",
            "pssa bench scoring --run runs/reviews --rows 10000 --out scoring.json",
        ),
    )
    parser.add_argument("name", metavar="NAME", nargs="?", help="what to measure; --list names them")
    parser.add_argument("--list", action="store_true", help="name the benchmarks, and measure nothing")
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="folder with laptop/train.txt and the like (default: embedded corpus)"
    )
    parser.add_argument("--vectors", type=Path, metavar="F", help="word vectors to start from")
    parser.add_argument("--encoder", metavar="E", help="folder or hub name of an encoder: measure bertabsa_att with it")
    parser.add_argument(
        "--run", type=Path, metavar="RUN", dest="run_path", help="score with this run (default: a hasty one)"
    )
    parser.add_argument(
        "--rows", type=_numbers, default=(), metavar="N,N", help="sizes to measure at (default: by benchmark)"
    )
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="of each measurement (default 3)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write all that was measured to a JSON file")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Measure, and say what was found."""
    from pssa.cli import _bench
    from pssa.cli._bench._outcome import load_average, machine

    if arguments.list:
        return _list(arguments.json)
    if arguments.name is None:
        raise InputError(f"name a benchmark: {', '.join(_bench.names())}")
    measure, request = _bench.find(arguments.name), _request(arguments)
    if arguments.out is not None and not arguments.out.parent.is_dir():
        raise InputError(f"--out {arguments.out} is in no folder that exists; make {arguments.out.parent} first")
    before = load_average()
    outcome = measure(request)
    whole = {
        "benchmark": arguments.name,
        "machine": machine(),
        "load": {"before": before, "after": load_average()},
        **outcome.plain(),
    }
    _tell(outcome, whole, arguments)
    return 0


def _numbers(given: str) -> tuple[int, ...]:
    try:
        return tuple(int(number) for number in given.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{given!r} is no list of whole numbers such as 1000,10000") from None


def _request(arguments: argparse.Namespace) -> Request:
    from pssa.cli._bench import Request

    return Request(
        arguments.data, arguments.vectors, arguments.encoder, arguments.run_path, arguments.rows, arguments.repeats
    )


def _list(as_json: bool) -> int:
    from pssa.cli import _bench
    from pssa.cli._output import print_json, say

    titles = {name: _bench.title(name) for name in _bench.names()}
    if as_json:
        print_json({"benchmarks": [{"name": name, "title": title} for name, title in titles.items()]})
        return 0
    wide = max(map(len, titles))
    for name, title in titles.items():
        say(f"{name:<{wide}}  {title}")
    return 0


def _tell(outcome: Measurement, whole: dict[str, Any], arguments: argparse.Namespace) -> None:
    from pssa.cli._output import counted, print_json, print_table, say
    from pssa.data.atomic import write_atomically

    if arguments.out is not None:
        write_atomically(arguments.out, (json.dumps(whole, indent=1) + "\n").encode())
    if arguments.json:
        print_json(whole)
        return
    for table in outcome.tables:
        print_table(table.title, table.columns, table.text())
    for note in outcome.notes:
        say(note)
    known, load = whole["machine"], whole["load"]
    cores = counted(known["cores"], "core")
    say(f"{known['processor']}, {cores}; load average {load['before']} before, {load['after']} after")
