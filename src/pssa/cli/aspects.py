"""Measure a tagger that finds the aspects of raw text, and use it. `pssa train --model tagger` trains one.

pssa aspects evaluate taggers/reviews --data test.xml
pssa aspects find taggers/reviews --input reviews.csv --output aspects.csv
"""

from __future__ import annotations

import argparse

from pssa.cli._options import ROWS, add_job, add_shared, job_progress, job_settings, print_job
from pssa.cli._output import counted, print_json, say
from pssa.cli._parser import Commands, add_command, add_group, option, run_path
from pssa.display import percent


def add_parser(commands: Commands) -> None:
    """Declare `aspects` with its actions."""
    actions = add_group(commands, "aspects", "find the aspects of raw text", __doc__)

    evaluate = add_command(actions, "evaluate", "measure precision, recall and F1 of exact spans", run_evaluate)
    add_tagger(evaluate)
    option(evaluate, "--data FILE", "sentences with all their aspects, unseen in training", required=True)
    add_shared(evaluate, "device", *ROWS)
    option(evaluate, "--group", "group lines by sentence, for files with one aspect per line")

    find = add_command(actions, "find", "list the aspects of raw text", run_find)
    add_tagger(find)
    add_job(find)
    add_shared(find, "device")


def add_tagger(parser: argparse.ArgumentParser) -> None:
    """Add the argument DIR."""
    text = "directory of a tagger, or of a run with one, or starter"
    parser.add_argument("tagger", metavar="DIR", type=run_path, help=text)


def run_evaluate(arguments: argparse.Namespace) -> None:
    """Measure how many aspects of labelled sentences a tagger finds, with both ends right, as SemEval-2014 counts them. `pssa
    evaluate` measures a run that finds and labels them.

    pssa aspects evaluate taggers/reviews --data test.xml
    pssa aspects evaluate taggers/reviews --data test.xml --json
    """
    from pssa.aspects import evaluate_aspects, read_sentences
    from pssa.runs.loading import open_finder

    finder = open_finder(arguments.tagger, arguments.device)
    reading = {name: getattr(arguments, name) for name in (*ROWS, "group")}
    scores = evaluate_aspects(finder, read_sentences(arguments.data, **reading))
    if arguments.json:
        print_json(scores.as_dict())
        return
    say(f"precision {percent(scores.precision)}, recall {percent(scores.recall)}, F1 {percent(scores.f1)}")
    say(f"{counted(scores.gold, 'aspect')} in the data, {scores.found} found, {scores.right} of them right")


def run_find(arguments: argparse.Namespace) -> None:
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
