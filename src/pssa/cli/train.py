"""`pssa train`: train a classifier into a new run directory, or resume an interrupted one."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from pathlib import Path
from typing import Any

from pssa.cli._options import add_model, add_training, file_config, training_settings
from pssa.cli._output import counted, print_json, print_table, say, warn_no_evidence
from pssa.cli._parser import Commands, add_command, option
from pssa.data.numbers import percent
from pssa.errors import InputError, for_command_line
from pssa.runs import methods
from pssa.runs.settings import Config

_N_ADVICE = 3  # at most


def add_parser(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(commands, "train", "train a classifier on labelled data", run)
    option(parser, "--train FILE", "labelled instances to learn from", type=str)
    add_model(parser)
    option(parser, "--method NAME", f"{', '.join(methods.names())} (default base)")
    option(parser, "--out RUN", "run directory to create", type=Path)
    option(parser, "--resume RUN", "interrupted run to resume; takes no other option", type=Path)
    option(
        parser,
        "--find-aspects FILE",
        "train a tagger too, on sentences with all their aspects (default: the training data)",
        nargs="?",
        const="",
        type=str,
    )
    add_training(parser)


def run(arguments: argparse.Namespace) -> int:
    """Train a classifier and save it in a new run directory, or resume an interrupted run.

    pssa train --train reviews.csv --method pg-as --out runs/reviews
    pssa train --train train.xml --find-aspects --model bertabsa_att --encoder DIR --out runs/raw
    pssa train --resume runs/reviews
    """
    from pssa.aspects.find import FOLDER, has_tagger
    from pssa.aspects.train import prepare_tagger, resume_aspects
    from pssa.data.evidence import KINDS
    from pssa.data.evidence_file import read_evidence
    from pssa.runs.directory import RunDirectory
    from pssa.runs.run_metrics import FILE, read_metrics
    from pssa.runs.training_run import finish_run, write_run
    from pssa.runs.warm_start import merge_settings
    from pssa.training import Team
    from pssa.training.progress import TrainingProgress

    if arguments.resume is not None:
        _refuse_beside_resume(arguments)
    if arguments.model == "joint":
        return _train_joint(arguments)
    config, settings = file_config(arguments), training_settings(arguments, ("method",))
    whole = merge_settings(config, settings)
    if arguments.resume is None and (whole.data.train is None or arguments.out is None):
        raise InputError("pssa train needs --train FILE and --out RUN, or --resume RUN")
    out, is_main = arguments.resume or arguments.out, Team.from_environment().is_main
    try:
        on_begin = None
        if arguments.find_aspects is not None and is_main:  # a tagger is trained beside the classifier
            RunDirectory.refuse_taken(arguments.out)
            tagger = prepare_tagger(whole, arguments.find_aspects or None, whole.data.train, arguments.out)
            on_begin = tagger.begin_within
        with TrainingProgress() as bars:
            if arguments.resume is not None:
                finish_run(out, bars, progress=False)
            else:
                watch: dict[str, Any] = {"observer": bars, "on_vectors": bars.on_vectors, "progress": False}
                write_run(None, out, config=config, on_begin=on_begin, **watch, **settings)
        if has_tagger(out) and is_main:
            with TrainingProgress(score="F1") as tagger_bars:
                resume_aspects(out / FOLDER, tagger_bars)
    except KeyboardInterrupt:
        # Until its configuration is written there is no run to resume.
        hint = [f"continue with: pssa train --resume {out}"] if (out / "config.toml").is_file() else []
        raise KeyboardInterrupt(*hint) from None
    if not is_main:  # of processes that train together, only the main one prints
        return 0
    path = out / "evidence.jsonl"
    if bars.result is not None:
        metrics, evidence = bars.result
    else:
        if not arguments.json:
            print(f"pssa: {out} was finished before; nothing was trained", file=sys.stderr)
        metrics, evidence = read_metrics(out / FILE), read_evidence(path) if path.is_file() else None
    words: dict[str, Any] = {}
    if evidence is not None:
        counts = {kind: sum(len(getattr(one, kind)) for one in evidence.examples) for kind in KINDS}
        words = {"evidence": str(path), **counts}
        if not any(counts.values()):
            warn_no_evidence(Config.from_toml(out / "config.toml"), "nothing was supervised")
    _summarise(out, metrics, words, as_json=arguments.json)
    return 0


def _train_joint(arguments: argparse.Namespace) -> int:
    """Train a model that finds and labels, on texts with all their opinions."""
    from pssa.runs.run_metrics import FILE
    from pssa.runs.training_run import write_run
    from pssa.training.progress import TrainingProgress

    for name in ("method", "find_aspects", "config"):
        if getattr(arguments, name) is not None:
            raise InputError(f"--{name.replace('_', '-')} is not an option of the model joint; leave it out")
    if arguments.train is None or arguments.out is None:
        raise InputError("pssa train --model joint needs --train FILE and --out RUN")
    with TrainingProgress() as bars:
        write_run(None, arguments.out, observer=bars, progress=False, **training_settings(arguments, ()))
    metrics = json.loads((arguments.out / FILE).read_bytes())
    if arguments.json:
        print_json({"run": str(arguments.out), **metrics})
        return 0
    (dev,) = metrics["dev"]
    counts = [counted(metrics[noun + "s"], noun) for noun in ("sentence", "aspect")]
    say(f"{arguments.out}: {', '.join(counts)}; {metrics['with_opinion_words']} of them with marked opinion words")
    if dev["spans"]:
        say(f"held out: exact-span F1 {percent(dev['spans']['f1'])}")
    if labels := dev["labels"]:
        commonest = percent(labels["commonest_share"])
        say(f"held out: labels {percent(labels['accuracy'])} (always the commonest {commonest})")
    say(f'\nNext:  pssa try --run {shlex.quote(str(arguments.out))} "Great view, but the waiter was rude."')
    return 0


def _refuse_beside_resume(arguments: argparse.Namespace) -> None:
    """Refuse options beside `--resume`: a run keeps its own settings, and nothing is silently ignored."""
    for name, value in vars(arguments).items():
        if name not in ("resume", "json", "debug", "run") and value is not None and value != []:
            option = "--" + name.replace("_", "-")
            raise InputError(
                f"{option} cannot be used with --resume, because the run keeps its own settings; leave it out"
            )


def _summarise(out: Path, metrics: dict[str, Any], evidence: dict[str, Any], *, as_json: bool) -> None:
    from pssa.aspects.find import FOLDER
    from pssa.cli.aspects import print_tagger
    from pssa.runs.run_metrics import FILE, read_tagger_metrics

    tagger = out / FOLDER / FILE
    found = read_tagger_metrics(tagger) if tagger.is_file() else None
    if as_json:
        print_json({"run": str(out), **metrics, **evidence, **({"aspects": found} if found else {})})
        return
    dropped = "".join(f"; {count} dropped as {reason}" for reason, count in metrics["dropped"].items())
    instances, epochs = counted(metrics["instances"], "instance"), counted(metrics["epochs"], "epoch")
    say(f"{out}: {instances}{dropped}; {epochs}; {metrics['parameters']:,} trained parameters")
    if metrics["vector_coverage"]:
        say(f"word vectors cover {percent(metrics['vector_coverage']['tokens'])} of the training tokens")
    if gate := metrics.get("gate"):
        scores = f"{percent(gate['with_evidence'])} with evidence, {percent(gate['without'])} without"
        say(f"held-out macro-F1 {scores}: trained {'with' if gate['supervised'] else 'without'} it")
    if evidence:
        say(f"{evidence['active']} active, {evidence['misleading']} misleading words in {evidence['evidence']}")
    if found:
        print_tagger(out / FOLDER, found)
    _print_scores(out, metrics)


def _print_scores(out: Path, metrics: dict[str, Any]) -> None:
    """Print the score of the run `out` beside the majority baseline, advice, and the next commands."""
    from pssa.runs.advice import HeldOutScore, MajorityBaseline, advise

    config = Config.from_toml(out / "config.toml")
    baseline = MajorityBaseline.of(metrics["labels"])
    rows = [[f"always {baseline.label}", percent(baseline.accuracy), percent(baseline.macro_f1)]]
    if held_out := HeldOutScore.of(config, metrics):
        rows.append([f"this model, {held_out.data}", percent(held_out.accuracy), percent(held_out.macro_f1)])
    print_table("", ("", "accuracy", "macro-F1"), rows)
    if not held_out:
        why = "was given" if config.epochs else "is the default for so many instances"
        say(f"No data was held out, since the number of epochs {why}, so there is no score of this model yet.")
        say(f"Measure it with labelled data: pssa evaluate {shlex.quote(str(out))} --data TEST.csv")
    if advice := advise(config, metrics):
        say("\nWhat would help most:")
        for line in advice[:_N_ADVICE]:
            say(f"- {for_command_line(line)}")
    run = shlex.quote(str(out))
    say("\nNext:")
    say(f"  score on new data      pssa evaluate {run} --data TEST.csv")
    say(f"  report to share        pssa report {run} --data TEST.csv --out report.html")
    say(f"  try in the browser     pssa serve {run}")
