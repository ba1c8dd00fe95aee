"""Taggers that find aspects, alone and together with a classifier: the numbers of results/aspects.md.

    python benchmarks/aspects.py trials --data DIR --encoder FOLDER --workers 6 --out trials.jsonl
    python benchmarks/aspects.py measure --data DIR --encoder FOLDER --workers 6 --work FOLDER --out results/aspects.jsonl
    python benchmarks/aspects.py measure --data DIR --vectors FILE --device cpu --work FOLDER --out results/aspects.jsonl

`trials` compares settings of a tagger on a held-out fifth of train and opens no test file. `measure` trains a tagger and a
classifier for each data set and seed, and reads the test files once: exact spans, and spans with the right label. DIR has
`laptop` and `rest`, and `aspect_terms/` with both. A line is written as soon as a measurement is done, and what has a line
already is left out. `python scripts/update_docs.py` makes the tables.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from harness import run_missing
from torch import nn

from pssa.aspects import evaluate_aspects, evaluate_end_to_end, load_finder, read_sentences, train_aspects
from pssa.aspects.run import TaggerConfig
from pssa.aspects.tagger import EncoderTagger
from pssa.aspects.train import prepare_training
from pssa.data import read
from pssa.models import Batch, Encoding, Prediction
from pssa.models._layers import dropout
from pssa.runs import load, train

DATA = ("laptop", "rest")
TRIALS: dict[str, dict[str, Any]] = {
    "5 epochs, rate 5e-5": {"max_epochs": 5},
    "8 epochs, rate 5e-5": {"max_epochs": 8},
    "8 epochs, rate 3e-5": {"max_epochs": 8, "learning_rate": 3e-5},
    "5 epochs, rate 8e-5": {"max_epochs": 5, "learning_rate": 8e-5},
    "8 epochs, rate 5e-5, batches of 32": {"max_epochs": 8, "batch_size": 32},
    "5 epochs, rate 5e-5, mean of the pieces": {"max_epochs": 5, "pooling": "mean"},
}
Record = dict[str, Any]


class MeanTagger(EncoderTagger):
    """A word is represented by the mean of its pieces."""

    def classify(self, encoding: Encoding, batch: Batch) -> Prediction:
        """Score the tags of each word."""
        words = torch.arange(batch.candidates.shape[1], device=batch.word_of.device)
        members = (batch.word_of[:, None, :] == words[None, :, None]).to(encoding.words.dtype)  # (B, N, P)
        states = members @ encoding.words / members.sum(dim=2, keepdim=True).clamp(min=1)
        return Prediction(self.output(dropout(states, self.dropout, self.training)).transpose(1, 2), None)


def trials(arguments: argparse.Namespace) -> Iterator[tuple[Record, Callable[[], Record]]]:
    """Yield what identifies each held-out trial, and the trial."""
    for seed in range(1, arguments.seeds + 1):
        for data in DATA:
            for name in TRIALS:
                known = {"encoder": arguments.encoder.name, "trial": name, "data": data, "seed": seed}
                yield known, partial(run_trial, known, arguments)


def run_trial(known: Record, arguments: argparse.Namespace) -> Record:
    """Train on four fifths, and measure after each epoch."""
    settings = dict(TRIALS[known["trial"]])
    build = _build_mean if settings.pop("pooling", None) else TaggerConfig.build
    sentences = read_sentences(arguments.data / "aspect_terms" / known["data"] / "train.xml")
    given = {"encoder": str(arguments.encoder), "seed": known["seed"], "device": arguments.device}
    began = time.monotonic()
    with patch.object(TaggerConfig, "build", build):
        epochs, history = prepare_training(sentences, given | settings).search()
    scores = [round(100 * (record.dev_macro_f1 or 0), 2) for record in history]
    return {**known, "epochs": epochs, "held_out_f1": scores, "seconds": round(time.monotonic() - began, 1)}


def _build_mean(config: TaggerConfig, table: Any) -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        return MeanTagger(table, config.seed)


def measurements(arguments: argparse.Namespace) -> Iterator[tuple[Record, Callable[[], Record]]]:
    """Yield what identifies each measurement, and the measurement."""
    name = arguments.encoder.name if arguments.encoder else "words"
    for seed in range(1, arguments.seeds + 1):
        for data in DATA:
            known = {"reads": name, "data": data, "seed": seed}
            yield known, partial(run_measurement, known, arguments)


def run_measurement(known: Record, arguments: argparse.Namespace) -> Record:
    """Train a tagger and a classifier where they are missing, and read the test files."""
    data, seed = known["data"], known["seed"]
    terms, folder = arguments.data / "aspect_terms" / data, arguments.work / f"{known['reads']}-{data}-{seed}"
    start: dict[str, Any] = {"encoder": str(arguments.encoder)} if arguments.encoder else {"vectors": arguments.vectors}
    start |= {"seed": seed, "device": arguments.device}
    folder.mkdir(parents=True, exist_ok=True)
    tagger, run = folder / "tagger", folder / "classifier"
    if not (tagger / "metrics.json").exists():
        train_aspects(terms / "train.xml", tagger, **start)
    if not (run / "metrics.json").exists():
        model = "bertabsa_att" if arguments.encoder else "tnet_att"
        train(arguments.data / data / "train.txt", run, model=model, **start)
    finder, classifier = load_finder(tagger, arguments.device), load(run, device=arguments.device)
    sentences = read_sentences(terms / "test.xml")
    labelled = read(arguments.data / data / "test.txt", labels=classifier.labels)
    metrics = json.loads((tagger / "metrics.json").read_text("utf-8"))
    return {
        **known,
        "epochs": metrics["epochs"],
        "held_out_f1": metrics["dev"]["f1"],
        "spans": evaluate_aspects(finder, sentences).as_dict(),
        "end_to_end": evaluate_end_to_end(finder, classifier, sentences, labelled).as_dict(),
    }


def main() -> None:
    """Run what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("trials", "measure"))
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--vectors")
    parser.add_argument("--encoder", type=Path)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--work", type=Path, default=Path("aspect-runs"))
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    if arguments.encoder:
        arguments.encoder = arguments.encoder.resolve()
    planned = (trials if arguments.what == "trials" else measurements)(arguments)
    run_missing(planned, arguments)


if __name__ == "__main__":
    main()
