"""Train a tagger that finds the aspects of raw text, measure it, and use it.

pssa aspects train --train train.xml --vectors glove.txt.gz --out taggers/reviews
pssa aspects evaluate taggers/reviews --data test.xml
pssa aspects find taggers/reviews --input reviews.csv --output aspects.csv
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pssa.cli._options import ROWS, add_job, add_shared, job_progress, job_settings, print_job, require_at_least
from pssa.cli._output import counted, print_json, say
from pssa.cli._parser import Commands, add_command, add_group, option, run_path
from pssa.data.numbers import percent
from pssa.errors import InputError

if TYPE_CHECKING:
    pass

_GROUP_HELP = "group lines by sentence, for files with one aspect per line"
_TRAIN_OPTIONS = (
    "train",
    "out",
    "encoder",
    "vectors",
    "epochs",
    "seed",
    "device",
    "format",
    "columns",
    "encoding",
    "group",
)


def add_parser(commands: Commands) -> None:
    """Declare `aspects` with its actions."""
    actions = add_group(commands, "aspects", "find the aspects of raw text", __doc__)

    train = add_command(actions, "train", "train a tagger", run_train)
    option(train, "--train FILE", "sentences with all their aspects: SemEval XML, JSON Lines, CSV or Parquet")
    option(train, "--out DIR", "directory to create")
    option(train, "--resume DIR", "interrupted training to resume; takes no other option")
    option(train, "--encoder NAME", "folder or hub name of a pretrained encoder")
    option(train, "--vectors FILE", "GloVe or word2vec text file, also .gz or .zip", type=str)
    option(train, "--epochs N", "number of epochs (default: chosen on held-out sentences)")
    option(train, "--seed N", "seed of everything random (default 0)")
    add_shared(train, "device", help="auto, cpu or cuda (default auto)", default=None)
    add_shared(train, *ROWS)
    option(train, "--group", _GROUP_HELP)

    evaluate = add_command(actions, "evaluate", "measure precision, recall and F1 of exact spans", run_evaluate)
    add_tagger(evaluate)
    option(evaluate, "--data FILE", "sentences with all their aspects, unseen in training", required=True)
    option(evaluate, "--run RUN", "classifier that judges what is found, to measure both together", dest="run_path")
    option(evaluate, "--labels-from FILE", "labelled instances of the same sentences (default: the data)")
    add_shared(evaluate, "device", *ROWS)
    option(evaluate, "--group", _GROUP_HELP)

    find = add_command(actions, "find", "list the aspects of raw text", run_find)
    add_tagger(find)
    add_job(find)
    add_shared(find, "device")


def add_tagger(parser: argparse.ArgumentParser) -> None:
    """Add the argument DIR."""
    text = "directory of a tagger, or of a run with one, or starter"
    parser.add_argument("tagger", metavar="DIR", type=run_path, help=text)


def run_train(arguments: argparse.Namespace) -> int:
    """Train a tagger and save it in a new directory, or resume an interrupted training. The number of epochs is chosen on
    held-out sentences; then the tagger is trained again on all of them.

    pssa aspects train --train train.xml --vectors glove.txt.gz --out taggers/reviews
    pssa aspects train --train train.jsonl --encoder FOLDER --out taggers/encoder
    pssa aspects train --resume taggers/reviews
    """
    from pssa.aspects import read_sentences, resume_aspects, train_aspects
    from pssa.aspects.find import FILE
    from pssa.runs.run_metrics import FILE as METRICS
    from pssa.runs.run_metrics import read_tagger_metrics
    from pssa.training.progress import TrainingProgress

    given = {name: getattr(arguments, name) for name in _TRAIN_OPTIONS if getattr(arguments, name) not in (None, False)}
    if arguments.resume is not None and given:
        option = "--" + next(iter(given))
        raise InputError(
            f"{option} cannot be used with --resume, because the training keeps its settings; leave it out"
        )
    if arguments.resume is None and not {"train", "out"} <= given.keys():
        raise InputError("pssa aspects train needs --train FILE and --out DIR, or --resume DIR")
    require_at_least(1, arguments, "epochs")
    out: Path = arguments.resume or arguments.out
    try:
        with TrainingProgress(score="F1") as bars:
            if arguments.resume is not None:
                resume_aspects(out, bars)
            else:
                reading = {name: given.pop(name, None) for name in ROWS}
                data = read_sentences(given.pop("train"), group=bool(given.pop("group", False)), **reading)
                del given["out"]
                train_aspects(data, out, observer=bars, on_vectors=bars.on_vectors, **given)
    except KeyboardInterrupt:
        # Until its settings are written there is nothing to resume.
        hint = [f"continue with: pssa aspects train --resume {out}"] if (out / FILE).is_file() else []
        raise KeyboardInterrupt(*hint) from None
    metrics = read_tagger_metrics(out / METRICS)
    if arguments.json:
        print_json({"tagger": str(out), **metrics})
    else:
        print_tagger(out, metrics)
    return 0


def print_tagger(out: Path, metrics: dict[str, Any]) -> None:
    """Print what a tagger has learned from, and how good it is."""
    held_out = f"; held-out F1 {percent(metrics['dev']['f1'])}" if metrics["dev"] else ""
    data = f"{counted(metrics['sentences'], 'sentence')}, {metrics['empty']} of them without aspects"
    say(f"{out}: {data}; {counted(metrics['aspects'], 'aspect')}; {counted(metrics['epochs'], 'epoch')}{held_out}")
    say(f"{metrics['parameters']:,} trained parameters")
    if metrics["vector_coverage"]:
        say(f"word vectors cover {percent(metrics['vector_coverage']['tokens'])} of the training words")


def run_evaluate(arguments: argparse.Namespace) -> int:
    """Measure how many aspects of labelled sentences a tagger finds, with both ends right, as SemEval-2014 counts them.

    pssa aspects evaluate taggers/reviews --data test.xml
    pssa aspects evaluate taggers/reviews --data test.xml --json
    pssa aspects evaluate taggers/reviews --data test.xml --run runs/reviews
    """
    from pssa.aspects import evaluate_aspects, evaluate_end_to_end, load_finder, read_sentences
    from pssa.data.io import read
    from pssa.runs import load

    if arguments.labels_from is not None and arguments.run_path is None:
        raise InputError("--labels-from is for a classifier that judges what is found; name one with --run RUN")
    finder = load_finder(arguments.tagger, device=arguments.device)
    reading = {name: getattr(arguments, name) for name in (*ROWS, "group")}
    sentences = read_sentences(arguments.data, **reading)
    scores = evaluate_aspects(finder, sentences)
    both = None
    if arguments.run_path is not None:
        classifier = load(arguments.run_path, device=arguments.device)
        source, more = arguments.labels_from, {}
        if source is None:
            source, more = arguments.data, {name: getattr(arguments, name) for name in ROWS}
        labelled = read(source, run=str(arguments.run_path), labels=classifier.labels, **more)
        both = evaluate_end_to_end(finder, classifier, sentences, labelled)
    if arguments.json:
        print_json(scores.as_dict() | ({"end_to_end": both.as_dict()} if both else {}))
        return 0
    say(f"precision {percent(scores.precision)}, recall {percent(scores.recall)}, F1 {percent(scores.f1)}")
    say(f"{counted(scores.gold, 'aspect')} in the data, {scores.found} found, {scores.right} of them right")
    if both:
        shown = ", ".join(f"{name} {percent(getattr(both, name))}" for name in ("precision", "recall"))
        say(f"with the right label: {shown}, F1 {percent(both.f1)}")
        aspects = f"{counted(both.gold, 'aspect')} with a label, {both.found} found, {both.right} of them right"
        say(f"{aspects}; {both.left_out} without a label left out")
    return 0


def run_find(arguments: argparse.Namespace) -> int:
    """List the aspects of every text in files of any size, one row per aspect, in order and in bounded memory. Each sentence of a
    text is read by itself; offsets are those of the text.

    pssa aspects find taggers/reviews --input reviews.csv --output aspects.csv
    pssa aspects find taggers/reviews --input reviews.csv --columns text=review --output aspects.jsonl
    """
    from pssa.predict import Job, Scoring, find_aspects

    job = Job(run=arguments.tagger, **job_settings(arguments), scoring=Scoring(device=arguments.device))
    with job_progress("find", job) as observer:
        summary = find_aspects(job, observer)
    counts = {"aspects": summary.rows, "texts": summary.texts, "empty": summary.empty, "rejected": summary.rejected}
    found = f"{counted(summary.rows, 'aspect')} in {counted(summary.texts, 'text')}"
    lines = [f"{job.output_title}: {found}; {summary.empty} without aspects"]
    if summary.rejected:
        lines.append(f"{job.rejected_path}: {counted(summary.rejected, 'row')} skipped")
    print_job(job, summary, {"output": job.output, **counts}, lines, as_json=arguments.json)
    return 0
