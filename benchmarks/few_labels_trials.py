"""Held-out trials behind results/defaults.md: how models are trained on few labels.

    python benchmarks/few_labels_trials.py --data DIR --encoder FOLDER --workers 14 --out trials.jsonl
    python benchmarks/few_labels_trials.py --data DIR --device cpu --trials starter --out trials.jsonl

Every training has the instances of the exhibit `few-labels` and is judged on the held-out fifth of train; no test file is opened.
A line is written as soon as a training is done, and a training whose line is there already is left out. Trials that begin with
`from` start from the run that `--start` names, with the encoder's weights trained on other data.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from harness import run_missing
from torch import Tensor, nn
from torch.nn import functional

from pssa.evaluation import score
from pssa.experiments.cells import Place
from pssa.experiments.resources import Resources
from pssa.runs.classifier import Classifier
from pssa.runs.config import Config
from pssa.runs.prepared_data import prepare
from pssa.runs.run_context import RunContext
from pssa.runs.warm_start import merge_settings
from pssa.training import NullObserver
from pssa.training.schedule import rate_factor

Record = dict[str, Any]
BALANCED = {"class_weights": "balanced"}
HEAD = {"head_learning_rate": 1e-3}
CLS = {"model": "bertabsa_cls"}
# Settings by name; those of `phase` are no settings of a run: steps of contrastive training first, and of cross-entropy after it.
ENCODER_TRIALS: dict[str, dict[str, Any]] = {
    "now": {},
    "balanced": BALANCED,
    "head 2e-4": {"head_learning_rate": 2e-4},
    "head 1e-3": HEAD,
    "head 1e-2": {"head_learning_rate": 1e-2},
    "head 1e-3, balanced": HEAD | BALANCED,
    "rate 5e-5": {"learning_rate": 5e-5},
    "rate 1e-4": {"learning_rate": 1e-4},
    "rate 5e-5, head 1e-3": {"learning_rate": 5e-5, **HEAD},
    "rate 5e-5, head 1e-3, balanced": {"learning_rate": 5e-5, **HEAD, **BALANCED},
    "rate 1e-4, head 1e-3": {"learning_rate": 1e-4, **HEAD},
    "contrast": {"augment": "contrast"},
    "head 1e-3, contrast": {"augment": "contrast", **HEAD},
    "contrastive 400": {"phase": (400, 0)},
    "contrastive 200, then 200": {"phase": (200, 200)},
    "cls": CLS,
    "cls, head 1e-3": CLS | HEAD,
    "cls, rate 5e-5, head 1e-3": CLS | HEAD | {"learning_rate": 5e-5},
    "cls, contrastive 400": CLS | {"phase": (400, 0)},
    "cls, contrastive 200, then 200": CLS | {"phase": (200, 200)},
}
FROM_TRIALS: dict[str, dict[str, Any]] = {
    "from": {},
    "from, untouched": {"steps": 0},
    "from, 100 steps": {"steps": 100},
    "from, balanced": BALANCED,
    "from, rate 1e-5": {"learning_rate": 1e-5},
    "from, rate 5e-5": {"learning_rate": 5e-5},
}
STARTER: dict[str, Any] = {"model": "tnet_att", "from_pretrained": "starter"}
STARTER_TRIALS: dict[str, dict[str, Any]] = {
    "starter, untouched": STARTER | {"steps": 0},
    "starter": STARTER,
    "starter, balanced": STARTER | BALANCED,
    "starter, 100 steps": STARTER | {"steps": 100},
    "starter, 100 steps, balanced": STARTER | BALANCED | {"steps": 100},
}
SIZES = (16, 64, 256)
STEPS = 400


@dataclass(frozen=True)
class Trial:
    """A training on some instances of train, judged on the held-out fifth."""

    trial: str
    data: str
    size: int
    seed: int


def run(trial: Trial, chosen: dict[str, Any], arguments: argparse.Namespace) -> Record:
    """Train and judge."""
    given = dict(chosen)
    steps, phase = given.pop("steps", STEPS), given.pop("phase", None)
    place = Place(trial.data, given.get("model", "bertabsa_att"), trial.seed, held_out=True, instances=trial.size)
    few, judge = Resources.find(arguments.data, None, None).corpora(place)
    config = merge_settings(Config(), start_of(trial, given, arguments) | given)
    batch_size = 64 if config.model == "tnet_att" else 16
    epochs = max(1, math.ceil((sum(phase) if phase else steps) / math.ceil(trial.size / batch_size)))
    config, prepared = prepare(few, None, config.updated({"epochs": epochs, "seed": trial.seed, "device": arguments.device}))
    context = RunContext(config, None, prepared, NullObserver())
    model = context.new_model()
    if phase:
        train_in_phases(model, context, *phase)
    elif steps:
        context.train("initial", model, epochs)
    model.eval()
    classifier = Classifier(config.model, config.data.labels, prepared.featurizer, (model,), (1.0,))
    gold = [example.label or "" for example in judge]
    scores = score(gold, classifier.predicted_labels(judge.examples), classifier.labels)
    by_label = {label: round(each.f1, 4) for label, each in scores.per_class.items()}
    return {**vars(trial), "accuracy": scores.accuracy, "macro_f1": scores.macro_f1, "f1": by_label}


def start_of(trial: Trial, given: dict[str, Any], arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the settings that say what the model starts from."""
    if "from_pretrained" in given:
        return {}
    if trial.trial.startswith("from"):
        return {"from_pretrained": str(arguments.start)}
    return {"model": "bertabsa_att", "encoder": str(arguments.encoder)}


def train_in_phases(model: nn.Module, context: RunContext, contrastive: int, supervised: int) -> None:
    """Pull features of one label together, fit the output layer to them, and train everything with cross-entropy."""
    features: list[Tensor] = []
    output = model.output
    assert isinstance(output, nn.Linear)
    hook = output.register_forward_pre_hook(lambda _, inputs: features.append(inputs[0].float()))
    rows = context.train_data.to(context.device)
    torch.manual_seed(context.config.seed)
    generator = torch.Generator().manual_seed(context.config.seed)

    def take_steps(steps: int, loss_of: Callable[[Tensor, Tensor, Tensor], Tensor]) -> None:
        optimizer = torch.optim.Adam(model.parameters(), lr=2e-5)
        model.train()
        done = 0
        while done < steps:
            for batch in rows.shuffled_batches(16, generator, multiple=8):
                done += 1
                optimizer.param_groups[0]["lr"] = 2e-5 * rate_factor(min(done, steps), steps, "linear", 0.1)
                features.clear()
                prediction = model.classify(model.encode(batch), batch)  # type: ignore[operator]
                loss = loss_of(features[0], prediction.logits.float(), batch.labels)
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()

    take_steps(contrastive, cosine_loss)
    model.eval()
    found, labels = [], []
    with torch.no_grad():
        for batch in rows.shuffled_batches(16, generator, multiple=8):
            features.clear()
            model.classify(model.encode(batch), batch)  # type: ignore[operator]
            found.append(features[0])
            labels.append(batch.labels)
    fit_output(output, torch.cat(found), torch.cat(labels))
    if supervised:
        take_steps(supervised, lambda _, logits, labels: functional.cross_entropy(logits, labels))
    hook.remove()


def cosine_loss(features: Tensor, logits: Tensor, labels: Tensor) -> Tensor:
    """Return SetFit's loss over all pairs of a batch; pairs of one label count as much as the others."""
    unit = functional.normalize(features, dim=1)
    alike = (labels[:, None] == labels[None]).float()
    errors = (unit @ unit.T - alike).square()
    others = 1 - alike
    return (errors * alike).sum() / alike.sum() + (errors * others).sum() / others.sum().clamp(min=1)


def fit_output(output: nn.Linear, features: Tensor, labels: Tensor) -> None:
    """Fit a logistic regression with the usual penalty (C = 1) in place of the output layer."""
    with torch.no_grad():
        output.weight.zero_()
        output.bias.zero_()
    optimizer = torch.optim.LBFGS(output.parameters(), max_iter=100, line_search_fn="strong_wolfe")

    def closure() -> Tensor:
        optimizer.zero_grad()
        loss = functional.cross_entropy(functional.linear(features, output.weight, output.bias), labels, reduction="sum")
        loss = loss + output.weight.square().sum() / 2
        loss.backward()
        return loss

    optimizer.step(closure)  # type: ignore[arg-type]


def planned(arguments: argparse.Namespace) -> Iterator[tuple[Record, Callable[[], Record]]]:
    """Yield what identifies each trial, and the trial."""
    known = {"encoder": ENCODER_TRIALS, "from": FROM_TRIALS, "starter": STARTER_TRIALS}
    chosen = {name: one for kind in arguments.trials for name, one in known[kind].items()}
    if arguments.only:
        chosen = {name: one for name, one in chosen.items() if name in arguments.only}
    for size in arguments.sizes:
        for seed, data in ((seed, data) for seed in range(arguments.seeds) for data in ("laptop", "rest")):
            for name, settings in chosen.items():
                trial = Trial(name, data, size, seed)
                yield vars(trial), partial(run, trial, settings, arguments)


def main() -> None:
    """Run what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--encoder", type=Path)
    parser.add_argument("--start", type=Path, help="run that trials with `from` start from")
    parser.add_argument("--trials", type=lambda given: given.split(","), default=["encoder"])
    parser.add_argument("--only", type=lambda given: given.split(";"), default=[], help="names of trials")
    parser.add_argument("--sizes", type=lambda given: [int(size) for size in given.split(",")], default=SIZES)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    run_missing(planned(arguments), arguments)


if __name__ == "__main__":
    main()
