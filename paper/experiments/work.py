"""Execution of one cell, in any process: train, mine, analyse, and return a record."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass, replace

from torch import nn

from paper.experiments import analyses
from paper.experiments.cells import (
    CORRECTED,
    GIVEN,
    HUMAN,
    RANDOM,
    Analysis,
    Cell,
    Mining,
    Training,
    describe,
    mining_method,
)
from paper.experiments.corrections import correct_sentences
from paper.experiments.ledger import Record
from paper.experiments.mining_stats import describe_evidence, random_words
from paper.experiments.provenance import device_name
from paper.experiments.timing import StageTimer
from paper.experiments.workspace import PlaceContext, Workspace
from pssa import models
from pssa.data.evidence import Evidence, keep_above, keep_iterations
from pssa.data.evidence_file import read_evidence, write_evidence
from pssa.errors import InputError
from pssa.evaluation import score
from pssa.runs import load, methods
from pssa.runs.methods import Trained
from pssa.runs.resolve import choose_penalty
from pssa.runs.saved_model import Description, load_weights, save_weights
from pssa.runs.torch_runtime import TorchRuntime


@dataclass(frozen=True)
class CellJob:
    """A cell, the workspace it is executed in, and what it needs to know about earlier cells."""

    cell: Cell
    workspace: Workspace
    epochs: int = 0  # that the baseline took; 0: it is the baseline, and searches for them if they are not set
    keep_weights: bool = False  # because another cell needs the model itself

    @property
    def key(self) -> str:
        """The cell's key."""
        return self.workspace.key(self.cell)

    def open(self, observer: StageTimer) -> PlaceContext:
        """Return the context of the cell's place, with the cell's settings."""
        epochs = (("epochs", self.epochs),) if self.epochs else ()
        # Those of evidence that no method mines are not of the configuration.
        own = () if getattr(self.cell, "method", "") in GIVEN else getattr(self.cell, "settings", ())
        return self.workspace.open(self.cell.place, (*epochs, *own), observer)


def execute_cell(job: CellJob) -> Record:
    """Execute a cell and return its record, and the device; evidence and weights stay in the workspace under the cell's key."""
    began = time.perf_counter()
    match job.cell:
        case Training():
            found = _train(job, job.cell)
        case Mining():
            found = _mine(job, job.cell)
        case Analysis():
            found = _analyse(job, job.cell)
    spent = time.perf_counter() - began
    resources = job.workspace.resources
    known = {"key": job.key, "cell": describe(job.cell), "files": resources.files_of(job.cell)}
    # The name of this worker's device; the worker may be on another machine than the schedule.
    return {**known, **found, "seconds": spent, "device": device_name(resources.device)}


def _train(job: CellJob, cell: Training) -> Record:
    timer = StageTimer()
    context = job.open(timer)
    epochs = context.run.find_epochs()
    context = context.configured(epochs=epochs, method=cell.method)
    if cell.evidence:
        context = context.configured(gamma=choose_penalty(context.run.config, mining_method(cell.evidence)).gamma)
    if cell.method == "base":
        model, epochs = _train_one(job, cell, context, timer)
        trained = Trained((model,))
    else:
        trained = methods.find(cell.method).train(context.run)
    config, featurizer = context.run.config, context.run.prepared_data.featurizer
    classifier = TorchRuntime(config.model, config.data.labels, featurizer, trained.members, trained.vote_weights)
    began = time.perf_counter()
    predicted = classifier.predicted_labels(context.test.examples)
    testing = time.perf_counter() - began
    scores = score([example.label or "" for example in context.test], predicted, classifier.labels)
    if job.keep_weights:
        _keep_weights(job, context, trained.members[0])
    return {
        "epochs": epochs,
        "accuracy": scores.accuracy,
        "macro_f1": scores.macro_f1,
        "predicted": analyses.label_numbers(predicted, classifier.labels),
        "labels": list(classifier.labels),
        "instances": len(context.run.prepared_data.corpus),
        "parameters": models.count_parameters(trained.members[0]),
        "members": len(trained.members),
        "gamma": config.supervision.gamma if cell.evidence else None,
        "stages": timer.seconds,
        "curve": timer.curve,  # test scores after each epoch, for what choosing on test would report
        "testing_seconds": testing,
        **_held_out_scores(job, classifier),
    }


def _held_out_scores(job: CellJob, classifier: TorchRuntime) -> Record:
    """Return scores on the held-out part of train, which few instances leave out as well: settings are chosen by them."""
    place = job.cell.place
    if not place.instances or place.held_out:
        return {}
    _, judged = job.workspace.resources.corpora(replace(place, held_out=True))
    scores = score([example.label or "" for example in judged], classifier.predicted_labels(judged), classifier.labels)
    return {"held_out": {"accuracy": scores.accuracy, "macro_f1": scores.macro_f1}}


def _train_one(job: CellJob, cell: Training, context: PlaceContext, timer: StageTimer) -> tuple[nn.Module, int]:
    """Train one model, supervised if there is evidence: the last stage of `pssa train`, with its random numbers.

    Return the model and its number of epochs.
    """
    run = context.run
    model, epochs, supervision = run.new_model(), run.find_epochs(), None
    if cell.evidence:
        supervision = run.supervise(_evidence(job, cell, cell.evidence))
        epochs = run.find_final_epochs(epochs, supervision)
    if cell.needs_weights:
        _load_baseline(job, model)
    if not cell.place.held_out and not cell.place.instances:  # few instances have hundreds of epochs
        timer.test_each_epoch(context, model)
    return run.train("final" if cell.evidence else "initial", model, epochs, supervision=supervision), epochs


def _evidence(job: CellJob, cell: Training, mining: Mining) -> Evidence:
    """Return the words that supervise a training, of the rounds and scores that count."""
    found = read_evidence(job.workspace.evidence(mining))
    found = keep_iterations(found, cell.rounds) if cell.rounds else found
    return keep_above(found, cell.above) if cell.above else found


def _mine(job: CellJob, cell: Mining) -> Record:
    timer = StageTimer()
    context = job.open(timer)
    if cell.method == HUMAN:
        if context.human is None:
            raise InputError(f"data set {cell.place.data} has no opinion words of people")
        evidence = context.human
    elif cell.method == RANDOM:
        evidence = random_words(read_evidence(job.workspace.evidence(cell.needs[0])), cell.place.seed)
    elif cell.method == CORRECTED:
        mined, human = (read_evidence(job.workspace.evidence(need)) for need in cell.needs)
        evidence = correct_sentences(mined, human, seed=cell.place.seed, **dict(cell.settings))
    else:
        context = context.configured(method=cell.method)
        epochs = context.run.find_epochs()
        evidence = methods.find(cell.method).mine(context.run, epochs, _initial_model(job, cell, context))
    path = job.workspace.evidence(cell)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_evidence(evidence, path)
    return {"stages": timer.seconds, **describe_evidence(evidence, context.run.prepared_data.corpus, context.human)}


def _initial_model(job: CellJob, cell: Mining, context: PlaceContext) -> nn.Module | None:
    """Return the baseline that mining starts from; None if mining trains models of its own."""
    if not cell.needs_weights or context.run.config.mining.folds:
        return None
    model = context.run.new_model()
    _load_baseline(job, model)
    return model


def _load_baseline(job: CellJob, model: nn.Module) -> None:
    load_weights(job.workspace.weights(Training(job.cell.place)) / "model.safetensors", model)


def _analyse(job: CellJob, cell: Analysis) -> Record:
    workspace, resources = job.workspace, job.workspace.resources
    classifier = load(workspace.weights(cell.training), device=resources.device, precision="float32")
    train_corpus, test = resources.corpora(cell.place)
    tested = replace(cell.place, data=cell.on or cell.place.data)
    if cell.on:
        _, test = resources.corpora(replace(tested, share=1.0, held_out=False))
    rows = resources.opinion_rows(tested, "train" if cell.place.held_out and not cell.on else "test")
    mining = cell.training.evidence
    evidence = _evidence(job, cell.training, mining) if mining else None
    given = analyses.AnalysisInput(classifier, train_corpus, test, rows, evidence)
    return {"found": analyses.find(cell.what)(given, **dict(cell.settings))}


def _keep_weights(job: CellJob, context: PlaceContext, model: nn.Module) -> None:
    """Save the model for the cells that need it; a half-written folder has no weights yet."""
    folder = job.workspace.weights(job.cell)
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    featurizer = context.run.prepared_data.featurizer
    save_weights(folder, model, Description.of(context.run.config, featurizer), featurizer)
