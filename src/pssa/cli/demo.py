"""`pssa demo`: the main job on the embedded corpus, in a minute or two."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pssa.cli._options import common_options

if TYPE_CHECKING:
    from pssa.runs import Classifier

__all__ = ["add_parser"]

_SETTINGS: dict[str, Any] = {"model": "tnet_att", "dimension": 100}
_QUESTIONS = (
    ("The performance is a huge disappointment.", "performance"),
    ("The screen is huge and colourful, but the battery dies within an hour.", "battery"),
    ("Great view, but the waiter was rude.", "view"),
)


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("demo", parents=[common_options()], help="the main job on the embedded corpus")
    parser.add_argument(
        "--out", type=Path, default=Path("demo"), help="where to put the run (default demo, demo-2, ...)"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Train, evaluate, show predictions."""
    from pssa.cli._output import print_json, say
    from pssa.cli._progress import ProgressBars
    from pssa.data import embedded
    from pssa.runs import load, train
    from pssa.runs.evaluate import evaluate

    out = _free_name(arguments.out)
    corpus = embedded.load("train")
    if not arguments.json:
        say(
            f"Training {_SETTINGS['model']} on {len(corpus)} instances of the embedded corpus (made up, for demonstration)"
        )
    with ProgressBars() as bars:
        train(corpus, out, observer=bars, **_SETTINGS)
    classifier = load(out)
    result = evaluate(classifier, embedded.load("test"))
    if arguments.json:
        slices = {tag: scores.as_dict() for tag, scores in result.slices.items()}
        print_json({"run": str(out), "test": result.scores.as_dict(), "slices": slices})
        return 0
    for name, scores in {"all of test": result.scores, **result.slices}.items():
        say(f"{name:12} {scores.instances:4} instances: accuracy {scores.accuracy:.3f}, macro-F1 {scores.macro_f1:.3f}")
    _show_predictions(classifier)
    say(f"The run is in {out}; try: pssa evaluate, pssa predict (see pssa --help)")
    return 0


def _show_predictions(classifier: Classifier) -> None:
    from pssa.cli._output import print_table

    rows = []
    for text, aspect in _QUESTIONS:
        answer = classifier.predict(text, aspect)
        rows.append([text, aspect, answer.label, f"{answer.probabilities[answer.label]:.2f}"])
    print_table("predictions", ("text", "aspect", "label", "probability"), rows)


def _free_name(path: Path) -> Path:
    """`path`, or the first of path-2, path-3, ... that is not there yet."""
    number, free = 1, path
    while free.exists():
        number += 1
        free = path.with_name(f"{path.name}-{number}")
    return free
