"""Held-out trials behind results/defaults.md: how BERTABSA-ATT starts where labels are few.

    python benchmarks/few_labels_start.py --data DIR --encoder FOLDER --steps 0 --out trials.jsonl

Every training has the instances of the exhibit `few-labels` and is judged on the held-out fifth of train; no test file is opened.
With `--steps 0`, what is judged is the start itself, on an encoder that is not trained. A training whose line is in the file
already is left out.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from harness import run_missing

from paper.experiments.cells import Place
from paper.experiments.resources import Resources
from pssa.evaluation import score
from pssa.runs.classifier import Classifier
from pssa.runs.prepared_data import prepare
from pssa.runs.run_context import RunContext
from pssa.runs.settings import Config
from pssa.runs.torch_runtime import TorchRuntime
from pssa.training import NullObserver

MODEL, BATCH = "bertabsa_att", 16
TRIALS: dict[str, dict[str, Any]] = {
    "paper": {"context": 0, "label_texts": {}},
    "context": {"context": 3, "label_texts": {}},
    "texts": {"context": 0},
    "both": {"context": 3},
}


@dataclass(frozen=True)
class Trial:
    """A training on some instances of train, judged on the held-out fifth."""

    trial: str
    data: str
    size: int
    seed: int
    steps: int


def run(trial: Trial, arguments: argparse.Namespace) -> dict[str, Any]:
    """Train and judge."""
    place = Place(trial.data, MODEL, trial.seed, held_out=True, instances=trial.size)
    few, judge = Resources.find(arguments.data, None, None).corpora(place)
    epochs = max(1, math.ceil(trial.steps / math.ceil(trial.size / BATCH)))
    chosen = {"model": MODEL, "encoder": str(arguments.encoder), "seed": trial.seed, "device": arguments.device}
    config, prepared = prepare(few, None, Config().updated(chosen | {"epochs": epochs} | TRIALS[trial.trial]))
    context = RunContext(config, None, prepared, NullObserver())
    model = context.new_model()
    if trial.steps:
        context.train("initial", model, epochs)
    classifier = Classifier(TorchRuntime(MODEL, config.data.labels, prepared.featurizer, (model.eval(),), (1.0,)))
    gold = [example.label or "" for example in judge]
    scores = score(gold, classifier.torch.predicted_labels(judge.examples), classifier.labels)
    return {**vars(trial), "accuracy": scores.accuracy, "macro_f1": scores.macro_f1}


def planned(arguments: argparse.Namespace) -> Iterator[tuple[dict[str, Any], Callable[[], dict[str, Any]]]]:
    """Yield what identifies each trial, and the trial."""
    for steps, size, name in ((s, n, t) for s in arguments.steps for n in arguments.sizes for t in arguments.trials):
        for seed, data in ((seed, data) for seed in range(arguments.seeds) for data in ("laptop", "rest")):
            trial = Trial(name, data, size, seed, steps)
            yield vars(trial), partial(run, trial, arguments)


def main() -> None:
    """Run what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--encoder", type=Path, required=True)
    parser.add_argument("--trials", type=lambda given: given.split(","), default=["both"], help=", ".join(TRIALS))
    parser.add_argument("--steps", type=_numbers, default=[0])
    parser.add_argument("--sizes", type=_numbers, default=[16, 32, 64, 128])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    run_missing(planned(arguments), arguments)


def _numbers(given: str) -> list[int]:
    return [int(number) for number in given.split(",")]


if __name__ == "__main__":
    main()
