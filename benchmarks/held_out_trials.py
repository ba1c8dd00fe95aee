"""Held-out trials behind results/defaults.md: options of word-vector models, how long to train on few labels, batch order.

    python benchmarks/held_out_trials.py options --data DIR --vectors F --workers 14 --out options.jsonl
    python benchmarks/held_out_trials.py few-labels --data DIR --vectors F --encoder FOLDER --workers 14 --out few.jsonl
    python benchmarks/held_out_trials.py batch-order --data DIR --encoder FOLDER --workers 4 --out order.jsonl

A fifth of train, held out by sentence, judges; no test file is opened. A line is written as soon as a training is done, and a
training whose line is there already is left out, so a trial that was stopped goes on.
"""

from __future__ import annotations

import argparse
import math
import random
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from harness import run_missing

from paper.experiments.cells import Place, Training, settings
from paper.experiments.resources import Resources
from paper.experiments.work import CellJob, execute_cell
from paper.experiments.workspace import Workspace
from pssa.data import hold_out, read
from pssa.evaluation import score
from pssa.runs.classifier import Classifier
from pssa.runs.prepared_data import prepare
from pssa.runs.run_context import RunContext
from pssa.runs.settings import Config
from pssa.runs.torch_runtime import TorchRuntime
from pssa.training import NullObserver

MEMNET: tuple[dict[str, Any], ...] = (
    *({}, {"train_embeddings": False}, {"embedding_dropout": 0.0}, {"embedding_dropout": 0.3}),
    *({"scale_scores": False}, {"hops": 2}, {"hops": 3}, {"initial_bound": 0.1}),
    {"hops": 3, "embedding_dropout": 0.0, "train_embeddings": False},
    *({"hops": 3, "train_embeddings": False}, {"train_embeddings": False, "embedding_dropout": 0.3}),
)
LONG = {"max_epochs": 80, "patience": 16}
TNET: tuple[dict[str, Any], ...] = (
    *({}, LONG, {"initial_bound": 0.1}, {"initial_bound": 0.1, **LONG}),
    *({"gating": "lossless"}, {"gating": "lossless", **LONG}, {"gating": "lossless", "initial_bound": 0.1}),
    {"gating": "lossless", "initial_bound": 0.1, **LONG},
    *({"gating": "lossless", "initial_bound": 0.05}, {"gating": "lossless", "hidden": 100}),
)
OPTIONS = {"memnet": MEMNET, "tnet": TNET, "tnet_att": TNET}
SEEDS = {"laptop": 5, "rest": 5, "twitter": 3}
SIZES = (16, 32, 64, 128, 256, 512)
STEPS = (0, "search", 100, 200, 400, 800)  # 0: the number of epochs that `min_steps = 0` leads to
LONGEST_SEARCH = 800  # steps
Record = dict[str, Any]


@dataclass(frozen=True)
class FewLabels:
    """A training on `size` instances of train, judged on the held-out fifth."""

    seed: int
    data: str
    size: int
    model: str
    steps: int | str


def try_options(arguments: argparse.Namespace) -> Iterator[tuple[Record, Callable[[], Record]]]:
    """Yield what identifies each trial of model options, and the trial."""
    resources = Resources.find(arguments.data, arguments.vectors, None, arguments.device)
    workspace = Workspace(Path(tempfile.gettempdir()) / "pssa-held-out", resources)
    for data, n_seeds in SEEDS.items():
        for model, grid in OPTIONS.items():
            for seed, options in ((seed, options) for seed in range(n_seeds) for options in grid):
                cell = Training(Place(data, model, seed, held_out=True, settings=settings(**options)))
                yield {"key": workspace.key(cell)}, partial(run_cell, CellJob(cell, workspace))


def try_batch_orders(arguments: argparse.Namespace) -> Iterator[tuple[Record, Callable[[], Record]]]:
    """Yield trainings whose batches hold rows of like length, and others whose rows are shuffled alone."""
    resources = Resources.find(arguments.data, arguments.vectors, arguments.encoder, arguments.device)
    workspace = Workspace(Path(tempfile.gettempdir()) / "pssa-held-out", resources)
    models = [model for model in ("memnet", "tnet_att", "bertabsa_att") if resources.can_train(model)]
    for seed, data, model in ((s, d, m) for s in range(5) for d in ("laptop", "rest") for m in models):
        for changed in (settings(), settings(bucket_batches=1)):
            cell = Training(Place(data, model, seed, held_out=True, settings=changed))
            yield {"key": workspace.key(cell)}, partial(run_cell, CellJob(cell, workspace))


def run_cell(job: CellJob) -> Record:
    """Train and judge, without what the page does not show."""
    record = execute_cell(job)
    return {name: record[name] for name in ("key", "cell", "files", "epochs", "accuracy", "macro_f1", "seconds")}


def try_few_labels(arguments: argparse.Namespace) -> Iterator[tuple[Record, Callable[[], Record]]]:
    """Yield what identifies each trial with few labels, and the trial."""
    models = ["bertabsa_att"] if arguments.encoder else []
    models += ["memnet", "tnet_att"] if arguments.vectors else []
    for seed in range(3):
        for size, data, model in ((s, d, m) for s in SIZES for d in ("laptop", "rest") for m in models):
            for steps in STEPS:
                if steps == "search" and model == "bertabsa_att":
                    continue
                trial = FewLabels(seed, data, size, model, steps)
                yield vars(trial), partial(run_few_labels, trial, arguments)


def run_few_labels(trial: FewLabels, arguments: argparse.Namespace) -> Record:
    """Train on the first instances of a shuffled train, and judge."""
    corpus = read(arguments.data / trial.data / "train.txt")
    taught, judged = hold_out(corpus, 0.2, 1000 + trial.seed)
    chosen = list(taught)
    random.Random(trial.seed).shuffle(chosen)
    few, judge = corpus.select(sorted(chosen[: trial.size])), corpus.select(judged)
    uses_encoder = trial.model == "bertabsa_att"
    start = {"encoder": str(arguments.encoder)} if uses_encoder else {"vectors": str(arguments.vectors)}
    known = {"model": trial.model, "seed": trial.seed, "device": arguments.device, "min_steps": 0}
    length = length_of(trial, 16 if uses_encoder else 64)
    config, prepared = prepare(few, None, Config().updated({**known, **start, **length}))
    context = RunContext(config, None, prepared, NullObserver())
    epochs = context.find_epochs()
    model = context.train("initial", context.new_model(), epochs)
    classifier = Classifier(TorchRuntime(config.model, config.data.labels, prepared.featurizer, (model,), (1.0,)))
    gold = [example.label or "" for example in judge]
    scores = score(gold, classifier.torch.predicted_labels(judge.examples), classifier.labels)
    return {**vars(trial), "accuracy": scores.accuracy, "macro_f1": scores.macro_f1, "epochs": epochs}


def length_of(trial: FewLabels, batch_size: int) -> dict[str, int]:
    """Return the settings that make a training as long as the trial asks."""
    if trial.steps == "search":
        per_epoch = math.ceil(0.8 * trial.size / batch_size)  # of what a search trains on
        longest = math.ceil(LONGEST_SEARCH / per_epoch)
        return {"max_epochs": max(40, longest), "patience": max(8, longest // 5)}
    return {"epochs": math.ceil(int(trial.steps) / math.ceil(trial.size / batch_size))} if trial.steps else {}


TRIALS = {"options": try_options, "few-labels": try_few_labels, "batch-order": try_batch_orders}


def main() -> None:
    """Run what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trial", choices=tuple(TRIALS))
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--encoder", type=Path)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    run_missing(TRIALS[arguments.trial](arguments), arguments)


if __name__ == "__main__":
    main()
