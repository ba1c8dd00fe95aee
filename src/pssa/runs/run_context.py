"""`RunContext`: what a method trains with. It asks for trainings by stage name; files, devices and resuming are handled here.

A stage's training continues from its own checkpoint. A method that is run again from the top therefore passes its finished
stages at once and resumes in the one that was interrupted, with the same weights in the end.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TypeVar

import torch
from torch import Tensor, nn

from pssa import models
from pssa.data.evidence import Evidence
from pssa.data.example import Example
from pssa.models import IndexedCorpus
from pssa.runs.calibration import HeldOut
from pssa.runs.devices import choose_device
from pssa.runs.directory import FileStore, RunDirectory
from pssa.runs.prepared_data import PreparedData
from pssa.runs.resolve import choose_penalty, contrast_options, loop_settings
from pssa.runs.saved_model import Description, save_weights
from pssa.runs.settings import Config
from pssa.runs.warm_start import init_output_layer, sentences_of
from pssa.saliency import Observation
from pssa.training import (
    CheckpointStore,
    EpochRecord,
    Observer,
    ObserverGroup,
    Settings,
    Supervision,
    Task,
    Team,
    best_epoch,
    fit,
    search_epochs,
)
from pssa.training.concurrent import EpochLimit, one_thread, run_concurrently, train_meanwhile
from pssa.training.contrast import Contrast
from pssa.training.fit import count_steps
from pssa.training.supervision import supervise

FINAL_SEARCH = "search-final"  # the stage that searches a number of epochs under supervision
BEGIN_EARLY = 2  # trainings that a core has time for while another searches; more would only fill the disk
Result = TypeVar("Result")
# Layers draw values that ours replace, from the global generator, which is then as it was before.
_BUILDING = threading.Lock()


@dataclass
class RunContext:
    """A run in progress."""

    config: Config
    directory: RunDirectory | None  # None: no restart points are kept
    prepared_data: PreparedData
    observer: Observer
    team: Team = field(default_factory=Team)  # the processes that train together; only the main one has a directory
    history: list[EpochRecord] = field(default_factory=list)  # of all stages, in order
    held_out: HeldOut | None = None  # predictions of models like the final one about instances that are new to them
    goes_on: Callable[[int], bool] | None = None  # of a training that begins during the search, see `Task`

    @cached_property
    def device(self) -> torch.device:
        """Where models are trained."""
        return choose_device(self.config.device)

    @cached_property
    def settings(self) -> Settings:
        """How models are trained."""
        return loop_settings(self.config, self.device)

    @property
    def best(self) -> EpochRecord | None:
        """The best epoch of the search that chose the number of epochs, if there was one."""
        stage = FINAL_SEARCH if any(record.stage == FINAL_SEARCH for record in self.history) else "search"
        search = [record for record in self.history if record.stage == stage]
        return search[best_epoch(search, self.settings.smoothing) - 1] if search else None

    @cached_property
    def train_data(self) -> IndexedCorpus:
        """The training corpus as tensors."""
        return self.prepared_data.index(self.config.data.labels)

    @cached_property
    def division(self) -> tuple[IndexedCorpus, IndexedCorpus]:
        """The training part of a search, and its development data."""
        if self.prepared_data.dev is not None:
            return self.train_data, self.index(self.prepared_data.dev)
        train, dev = self.prepared_data.hold_out(self.config.data.dev_fraction, self.config.seed)
        return self.train_data.select(train), self.train_data.select(dev)

    @cached_property
    def class_weights(self) -> Tensor | None:
        """(n,) weight of each training example so that every class counts the same; None where they count as they are."""
        if self.config.training.class_weights == "none":
            return None
        counts = torch.bincount(self.train_data.labels, minlength=len(self.config.data.labels)).clamp(min=1)
        weights = 1.0 / counts[self.train_data.labels]
        return weights / weights.mean()

    @cached_property
    def contrast(self) -> Contrast | None:
        """Draws the copies that models are trained on as well, where the configuration asks for them."""
        options = contrast_options(self.config)
        if options is None:
            return None
        featurizer = self.prepared_data.featurizer

        def index(examples: Sequence[Example]) -> IndexedCorpus:
            return self.index(featurizer.cut(examples))

        return Contrast.of(self.prepared_data.corpus, options, index, featurizer.max_positions)

    @cached_property
    def label_sentences(self) -> IndexedCorpus:
        """The sentences that show the labels, from which the output layer of an encoder starts."""
        return sentences_of(self.config, self.prepared_data.corpus, self.prepared_data.featurizer)

    def index(self, examples: Sequence[Example]) -> IndexedCorpus:
        """Return the examples as tensors for this run's models."""
        return self.prepared_data.featurizer.index(examples, self.config.data.labels)

    def member_seed(self, number: int) -> int:
        """Return the seed of the `number`th of several models, from 0; far from the seeds that people number their runs with."""
        return self.config.seed + 1009 * number

    def new_model(self, seed: int | None = None) -> nn.Module:
        """Return a model with the initial parameters of `seed`, by default the run's, or those of the run that it starts from."""
        seed = self.config.seed if seed is None else seed
        n_labels = len(self.config.data.labels)
        with _BUILDING:
            model = models.build(
                self.config.model, self.prepared_data.featurizer.table, n_labels, self.config.options, seed
            )
        if self.prepared_data.start is not None:
            model.load_state_dict(self.prepared_data.start)
        model = model.to(self.device)
        if self.settings.share_sentences:
            models.share_sentences(model, half=self.settings.precision == "bfloat16")
        if self.config.data.label_texts:
            init_output_layer(model, self.label_sentences.to(self.device), self.train_data.to(self.device))
        return model

    def supervise(self, evidence: Evidence) -> Supervision:
        """Return the expected attention by this evidence, with the run's penalty."""
        settings = self.config.supervision
        n_words = self.train_data.table.candidates.shape[1]
        penalty = choose_penalty(self.config)
        supervision = supervise(evidence, n_words, penalty, settings.words, settings.weighting)
        return replace(supervision, on=settings.penalty_on)

    def share(self, observed: Observation) -> Observation:
        """Return the main process's observation in every process, since devices may differ in the last bits."""
        return self.team.share(observed)

    def keep(self, stage: str, model: nn.Module) -> None:
        """Save a model in its stage's folder, where it can be loaded like any run."""
        if self.directory is None:
            return
        featurizer = self.prepared_data.featurizer
        description = Description.of(self.config, featurizer)
        save_weights(self.directory.stage_folder(stage), model, description, featurizer)

    def find_epochs(self, meanwhile: Sequence[Callable[[RunContext, int], object]] = ()) -> int:
        """Return the number of epochs: the known one, or the best on development data, which is searched once in a run.

        :param meanwhile: trainings of so many epochs, to be called afterwards. Those of models on word vectors begin while the
            search still runs, if there is a second core, and continue from their checkpoints when they are called. They go no
            further than they are certain to go: the first epochs of a training do not depend on how many there are.
        """
        if known := self.config.known_epochs:
            return known
        if not meanwhile or self.directory is None or self._n_side_by_side < 2:
            return self._search("search")
        (branch,), limit, observer = self._branches(1), EpochLimit(self.settings.smoothing), self.observer
        branch.goes_on, most = limit.allows, self.settings.max_epochs
        works = [partial(_run_branch, branch, partial(_call, train, most)) for train in meanwhile]
        with train_meanwhile(works, limit):
            self.observer = ObserverGroup((observer, limit))
            try:
                return self._search("search")
            finally:
                self.observer = observer

    def find_final_epochs(self, epochs: int, supervision: Supervision) -> int:
        """Return the number of epochs of the final training: that of the initial model, or what a search under supervision finds.

        The evidence comes from all of train, but no development instance is trained on with its words.
        """
        searches = self.config.supervision.final_epochs == "search"
        return self._search(FINAL_SEARCH, supervision) if searches else epochs

    def _search(self, stage: str, supervision: Supervision | None = None) -> int:
        train, dev = self.division
        task = Task(
            train,
            self.config.seed,
            stage,
            self.class_weights,
            supervision,
            dev,
            team=self.team,
            score=self.prepared_data.score,
            contrast=self.contrast,
        )
        store = self._store(task.stage)
        with self._threads():
            epochs, history = search_epochs(self.new_model(), task, self.settings, store, self.observer)
        self._note(task.stage, history)
        if (logits := history[epochs - 1].dev_logits) is not None:
            gold = dev.labels.cpu()
            self.held_out = HeldOut(logits.softmax(dim=1)[None], gold, "held-out data of the search", kept_out=False)
        return epochs

    def train(
        self,
        stage: str,
        model: nn.Module,
        epochs: int,
        *,
        data: IndexedCorpus | None = None,
        weights: Tensor | None = None,
        supervision: Supervision | None = None,
    ) -> nn.Module:
        """Train `model` in place, by default on all of train."""
        weights = self.class_weights if weights is None else weights
        task = Task(data or self.train_data, self.config.seed, stage, weights, supervision, contrast=self.contrast)
        return self._fit(model, task, epochs)

    def train_miner(
        self,
        stage: str,
        model: nn.Module,
        epochs: int,
        data: IndexedCorpus | None = None,
        supervision: Supervision | None = None,
    ) -> nn.Module:
        """Train a model that is there to mine or to judge evidence: as `train` does, without augmentation."""
        task = Task(data or self.train_data, self.config.seed, stage, self.class_weights, supervision)
        return self._fit(model, task, epochs)

    def _fit(self, model: nn.Module, task: Task, epochs: int) -> nn.Module:
        # A number of epochs that a search found holds under the schedule of the search.
        horizon = 0 if self.config.known_epochs else self.settings.max_epochs
        task = replace(task, team=self.team, horizon=horizon, goes_on=self.goes_on)
        if task.supervision is not None:
            # A part of a step counts as a step.
            rising = math.ceil(self.config.supervision.ramp * count_steps(task, self.settings, epochs))
            task = replace(task, supervision=replace(task.supervision, rising=rising))
        with self._threads():
            history = fit(model, task, self.settings, epochs, self._store(task.stage), self.observer)
        self._note(task.stage, history)
        return model

    def run_all(self, works: Sequence[Callable[[RunContext], Result]]) -> list[Result]:
        """Return the results of works that do not need each other, such as the trainings of judges, in their order.

        Models on word vectors are trained beside each other on a CPU: one for each thread that torch may use.
        """
        n_threads = min(len(works), self._n_side_by_side)
        if n_threads < 2:
            return [work(self) for work in works]
        branches = self._branches(len(works))
        calls = [partial(_run_branch, branch, work) for branch, work in zip(branches, works, strict=True)]
        results = list(run_concurrently(calls, self.observer, n_threads))
        for branch in branches:
            self.history.extend(branch.history)
        return results

    def _branches(self, count: int) -> list[RunContext]:
        """Return contexts for other threads, with histories of their own."""
        # What all of them need is made once, before there are several threads.
        for name in ("settings", "train_data", "class_weights", "contrast"):
            getattr(self, name)
        branches = [copy(self) for _ in range(count)]
        for branch in branches:
            branch.history = []
        return branches

    @property
    def _n_side_by_side(self) -> int:
        """Trainings that may run at once."""
        return torch.get_num_threads() if self._is_light and self.team.size == 1 else 1

    @property
    def _is_light(self) -> bool:
        """Whether a training keeps one core busy and not more."""
        return self.device.type == "cpu" and not models.uses_encoder(self.config.model)

    def _threads(self) -> AbstractContextManager[None]:
        return one_thread() if self._is_light else nullcontext()

    def _store(self, stage: str) -> CheckpointStore | None:
        return FileStore(self.directory.stage_folder(stage) / "checkpoint.safetensors") if self.directory else None

    def _note(self, stage: str, history: list[EpochRecord]) -> None:
        self.history.extend(history)
        self.observer.on_stage_end(stage)


def _call(train: Callable[[RunContext, int], Result], epochs: int, context: RunContext) -> Result:
    return train(context, epochs)


def _run_branch(branch: RunContext, work: Callable[[RunContext], Result], observer: Observer) -> Result:
    branch.observer = observer
    return work(branch)


def all_but(data: IndexedCorpus, rows: Tensor) -> IndexedCorpus:
    """Return the examples of `data` except those at `rows`."""
    kept = torch.ones(len(data), dtype=torch.bool)
    kept[rows] = False
    return data.select(kept.nonzero().squeeze(1))
