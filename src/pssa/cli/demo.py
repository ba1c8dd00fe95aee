"""`pssa demo`: what the starter finds in five reviews, then the whole method on the embedded corpus, in about a minute."""

from __future__ import annotations

import argparse
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pssa.cli._output import print_json, print_table, say
from pssa.cli._parser import Commands, add_command, option
from pssa.cli.try_ import as_dict, judge
from pssa.display import p_value, percent
from pssa.errors import InputError
from pssa.runs.run_names import STARTER

if TYPE_CHECKING:
    from pssa.runs import Answer, Classifier
    from pssa.runs.evaluate import Evaluation

# The defaults but for the vectors and the number of epochs: a search would double the time.
_SETTINGS: dict[str, Any] = {"model": "tnet_att", "epochs": 20}
# The paper's method with one round, which is better here than five (results/misleading.md), and consensus with few judges.
_FEW_JUDGES = {"consensus_models": 1, "consensus_folds": 3, "consensus_right": 1}
_METHODS: dict[str, dict[str, Any]] = {"pg-as": {"iterations": 1}, "consensus": _FEW_JUDGES}
_REPORTED = "consensus"
_SLICE = "misleading"
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
_HONEST = (
    "One seed on a made-up corpus: treat the differences as chance. Over five seeds one round of\n"
    "mining gains about 4 points on the misleading part, where the baseline is weak\n"
    "(results/misleading.md); on real reviews it gains nothing reliable (results/README.md)."
)


def add_parser(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(commands, "demo", "run the starter, and the whole method on made-up reviews", run)
    option(parser, "--out DIR", "folder for the runs (default demo, demo-2, ...)", Path("demo"))
    option(parser, "--vectors FILE", "word vectors to start from (default: those of the starter)", type=str)


def run(arguments: argparse.Namespace) -> int:
    """Show what the starter finds in five short reviews. Then train a baseline and two classifiers with mined evidence on
    the embedded corpus of made-up reviews, compare them on its test split, and write a report for the browser.

    pssa demo
    pssa demo --vectors glove.840B.300d.zip --out runs/demo
    """
    from pssa.cli.evidence import print_examples
    from pssa.data import embedded
    from pssa.data.evidence_file import read_evidence
    from pssa.report.run_report import write_report
    from pssa.runs import load
    from pssa.runs.evaluate import evaluate

    if arguments.out.is_file():
        raise InputError(f"{arguments.out} is a file; name a folder with --out")
    names = chain([arguments.out], (arguments.out.with_name(f"{arguments.out.name}-{n}") for n in count(2)))
    out = next(path for path in names if not path.exists())
    starter = load(STARTER)
    found = judge(starter, list(_REVIEWS))
    if not arguments.json:
        _show_starter(found, starter.saliency)
        n_instances = len(embedded.load("train"))
        say(f"\n2. How such a model is trained: {_SETTINGS['model']} on {n_instances} instances of made-up reviews.")
        say("   First the baseline. Then mining collects the words that led models to their answers,")
        say("   the evidence, and trains new models to look at them. This takes about a minute:")
    classifiers, test = _train_all(out, _SETTINGS | {"vectors": arguments.vectors or STARTER}), embedded.load("test")
    results = {name: evaluate(classifier, test) for name, classifier in classifiers.items()}
    report = write_report(out / _REPORTED, out / "report.html", _initial(out), test, _SAMPLE)
    if arguments.json:
        methods = {
            name: {
                "test": result.scores.as_dict(),
                "slices": {tag: part.as_dict() for tag, part in result.slices.items()},
            }
            for name, result in results.items()
        }
        items = [as_dict(text, answers) for text, answers in zip(_REVIEWS, found, strict=True)]
        print_json({"runs": str(out), "report": str(report), "methods": methods, "starter": items})
        return 0
    evidence = out / _REPORTED / "evidence.jsonl"
    say(f"\n3. Words mined for {_display_name(_REPORTED)} in the first sentences ({evidence}):")
    say("[+k] active, deserves attention; [-k] misleading; k is the round; the aspect is in brackets")
    mined = [example for example in read_evidence(evidence).examples if example.findings]
    print_examples(mined[:3], 3)
    _show_predictions(classifiers)
    _show_scores(results)
    say("\nNext: give pssa try a review of yours, or start pssa serve for a page in your browser.")
    say(f"The runs are in {out}; pssa explain, pssa evaluate and pssa evidence stats look into them.")
    say(f"Report on {_display_name(_REPORTED)} and the baseline, for your browser: {report}")
    return 0


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


def _initial(out: Path) -> Path:
    """Return the model before mining, which is the baseline."""
    return out / next(iter(_METHODS)) / "stages" / "initial"


def _train_all(out: Path, settings: dict[str, Any]) -> dict[str, Classifier]:
    """Train the baseline and each method's classifier, and return them by name."""
    from pssa.data import embedded
    from pssa.runs import load
    from pssa.runs.training_run import write_run
    from pssa.training.progress import TrainingProgress

    corpus = embedded.load("train")
    out.mkdir(parents=True)
    with TrainingProgress() as bars:
        for method, more in _METHODS.items():
            write_run(corpus, out / method, observer=bars, progress=False, method=method, **settings, **more)
    finals = {_display_name(method): load(out / method) for method in _METHODS}
    return {"baseline": load(_initial(out)), **finals}


def _show_scores(results: dict[str, Evaluation]) -> None:
    from pssa.runs.evaluate import compare

    rows = []
    for name, result in results.items():
        numbers = [result.scores, result.slices[_SLICE]]
        cells = [f"{percent(scores.accuracy)} / {percent(scores.macro_f1)}" for scores in numbers]
        test, _ = compare(result, results["baseline"], resamples=1000, seed=0)
        rows.append([name, *cells, "" if name == "baseline" else p_value(test.p_macro_f1)])
    columns = ("", "all of test", _SLICE, "test")
    print_table("\n5. Accuracy / macro-F1 on test", columns, rows)
    n_misleading = results["baseline"].slices[_SLICE].instances
    say(f"misleading: {n_misleading} test instances whose strongest frequent word points the wrong way")
    say("p: one-sided paired bootstrap of macro-F1 on all of test; small: better than baseline")
    say(_HONEST)


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


def _display_name(method: str) -> str:
    """Return the method's name for tables."""
    return f"+{method.upper()}"
