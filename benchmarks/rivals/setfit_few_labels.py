"""SetFit's `PolarityModel` with few labels: the rival in the exhibit `few-labels`, on the same instances and encoder.

    cd benchmarks && python -m rivals.setfit_few_labels --data DIR --encoder FOLDER --out setfit.jsonl

It is trained as `AbsaTrainer` trains it: pairs of sentences pull those of one label together, then a logistic regression is
fitted. `--max-steps 0` leaves SetFit its default, one epoch of all pairs. Words are cut as the data sets have them, where SetFit
would ask spaCy. The held-out part of train that judges our choices is scored too. A training whose line is in the file already is
left out. Install setfit first, beside pssa.
"""

from __future__ import annotations

import argparse
import importlib
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from harness import run_missing

from paper.experiments.cells import Place
from paper.experiments.resources import Resources
from pssa.data import Corpus
from pssa.evaluation import score

NAME = "SetFit PolarityModel"
SIZES = (512, 256, 128, 64, 32, 16)
CONTEXT = 3  # words on either side of the aspect, SetFit's default
PACKAGES = ("setfit", "sentence-transformers", "transformers", "torch")
Record = dict[str, Any]


@dataclass(frozen=True)
class Trial:
    """A training on some instances of train."""

    data: str
    size: int
    seed: int
    max_steps: int  # 0: one epoch of all pairs, SetFit's default

    def corpora(self, resources: Resources) -> tuple[Corpus, Corpus, Corpus]:
        """Return the instances, the held-out ones and the test set."""
        place = Place(self.data, "bertabsa_att", self.seed, instances=self.size)
        few, test = resources.corpora(place)
        _, judged = resources.corpora(replace(place, held_out=True))
        return few, judged, test


def run(trial: Trial, arguments: argparse.Namespace) -> Record:
    """Train and score."""
    setfit = importlib.import_module("setfit")
    few, judged, test = trial.corpora(Resources.find(arguments.data, None, None))
    began = time.perf_counter()
    model = setfit.span.modeling.PolarityModel.from_pretrained(
        str(arguments.encoder), labels=list(few.labels), device=arguments.device, local_files_only=True
    )
    steps = train(model, few, trial)
    seconds = round(time.perf_counter() - began, 1)
    known = {"name": NAME, "encoder": arguments.encoder.name, **vars(trial), "steps": steps, "seconds": seconds}
    scores = {name: score_on(model, corpus) for name, corpus in (("held_out", judged), ("test", test))}
    return {**known, **scores, "versions": {name: version(name) for name in PACKAGES}}


def train(model: Any, few: Corpus, trial: Trial) -> int:
    """Train a model with SetFit's defaults, but for the number of steps; return that number."""
    setfit, datasets = importlib.import_module("setfit"), importlib.import_module("datasets")
    numbers = [few.labels.index(example.label or "") for example in few]
    rows = datasets.Dataset.from_dict({"text": texts_of(few), "label": numbers})
    with tempfile.TemporaryDirectory() as folder:
        settings = setfit.TrainingArguments(
            output_dir=folder,
            seed=trial.seed,
            max_steps=trial.max_steps or -1,
            report_to="none",
            save_strategy="no",
            show_progress_bar=False,
        )
        trainer = setfit.Trainer(model, args=settings, train_dataset=rows)
        trainer.train()
    return int(trainer.st_trainer.state.global_step)


def texts_of(corpus: Corpus) -> list[str]:
    """Return each instance as `PolarityModel.prepend_aspects` makes it: the aspect with its neighbours, a colon, the sentence."""
    found = []
    for example in corpus:
        first, end = example.aspect
        near = example.words[max(0, first - CONTEXT) : end + CONTEXT]
        found.append(" ".join(near) + ":" + " ".join(example.words))
    return found


def score_on(model: Any, corpus: Corpus) -> Record:
    """Return accuracy and macro-F1."""
    predicted = [str(label) for label in model.predict(texts_of(corpus), show_progress_bar=False)]
    scores = score([example.label or "" for example in corpus], predicted, corpus.labels)
    return {"accuracy": scores.accuracy, "macro_f1": scores.macro_f1}


def trials(arguments: argparse.Namespace) -> Iterator[tuple[Record, Callable[[], Record]]]:
    """Yield what identifies each training, and the training; the longest first."""
    for size in arguments.sizes:
        for max_steps in arguments.max_steps:
            for seed, data in ((seed, data) for seed in range(arguments.seeds) for data in ("laptop", "rest")):
                trial = Trial(data, size, seed, max_steps)
                yield {"encoder": arguments.encoder.name, **vars(trial)}, partial(run, trial, arguments)


def main() -> None:
    """Run what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--encoder", type=Path, required=True)
    parser.add_argument("--sizes", type=_numbers, default=SIZES)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--max-steps", type=_numbers, default=[0], help="one or several, with a comma between them")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    run_missing(trials(arguments), arguments)


def _numbers(given: str) -> list[int]:
    return [int(number) for number in given.split(",")]


if __name__ == "__main__":
    main()
