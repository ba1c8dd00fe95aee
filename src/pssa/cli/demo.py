"""`pssa demo`: what the starter finds in five reviews and in many, then what it learns from 200 labels, in about a minute."""

from __future__ import annotations

import argparse
import csv
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING

from pssa.cli._output import print_json, print_table, say
from pssa.cli._parser import Commands, add_command, option
from pssa.cli.try_ import as_dict, judge
from pssa.display import percent
from pssa.errors import InputError
from pssa.runs.run_names import STARTER

if TYPE_CHECKING:
    from pssa.runs import Answer, Classifier
    from pssa.runs.evaluate import Evaluation

_N_LABELS = 200  # instances to train on: few, as people have them
_SAMPLE = 60  # instances to measure faithfulness on; few, to be quick
_SHOWN = 0.15  # least share of a word that is shown
_REVIEWS: dict[str, dict[str, str]] = {  # and the right answers
    "The screen is huge but the battery dies within an hour.": {"screen": "positive", "battery": "negative"},
    "We stayed for three nights. The room was spotless, though the wifi never worked!": {
        "room": "positive",
        "wifi": "negative",
    },
    "I was not disappointed with the plot, and the characters are wonderful.": {
        "plot": "positive",
        "characters": "positive",
    },
    "Best vacuum ever! The cord is a bit short.": {"vacuum": "positive", "cord": "negative"},
    "My dog refused to eat it. I would not buy it again.": {"overall": "negative"},
}
_QUESTIONS = (  # text, aspect and the right answer
    ("The performance is a huge disappointment.", "performance", "negative"),
    ("The screen is huge and colourful, but the battery dies within an hour.", "battery", "negative"),
    ("Great view, but the waiter was rude.", "view", "positive"),
)


def add_parser(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(commands, "demo", "run the starter, and train it on made-up reviews", run)
    option(parser, "--out DIR", "folder for the run (default demo, demo-2, ...)", Path("demo"))


def run(arguments: argparse.Namespace) -> None:
    """Show what the starter finds in five short reviews, and write a page about many. Then let it learn from labelled
    instances of made-up reviews, as `pssa train` does, score both on the rest of them, and write a report for the browser.

    pssa demo
    pssa demo --out runs/demo
    """
    from pssa.data import embedded
    from pssa.insights import InsightsJob, make_insights
    from pssa.report.run_report import write_report
    from pssa.runs import load
    from pssa.runs.evaluate import evaluate
    from pssa.runs.training_run import write_run
    from pssa.training.progress import TrainingProgress

    if arguments.out.is_file():
        raise InputError(f"{arguments.out} is a file; name a folder with --out")
    names = chain([arguments.out], (arguments.out.with_name(f"{arguments.out.name}-{n}") for n in count(2)))
    out = next(path for path in names if not path.exists())
    starter = load(STARTER)
    found = judge(starter, list(_REVIEWS))
    out.mkdir(parents=True)
    train, test = embedded.load("train"), embedded.load("test")
    with (out / "reviews.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            [["text"], *([text] for text in dict.fromkeys(each.text for each in (*train, *test)))]
        )
    insights = make_insights(InsightsJob((str(out / "reviews.csv"),), out / "insights.html"))
    if not arguments.json:
        _show_starter(found, starter.runtime.saliency)
        say(f"\n2. What {insights.reviews} made-up reviews say, for your browser: {insights.page}")
        say(f"\n3. It goes on from {_N_LABELS} labels of your own, as pssa train does; here of made-up reviews.")
        say("   This takes about a minute:")
    with TrainingProgress() as bars:
        write_run(train.select(range(_N_LABELS)), out / "run", observer=bars, progress=False)
    classifiers = {"starter": starter, "trained": load(out / "run")}
    results = {name: evaluate(classifier, test) for name, classifier in classifiers.items()}
    report = write_report(out / "run", out / "report.html", data=test, sample=_SAMPLE)
    if arguments.json:
        scores = {name: result.scores.as_dict() for name, result in results.items()}
        items = [as_dict(text, answers) for text, answers in zip(_REVIEWS, found, strict=True)]
        print_json(
            {
                "run": str(out / "run"),
                "report": str(report),
                "insights": insights.page,
                "test": scores,
                "starter": items,
            }
        )
        return
    _show_predictions(classifiers)
    _show_scores(results)
    say("\nNext: give pssa try a review of yours, or start pssa serve for a page in your browser.")
    say(f"The run is {out / 'run'}; pssa try --run, pssa evaluate and pssa predict use it.")
    say(f"Report on it, for your browser: {report}")


def _show_starter(found: list[list[Answer]], saliency: str) -> None:
    """Print what was found in each review: aspects, labels and the words with the highest shares."""
    from pssa.report.heat_map import top_words
    from pssa.runs.answers import Explanation

    say("pssa says what a review thinks of each aspect, and which words decided.\n")
    say("1. A small trained model comes with it. In five reviews it finds (errors are marked):")
    for (review, right), answers in zip(_REVIEWS.items(), found, strict=True):
        say(f"\n   {review}")
        for answer in answers:
            explanation = Explanation.of(review, answer, saliency)
            words = ", ".join(part.text for part in top_words(explanation, _SHOWN))
            label = f"{answer.label} ({percent(answer.probabilities[answer.label])})"
            error = "" if right.get(answer.about) == answer.label else "   WRONG"
            say(f"     {answer.about}: {label}" + (f", looking at: {words}" if words else "") + error)
        if missed := right.keys() - {answer.about for answer in answers}:
            say(f"     MISSED: {', '.join(sorted(missed))}")
        if not right and not answers:
            say("     no aspect")


def _show_predictions(classifiers: dict[str, Classifier]) -> None:
    rows = []
    for text, aspect, right in _QUESTIONS:
        answers = [classifier.predict(text, aspect) for classifier in classifiers.values()]
        predicted = [
            f"{answer.label} {percent(answer.probabilities[answer.label])}"
            + ("" if answer.label == right else "\nWRONG")
            for answer in answers
        ]
        rows.append([f"{text}\n{aspect}: {right}", *predicted])
    title = "\n4. Predicted labels and probabilities; below each text its aspect and the right answer"
    print_table(title, ("", *classifiers), rows)


def _show_scores(results: dict[str, Evaluation]) -> None:
    majority = results["starter"].majority
    rows = [
        ("always the commonest label", majority),
        ("starter", results["starter"].scores),
        (f"trained on {_N_LABELS} labels", results["trained"].scores),
    ]
    cells = [[name, percent(scores.accuracy), percent(scores.macro_f1)] for name, scores in rows]
    print_table(f"\n5. Scores on {majority.instances} other instances", ("", "accuracy", "macro-F1"), cells)
    say("The reviews are made up: these scores say nothing about yours (docs/how-to/starter.md has real ones).")
