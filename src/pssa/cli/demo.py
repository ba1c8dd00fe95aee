"""`pssa demo`: the whole method on the embedded corpus, in a minute or two."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pssa.cli._output import print_json, print_table, say
from pssa.cli._parser import Commands, add_command, option
from pssa.data.numbers import p_value, percent
from pssa.errors import InputError

if TYPE_CHECKING:
    from pssa.runs import Classifier
    from pssa.runs.evaluate import Evaluation

# The defaults, so that `pssa train` with the same method gives the same classifier.
_SETTINGS: dict[str, Any] = {"model": "tnet_att"}
_METHODS = ("aw-as", "pg-as")
_SLICE = "misleading"
_SAMPLE = 60  # instances to measure faithfulness on; few, to be quick
_QUESTIONS = (  # text, aspect and the right answer
    ("The performance is a huge disappointment.", "performance", "negative"),
    ("The screen is huge and colourful, but the battery dies within an hour.", "battery", "negative"),
    ("Great view, but the waiter was rude.", "view", "positive"),
)
_WITHOUT_VECTORS = (
    "Treat the differences above as chance: this is one seed, and the embeddings were learned from this small corpus alone.\n"
    "Over several seeds mining gains nothing here (results/misleading.md): the model does not know the rare words it finds.\n"
    "Pre-trained word vectors know them. To see mining help, run: pssa demo --vectors FILE"
)


def add_parser(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(commands, "demo", "run the whole method on the embedded corpus", run)
    option(parser, "--out DIR", "folder for the runs (default demo, demo-2, ...)", Path("demo"))
    option(parser, "--vectors FILE", "word vectors to start from (default: embeddings are learned)")


def run(arguments: argparse.Namespace) -> int:
    """Train a baseline and two classifiers with mined evidence on the embedded corpus of made-up reviews, compare them on
    its test split, and write a report for the browser.

    pssa demo
    pssa demo --vectors glove.840B.300d.zip --out runs/demo
    """
    from pssa.data import embedded
    from pssa.report.run_report import write_report
    from pssa.runs.evaluate import evaluate

    out = _free_name(arguments.out)
    if not arguments.json:
        size = len(embedded.load("train"))
        say(f"Training {_SETTINGS['model']} on {size} instances from made-up reviews; this takes a minute or two.")
        say("The demo model is about 60 % accurate; wrong answers are marked.")
    settings = _SETTINGS | ({"vectors": str(arguments.vectors)} if arguments.vectors else {})
    classifiers, test = _train_all(out, settings), embedded.load("test")
    results = {name: evaluate(classifier, test) for name, classifier in classifiers.items()}
    first = out / _METHODS[0]
    report = write_report(first, out / "report.html", first / "stages" / "initial", test, _SAMPLE)
    if arguments.json:
        methods = {
            name: {
                "test": result.scores.as_dict(),
                "slices": {tag: part.as_dict() for tag, part in result.slices.items()},
            }
            for name, result in results.items()
        }
        print_json({"runs": str(out), "report": str(report), "methods": methods})
        return 0
    _show_scores(results)
    if not arguments.vectors:
        say(_WITHOUT_VECTORS)
    _show_evidence(first / "evidence.jsonl")
    _show_predictions(classifiers)
    say(f"The runs are in {out}. Next, try pssa explain, pssa evaluate or pssa evidence stats (see pssa --help).")
    say(f"Report on {_display_name(_METHODS[0])} and its baseline, for your browser: {report}")
    return 0


def _train_all(out: Path, settings: dict[str, Any]) -> dict[str, Classifier]:
    """Train the baseline and each method's classifier, and return them by name."""
    from pssa.data import embedded
    from pssa.runs import load, train
    from pssa.runs.directory import read_json
    from pssa.training.progress import TrainingProgress

    corpus = embedded.load("train")
    out.mkdir(parents=True)
    with TrainingProgress() as bars:
        for method in _METHODS:
            train(corpus, out / method, observer=bars, progress=False, method=method, **settings)
            # Every method would find the same number of epochs; search once.
            settings = settings | {"epochs": read_json(out / method / "metrics.json")["epochs"]}
    finals = {_display_name(method): load(out / method) for method in _METHODS}
    return {"baseline": load(out / _METHODS[0] / "stages" / "initial"), **finals}


def _show_scores(results: dict[str, Evaluation]) -> None:
    from pssa.runs.evaluate import compare

    rows = []
    for name, result in results.items():
        numbers = [result.scores, result.slices[_SLICE]]
        cells = [f"{percent(scores.accuracy)} / {percent(scores.macro_f1)}" for scores in numbers]
        test, _ = compare(result, results["baseline"], resamples=1000, seed=0)
        rows.append([name, *cells, "" if name == "baseline" else p_value(test.p_macro_f1)])
    columns = ("", "all of test", _SLICE, "test")
    print_table("accuracy / macro-F1 on test", columns, rows)
    say("p: one-sided paired bootstrap of the macro-F1 on all of test; small: better than the baseline.")


def _show_evidence(path: Path) -> None:
    from pssa.cli.evidence import print_examples
    from pssa.data.evidence_file import read_evidence

    say(
        f"\nWords mined for {_display_name(path.parent.name)} in the first sentences ({path}):\n"
        "[+k] active, deserves attention; [-k] misleading; k is the round; the aspect is in brackets"
    )
    mined = [example for example in read_evidence(path).examples if example.findings]
    print_examples(mined[:3], 3)


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
    title = "\npredicted labels and probabilities; below each text its aspect and the right answer"
    print_table(title, ("", *classifiers), rows)


def _display_name(method: str) -> str:
    """Return the method's name for tables."""
    return f"+{method.upper()}"


def _free_name(path: Path) -> Path:
    """Return `path`, or the first of path-2, path-3, ... that does not exist.

    :raises InputError: if `path` is a file.
    """
    if path.is_file():
        raise InputError(f"{path} is a file; name a folder with --out")
    number, free = 1, path
    while free.exists():
        number += 1
        free = path.with_name(f"{path.name}-{number}")
    return free
