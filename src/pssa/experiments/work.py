"""One cell carried out, in whatever process: trained, mined, looked at or timed, and told as a record."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import torch
from torch import nn

from pssa import models
from pssa.data import Corpus
from pssa.data.evidence import Evidence
from pssa.data.evidence_edit import keep_above, keep_iterations
from pssa.data.evidence_file import read_evidence, write_evidence
from pssa.errors import InputError
from pssa.evaluation import score
from pssa.experiments import analyses
from pssa.experiments.cells import Cell, Look, Mining, Timing, Training, describe
from pssa.experiments.ledger import Record
from pssa.experiments.mined import common_words, describe_evidence
from pssa.experiments.timing import Watch
from pssa.experiments.workspace import Bench, Workroom
from pssa.runs import Config, load, methods
from pssa.runs.classifier import Classifier
from pssa.runs.defaults import choose_penalty
from pssa.runs.methods import Trained
from pssa.runs.saved_model import Description, load_weights, save_weights
from pssa.runs.training_run import train

__all__ = ["Job", "carry_out"]

_DIGITS = 10


@dataclass(frozen=True)
class Job:
    """A cell, where it is carried out, and what it needs to know of the cells before it."""

    cell: Cell
    room: Workroom
    epochs: int = 0  # that the baseline took; 0: it is the baseline, and takes as many as is best
    keep_weights: bool = False  # since another cell needs the model itself

    @property
    def key(self) -> str:
        """The cell's."""
        return self.room.key(self.cell)


def carry_out(job: Job) -> Record:
    """Do it. What it leaves behind besides the record is evidence and weights, under the cell's key."""
    began = time.perf_counter()
    match job.cell:
        case Training():
            found = _train(job, job.cell)
        case Mining():
            found = _mine(job, job.cell)
        case Look():
            found = _look(job, job.cell)
        case Timing():
            found = _time(job, job.cell)
    spent = time.perf_counter() - began
    files = job.room.resources.files_of(job.cell)
    return {"key": job.key, "cell": describe(job.cell), "files": files, **found, "seconds": spent}


def _train(job: Job, cell: Training) -> Record:
    watch = Watch()
    bench = job.room.open(cell.place, (*_epochs(job), *cell.settings), watch)
    shop = bench.shop
    epochs = shop.find_epochs()
    shop.config = shop.config.updated({"epochs": epochs, "method": cell.method})
    if cell.method == "base":
        outcome = Trained((_train_one(job, cell, bench, watch),))
    else:
        outcome = methods.find(cell.method).train(shop)
    classifier = _classifier(bench, outcome)
    began = time.perf_counter()
    predicted = classifier.predicted_labels(bench.test.examples)
    testing = time.perf_counter() - began
    scores = score([example.label or "" for example in bench.test], predicted, classifier.labels)
    if job.keep_weights:
        _keep(job, bench, outcome)
    return {
        "epochs": epochs,
        "accuracy": scores.accuracy,
        "macro_f1": scores.macro_f1,
        "predicted": _numbered(predicted, classifier.labels),
        "labels": list(classifier.labels),
        "instances": len(shop.prepared_data.corpus),
        "parameters": models.count_parameters(outcome.members[0]),
        "members": len(outcome.members),
        "gamma": shop.config.supervision.gamma if cell.evidence else None,
        "stages": watch.seconds,
        "curve": watch.curve,  # test scores after each epoch, for what choosing on test would report
        "testing_seconds": testing,
    }


def _numbered(predicted: Sequence[str], labels: Sequence[str]) -> str | list[int]:
    """The place of each label among `labels`: a digit each, or a list where digits do not suffice."""
    places = [labels.index(label) for label in predicted]
    return "".join(map(str, places)) if len(labels) <= _DIGITS else places


def _train_one(job: Job, cell: Training, bench: Bench, watch: Watch) -> nn.Module:
    """One model, under supervision where there is evidence: the last stage of `pssa train`, with its random numbers."""
    shop = bench.shop
    model = shop.new_model()
    if not cell.place.held_out:
        watch.look_at(bench, model)
    if not cell.evidence:
        return shop.train("initial", model, shop.find_epochs())
    shop.config = shop.config.updated({"gamma": choose_penalty(shop.config).gamma})
    return shop.train("final", model, shop.find_epochs(), supervision=shop.supervise(_evidence(job, cell)))


def _evidence(job: Job, cell: Training) -> Evidence:
    """What all the minings found, as far as it counts."""
    found = [read_evidence(job.room.evidence(mining)) for mining in cell.evidence]
    if cell.rounds:
        found = [keep_iterations(evidence, cell.rounds) for evidence in found]
    if cell.above:
        found = [keep_above(evidence, cell.above) for evidence in found]
    return reduce(common_words, found)


def _mine(job: Job, cell: Mining) -> Record:
    watch = Watch()
    bench = job.room.open(cell.place, (*_epochs(job), *cell.settings), watch)
    shop = bench.shop
    if cell.method == "human":
        if bench.human is None:
            raise InputError(f"data set {cell.place.data} has no opinion words of people")
        evidence = bench.human
    else:
        shop.config = shop.config.updated({"method": cell.method})
        epochs = shop.find_epochs()
        evidence = methods.find(cell.method).mine(shop, epochs, _initial(job, cell, bench))
    path = job.room.evidence(cell)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_evidence(evidence, path)
    return {"stages": watch.seconds, **describe_evidence(evidence, shop.prepared_data.corpus, bench.human)}


def _initial(job: Job, cell: Mining, bench: Bench) -> nn.Module | None:
    """The baseline as mining goes on from it; None where mining trains models of its own."""
    shop = bench.shop
    if not cell.needs_weights or shop.config.mining.folds:
        return None
    model = shop.new_model()
    load_weights(job.room.weights(Training(cell.place)) / "model.safetensors", model)
    return model


def _look(job: Job, cell: Look) -> Record:
    classifier = load(job.room.weights(cell.training), device=job.room.resources.device, precision="float32")
    train_corpus, test = job.room.resources.corpora(cell.place)
    rows = job.room.resources.opinion_rows(cell.place, "test")
    evidence = _evidence(job, cell.training) if cell.training.evidence else None
    seen = analyses.Subject(classifier, train_corpus, test, rows, evidence)
    return {"found": analyses.find(cell.what)(seen, **dict(cell.settings))}


def _time(job: Job, cell: Timing) -> Record:
    """Every method as `pssa train` runs it, from reading the files to the last file written."""
    resources, place = job.room.resources, cell.place
    folder = job.room.timing(cell)
    shutil.rmtree(folder, ignore_errors=True)
    corpus, test = resources.corpora(place)
    wanted = resources.settings_in(place)
    source = resources.sources[place.data].train
    spent: dict[str, Any] = {}
    # The first run of a process also loads libraries and warms the device up; it is done twice.
    with _all_cores():
        for number, method in enumerate((cell.methods[0], *cell.methods)):
            out = folder / f"{number}-{method}"
            out.parent.mkdir(parents=True, exist_ok=True)
            spent[method] = _time_one(out, source, test, wanted | {"method": method})
            shutil.rmtree(out)
    shutil.rmtree(folder)
    return {"methods": spent, "instances": len(corpus), "tested": len(test)}


@contextmanager
def _all_cores() -> Iterator[None]:
    """As many threads as there are cores: a timing has the machine for itself, and other jobs of the process have a share."""
    share = torch.get_num_threads()
    torch.set_num_threads(os.cpu_count() or 1)
    try:
        yield
    finally:
        torch.set_num_threads(share)


def _time_one(out: Path, source: Path, test: Corpus, wanted: Mapping[str, Any]) -> dict[str, Any]:
    watch = Watch()
    began = time.perf_counter()
    train(source, out, observer=watch, config=Config().updated(wanted))  # settings of all methods, used or not
    trained = time.perf_counter()
    classifier = load(out, device=wanted["device"])
    loaded = time.perf_counter()
    classifier.predicted_labels(test.examples)
    return {
        "train": trained - began,
        "test": time.perf_counter() - loaded,
        "stages": watch.seconds,
    }


def _epochs(job: Job) -> tuple[tuple[str, Any], ...]:
    return (("epochs", job.epochs),) if job.epochs else ()


def _classifier(bench: Bench, outcome: Trained) -> Classifier:
    config, featurizer = bench.shop.config, bench.shop.prepared_data.featurizer
    return Classifier(config.model, config.data.labels, featurizer, outcome.members, outcome.vote_weights)


def _keep(job: Job, bench: Bench, outcome: Trained) -> None:
    """Leave the model where cells that need it look; a half-written folder has no weights yet."""
    folder = job.room.weights(job.cell)
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    featurizer = bench.shop.prepared_data.featurizer
    save_weights(folder, outcome.members[0], Description.of(bench.shop.config, featurizer), featurizer)
