"""`pssa train`: train a classifier into a new run directory, or go on with an interrupted one."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from pssa.cli._options import common_options, names_in, training_config, training_options, training_settings
from pssa.cli._parser import page
from pssa.errors import InputError

__all__ = ["add_parser"]


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "train",
        parents=[_first_options(), training_options(), common_options()],
        help="train a classifier into a run directory",
        **page(
            "Train a classifier into a new run directory, or go on with an interrupted one.",
            "pssa train --train reviews.csv --method pg-as --out runs/reviews",
            "pssa train --train reviews.csv --model bertabsa --encoder FOLDER --out runs/encoder",
            "pssa train --resume runs/reviews",
        ),
    )
    parser.set_defaults(run=run)


def _first_options() -> argparse.ArgumentParser:
    """What is given nearly always, so that help shows it first."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--train", help="labelled instances to learn from")
    parser.add_argument("--model", help=f"{names_in('models')} (default tnet_att)")
    parser.add_argument("--method", help="base, kt, boosting, adaboost, aw-as, pg-as, rm-as, consensus (default base)")
    parser.add_argument("--out", type=Path, help="the run directory to make")
    parser.add_argument("--resume", type=Path, metavar="RUN", help="go on with an interrupted run; needs nothing else")
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Train, and say what came out."""
    from pssa.cli._progress import ProgressBars
    from pssa.runs import resume, train
    from pssa.runs.unused import warn_of_unused
    from pssa.training import Team

    if arguments.resume is not None:
        _refuse_beside_resume(arguments)
    config = training_config(arguments, ("method",))
    warn_of_unused(config, training_settings(arguments, ("method",)))
    if arguments.resume is None and (not config.data.train or arguments.out is None):
        raise InputError("pssa train needs --train FILE and --out RUN, or --resume RUN")
    out = arguments.resume or arguments.out
    try:
        with ProgressBars() as bars:
            if arguments.resume is not None:
                resume(out, bars)
            else:
                train(None, out, config=config, observer=bars, on_vectors=bars.on_vectors)
    except KeyboardInterrupt:
        # Until its configuration is written there is no run to go on with.
        hint = [f"go on with: pssa train --resume {out}"] if (out / "config.toml").is_file() else []
        raise KeyboardInterrupt(*hint) from None
    # Of processes that train together, the leader speaks.
    return _summarise(out, arguments.json) if Team.from_environment().is_main else 0


def _refuse_beside_resume(arguments: argparse.Namespace) -> None:
    """A run goes on with what it holds, so nothing that would change it is taken and then ignored."""
    for name, value in vars(arguments).items():
        if name not in ("resume", "json", "debug", "run") and value is not None and value != []:
            option = "--" + name.replace("_", "-")
            raise InputError(f"{option} does not go with --resume, since the run keeps its own settings; leave it out")


def _summarise(out: Path, as_json: bool) -> int:
    from pssa.cli._output import counted, print_json, say
    from pssa.runs.directory import read_json

    metrics, evidence = read_json(out / "metrics.json"), _evidence(out)
    if as_json:
        print_json({"run": str(out), **metrics, **evidence})
        return 0
    dev = metrics["dev"]
    held_out = f"; held-out accuracy {dev['accuracy']:.4f}, macro-F1 {dev['macro_f1']:.4f}" if dev else ""
    dropped = "".join(f"; {count} dropped as {reason}" for reason, count in metrics["dropped"].items())
    instances, epochs = counted(metrics["instances"], "instance"), counted(metrics["epochs"], "epoch")
    say(f"{out}: {instances}{dropped}; {epochs}{held_out}")
    say(f"{metrics['parameters']:,} trained parameters")
    if metrics["vector_coverage"]:
        say(f"word vectors cover {metrics['vector_coverage']['tokens']:.1%} of the training tokens")
    if evidence:
        say(f"{evidence['active']} active, {evidence['misleading']} misleading words in {evidence['evidence']}")
    return 0


def _evidence(out: Path) -> dict[str, Any]:
    """The file that the run was supervised with, where it was, and how many words are in it; none at all is worth a warning."""
    from pssa.cli._output import warn_no_evidence
    from pssa.data.evidence_file import read_evidence
    from pssa.runs import Config

    path = out / "evidence.jsonl"
    if not path.is_file():
        return {}
    examples = read_evidence(path).examples
    active, misleading = (sum(len(getattr(example, kind)) for example in examples) for kind in ("active", "misleading"))
    if not active + misleading:
        warn_no_evidence(Config.from_toml(out / "config.toml"), "nothing was supervised")
    return {"evidence": str(path), "active": active, "misleading": misleading}
