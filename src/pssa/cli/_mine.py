"""`pssa evidence mine`: mine evidence from labelled data and write it to a file, without the final training."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from pssa.cli._options import add_model, add_training, file_config, names_in, training_settings
from pssa.cli._parser import Commands, add_command, option
from pssa.errors import InputError

if TYPE_CHECKING:
    from pssa.runs import Config

_PROGRESSIVE = "progressive"  # the family, of which the saliency names a method


def add_parser(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(commands, "mine", "mine evidence, without the final training", run)
    option(parser, "--train FILE", "labelled instances to mine", type=str)
    add_model(parser)
    option(parser, "--saliency NAME", f"{names_in('saliency')} (default: by method and model)")
    parser.add_argument(
        "--method",
        choices=(_PROGRESSIVE, "consensus", "aw-as", "pg-as", "rm-as"),
        help="mining method; aw-as, pg-as and rm-as fix the saliency (default progressive)",
    )
    option(parser, "--out FILE", "evidence file to write", required=True)
    add_training(parser, hidden=("supervision",))


def run(arguments: argparse.Namespace) -> int:
    """Mine evidence from labelled instances and write it to a file, without the final training.

    pssa evidence mine --train reviews.csv --iterations 2 --out evidence.jsonl
    pssa evidence mine --train reviews.csv --method consensus --out consensus.jsonl
    """
    from pssa.cli._output import counted, print_json, say, warn_no_evidence
    from pssa.data.evidence_stats import stats
    from pssa.runs.read_defaults import repeated_options
    from pssa.runs.training_run import mine
    from pssa.runs.warm_start import merge_settings
    from pssa.training import Team
    from pssa.training.progress import TrainingProgress

    settings = training_settings(arguments, ("saliency",))
    start = file_config(arguments)
    config = _choose_method(merge_settings(start, settings), arguments)
    if config.data.train is None:
        raise InputError("pssa evidence mine needs --train FILE")
    with TrainingProgress() as bars:
        start = replace(start, method=config.method)
        watch: dict[str, Any] = {"observer": bars, "on_vectors": bars.on_vectors, "progress": False}
        evidence = mine(None, arguments.out, config=start, **watch, **settings)
    # Only the main one of several processes prints.
    if not Team.from_environment().is_main:
        return 0
    summary = stats(evidence)
    found = bool(summary.active or summary.misleading)
    if not found:
        warn_no_evidence(config, "nothing was found to train with")
    if arguments.json:
        print_json({"evidence": str(arguments.out), **asdict(summary)})
        return 0
    examples = counted(summary.examples, "example")
    say(f"{arguments.out}: {examples}, {summary.active} active, {summary.misleading} misleading words")
    path = shlex.quote(str(arguments.out))
    say(f"inspect it:    pssa evidence stats {path}")
    if found:
        say(f"train with it: pssa train {shlex.join(repeated_options(config))} --evidence {path} --out RUN")
    return 0


def _choose_method(config: Config, arguments: argparse.Namespace) -> Config:
    """Return the configuration with a method that mines: that of an option, its own, or one named after the saliency."""
    from pssa.runs import methods
    from pssa.runs.methods.progressive import method_for

    current = methods.find(config.method)
    if any(text.partition("=")[0] == "method" for text in arguments.set):
        return config
    is_progressive = current.family == _PROGRESSIVE
    name = arguments.method or (current.name if current.mines and not is_progressive else _PROGRESSIVE)
    if name == _PROGRESSIVE:
        keeps = is_progressive and arguments.saliency is None
        return config if keeps else replace(config, method=method_for(config.mining.saliency))
    method = methods.find(name)
    if arguments.saliency not in (None, method.default_saliency) and method.family == _PROGRESSIVE:
        raise InputError(f"--method {name} fixes the saliency; use --method progressive with --saliency")
    return replace(config, method=name)
