"""`pssa mine`: mine evidence from labelled data and write it to a file, without the final training."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from pssa.cli._options import common_options, data_options, training_options, training_settings
from pssa.errors import InputError

__all__ = ["add_parser"]

_METHOD_OF = {"attention": "aw-as", "gradient": "pg-as", "random": "rm-as"}


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "mine", parents=[common_options(), data_options(), training_options()], help="mine evidence into a file"
    )
    parser.add_argument("--train", type=Path, required=True, help="labelled instances to mine")
    parser.add_argument("--dev", type=Path, help="instances that choose the number of epochs, instead of held-out ones")
    parser.add_argument("--model", help="memnet, tnet_att (default tnet_att)")
    parser.add_argument(
        "--saliency", help="attention, gradient, random, leave_one_out, integrated_gradients (default gradient)"
    )
    parser.add_argument("--method", choices=("progressive", "consensus"), default="progressive")
    parser.add_argument("--out", type=Path, required=True, help="the evidence file to make")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Mine, write, and sum up."""
    from pssa.cli._output import print_json, say
    from pssa.cli._progress import ProgressBars
    from pssa.data.evidence_stats import stats
    from pssa.runs import Config
    from pssa.runs.mine import mine

    if arguments.out.exists():
        raise InputError(f"{arguments.out} exists already; choose another --out")
    config = Config() if arguments.config is None else Config.from_toml(arguments.config)
    names = ("model", "saliency", "format", "labels", "conflict")
    settings = training_settings(arguments, names)
    progressive = _METHOD_OF.get(arguments.saliency or "gradient", "pg-as")
    settings["method"] = "consensus" if arguments.method == "consensus" else progressive
    with ProgressBars() as bars:
        evidence = mine(arguments.train, arguments.out, dev=arguments.dev, config=config, observer=bars, **settings)
    summary = stats(evidence)
    if arguments.json:
        print_json({"evidence": str(arguments.out), **asdict(summary)})
        return 0
    say(f"{arguments.out}: {summary.examples} examples, {summary.active} active, {summary.misleading} misleading words")
    say(f"look at it: pssa evidence stats {arguments.out}; train with it: pssa train --evidence {arguments.out}")
    return 0
