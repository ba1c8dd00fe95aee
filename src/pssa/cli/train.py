"""`pssa train`: train a classifier into a new run directory, or resume an interrupted one."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from pathlib import Path
from typing import Any

from pssa.cli._options import ROWS, add_model, add_training, file_config, training_settings
from pssa.cli._output import counted, print_json, print_table, say, warn_no_evidence
from pssa.cli._parser import Commands, add_command, option
from pssa.display import percent
from pssa.errors import InputError, for_command_line
from pssa.runs import methods
from pssa.runs.settings import Config

_N_ADVICE = 3  # at most


def add_parser(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(commands, "train", "train a classifier on labelled data", run)
    option(parser, "--train FILE", "labelled instances to learn from", type=str)
    add_model(parser, "joint, tagger (default joint, from the starter; tnet_att with what joint does not take)")
    option(parser, "--method NAME", f"{', '.join(methods.names())} (default base)")
    option(parser, "--out RUN", "run directory to create", type=Path)
    option(parser, "--resume RUN", "interrupted run to resume; takes no other option", type=Path)
    option(parser, "--group", "group lines with one aspect by sentence, for the model tagger")
    add_training(parser)


def run(arguments: argparse.Namespace) -> None:
    """Train a model and save it in a new run directory, or resume an interrupted run. The starter goes on learning, unless a
    model is named, or an option that only other models take; the model tagger finds aspects instead of labelling them.

    pssa train --train reviews.csv --out runs/reviews
    pssa train --train reviews.csv --method pg-as --vectors glove.840B.300d.zip --out runs/mined
    pssa train --resume runs/mined
    """
    from pssa.aspects.find import is_tagger
    from pssa.aspects.spans import read_sentences
    from pssa.runs.loading import is_joint
    from pssa.runs.run_metrics import FILE, read_metrics, read_tagger_metrics
    from pssa.runs.training_run import finish_run, write_run
    from pssa.training import Team
    from pssa.training.progress import TrainingProgress

    out: Path = arguments.resume or arguments.out
    settings: dict[str, Any] = {}
    data = config = None
    if arguments.resume is not None:
        _refuse_beside_resume(arguments)
        finds, was_finished = is_tagger(out), (out / FILE).is_file()
    else:
        settings = training_settings(arguments, ("method",))
        config = None if arguments.config is None else file_config(arguments)
        usual = config or Config()
        if settings.get("train", usual.data.train) is None or out is None:
            raise InputError("pssa train needs --train FILE and --out RUN, or --resume RUN")
        finds, was_finished = settings.get("model", usual.model) == "tagger", False
        if arguments.group and not finds:
            raise InputError("--group is for the model tagger; leave it out")
        if arguments.group and "train" in settings:
            reading = {name: settings.pop(name) for name in ("train", *ROWS) if name in settings}
            data = read_sentences(reading.pop("train"), group=True, **reading)
    try:
        with TrainingProgress(score="F1" if finds else "macro-F1") as bars:
            if arguments.resume is not None:
                finish_run(out, bars, progress=False)
            else:
                write_run(data, out, config=config, observer=bars, progress=False, **settings)
    except KeyboardInterrupt:
        # Until its configuration is written there is no run to resume.
        hint = [f"continue with: pssa train --resume {out}"] if (out / "config.toml").is_file() else []
        raise KeyboardInterrupt(*hint) from None
    if not Team.from_environment().is_main:  # of processes that train together, only the main one prints
        return
    if was_finished and not arguments.json:
        print(f"pssa: {out} was finished before; nothing was trained", file=sys.stderr)
    if finds:
        metrics, show = read_tagger_metrics(out / FILE), _print_tagger
    elif is_joint(out):
        metrics, show = json.loads((out / FILE).read_bytes()), _print_joint
    else:
        metrics, show = read_metrics(out / FILE) | _count_evidence(out / "evidence.jsonl"), _print_classifier
    if arguments.json:
        print_json({"run": str(out), **metrics})
    else:
        show(out, metrics)


def _refuse_beside_resume(arguments: argparse.Namespace) -> None:
    """Refuse options beside `--resume`: a run keeps its own settings, and nothing is silently ignored."""
    for name, value in vars(arguments).items():
        if name not in ("resume", "json", "debug", "run") and value is not None and value is not False and value != []:
            option = "--" + name.replace("_", "-")
            raise InputError(
                f"{option} cannot be used with --resume, because the run keeps its own settings; leave it out"
            )


def _count_evidence(path: Path) -> dict[str, Any]:
    """Return the number of words of each kind that a run was supervised with; nothing if it has no evidence."""
    from pssa.data.evidence import KINDS
    from pssa.data.evidence_file import read_evidence

    if not path.is_file():
        return {}
    examples = read_evidence(path).examples
    counts = {kind: sum(len(getattr(one, kind)) for one in examples) for kind in KINDS}
    if not any(counts.values()):
        warn_no_evidence(Config.from_toml(path.with_name("config.toml")), "nothing was supervised")
    return {"evidence": str(path), **counts}


def _print_joint(out: Path, metrics: dict[str, Any]) -> None:
    """Print what a joint model has learned from, how good it is on held-out texts, and the next commands."""
    from pssa.runs import load
    from pssa.runs.evaluate import describe_held_out

    (dev,) = metrics["dev"]
    counts = [counted(metrics[noun + "s"], noun) for noun in ("sentence", "aspect")]
    words = f"; {metrics['with_opinion_words']} of them with marked opinion words"
    say(f"{out}: {', '.join(counts)}{words if metrics['with_opinion_words'] else ''}")
    if dev["spans"]:
        say(f"held out: exact-span F1 {percent(dev['spans']['f1'])}")
    say(describe_held_out(load(out).held_out))
    _print_next(out)


def _print_tagger(out: Path, metrics: dict[str, Any]) -> None:
    """Print what a tagger has learned from, and how good it is."""
    held_out = f"; held-out F1 {percent(metrics['dev']['f1'])}" if metrics["dev"] else ""
    data = f"{counted(metrics['sentences'], 'sentence')}, {metrics['empty']} of them without aspects"
    say(f"{out}: {data}; {counted(metrics['aspects'], 'aspect')}; {counted(metrics['epochs'], 'epoch')}{held_out}")
    say(f"{metrics['parameters']:,} trained parameters")
    if metrics["vector_coverage"]:
        say(f"word vectors cover {percent(metrics['vector_coverage']['tokens'])} of the training words")
    say(f"\nNext:  pssa predict RUN --input FILE --output FILE --aspects-from {shlex.quote(str(out))}")


def _print_classifier(out: Path, metrics: dict[str, Any]) -> None:
    """Print what a classifier has learned from and its evidence, how good it is, and the next commands."""
    dropped = "".join(f"; {count} dropped as {reason}" for reason, count in metrics["dropped"].items())
    instances, epochs = counted(metrics["instances"], "instance"), counted(metrics["epochs"], "epoch")
    say(f"{out}: {instances}{dropped}; {epochs}; {metrics['parameters']:,} trained parameters")
    if metrics["vector_coverage"]:
        say(f"word vectors cover {percent(metrics['vector_coverage']['tokens'])} of the training tokens")
    if gate := metrics.get("gate"):
        scores = f"{percent(gate['with_evidence'])} with evidence, {percent(gate['without'])} without"
        say(f"held-out macro-F1 {scores}: trained {'with' if gate['supervised'] else 'without'} it")
    if "evidence" in metrics:
        say(f"{metrics['active']} active, {metrics['misleading']} misleading words in {metrics['evidence']}")
    _print_scores(out, metrics)


def _print_scores(out: Path, metrics: dict[str, Any]) -> None:
    """Print the score of the run `out` beside the majority baseline, advice, and the next commands."""
    from pssa.runs.card import advise, held_out_score, majority_score

    config = Config.from_toml(out / "config.toml")
    baseline = majority_score(metrics["labels"])
    rows = [[f"always {baseline.name}", percent(baseline.accuracy), percent(baseline.macro_f1)]]
    if held_out := held_out_score(config, metrics):
        rows.append([f"this model, {held_out.name}", percent(held_out.accuracy), percent(held_out.macro_f1)])
    print_table("", ("", "accuracy", "macro-F1"), rows)
    if not held_out:
        why = "was given" if config.epochs else "is the default for so many instances"
        say(f"No data was held out, since the number of epochs {why}, so there is no score of this model yet.")
        say(f"Measure it with labelled data: pssa evaluate {shlex.quote(str(out))} --data TEST.csv")
    if advice := advise(config, metrics):
        say("\nWhat would help most:")
        for line in advice[:_N_ADVICE]:
            say(f"- {for_command_line(line)}")
    _print_next(out)


def _print_next(out: Path) -> None:
    run = shlex.quote(str(out))
    say("\nNext:")
    say(f"  score on new data      pssa evaluate {run} --data TEST.csv")
    say(f"  report to share        pssa report {run} --data TEST.csv --out report.html")
    say(f"  try in the browser     pssa serve {run}")
    say(f'  try a review           pssa try --run {run} "Great view, but the waiter was rude."')
