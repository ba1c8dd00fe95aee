"""`consensus`: evidence that several models agree on, each judging only instances that it was not trained on.

Stages: `search`, then `seed-S-fold-F` for every seed and fold, with a gate `gate-fold-F` for every fold, then `final`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from pssa import models
from pssa.data.evidence import Evidence
from pssa.data.split import folds
from pssa.errors import InputError, setting
from pssa.evaluation import predict_classes, predict_logits, score
from pssa.mining import agree
from pssa.models import AspectModel, Batch, IndexedCorpus
from pssa.runs.calibration import HeldOut
from pssa.runs.methods import Gate, Method, Trained, record_evidence, train_final
from pssa.runs.resolve import (
    RANDOM,
    build_saliency,
    choose_epsilon,
    consensus_rule,
)
from pssa.runs.run_context import BEGIN_EARLY, RunContext, all_but
from pssa.runs.settings import Config
from pssa.saliency import Observation, Saliency, needs, observe
from pssa.training import Observer
from pssa.training.concurrent import Relay

# Settings of the rounds of mining, which a consensus does not have.
_OF_ROUNDS = ("epsilon", "iterations", "round_epochs", "start", "folds", "random_mask")


@dataclass(frozen=True)
class _Judge:
    """One of the models: its seed, counted from 0, and the fold that it judges."""

    number: int
    fold: int  # from 1
    rows: Tensor  # of the fold

    @property
    def stage(self) -> str:
        """The name of its training."""
        return f"seed-{self.number + 1}-fold-{self.fold}"


class Consensus(Method):
    """Judges of several seeds and folds; the words that the right ones agree on are active."""

    mines = True
    default_saliency = "leave_one_out"  # closer to human words than attention (results/ideas.md)

    def __init__(self, name: str) -> None:
        super().__init__(name, self._train)

    def uses(self, config: Config, section: str, key: str) -> bool:
        """Return whether a training uses the setting: all but those of the rounds."""
        return not (section == "mining" and key in _OF_ROUNDS)

    def mining_defaults(self, config: Config) -> dict[str, Any]:
        """Return saliency and threshold, and the judges' folds and epochs."""
        mining, uses_encoder = config.mining, models.uses_encoder(config.model)
        # On word vectors judges of half the data find words as good, for a quarter of the cost (docs/measurements/benchmarks.md).
        folds = (5 if uses_encoder else 2) if mining.consensus_folds is None else mining.consensus_folds
        # The judges of an encoder need fewer epochs than the model they judge for.
        epochs = (3 if uses_encoder else 0) if mining.consensus_epochs is None else mining.consensus_epochs
        return {
            "saliency": self.saliency(config),
            "epsilon": choose_epsilon(config),
            "consensus_threshold": consensus_rule(config).threshold,
            "consensus_folds": folds,
            "consensus_epochs": epochs,
        }

    def check(self, config: Config) -> None:
        """Refuse judges that would each score by another head of the encoder.

        A head is drawn with the weights, so judges of other seeds would not score by the head that is supervised.
        """
        n_judges = config.mining.consensus_models
        if config.options.get("refine") != "random_head" or n_judges == 1:
            return
        name = self.saliency(config)
        if name == RANDOM or needs(name) in ("attention", "refined"):
            raise InputError(
                f"refine is random_head, and each of the {n_judges} models of a consensus would score by {name} of a head "
                "of its own; set refine to average or smallest_entropy, or saliency to leave_one_out"
            )

    def n_folds(self, config: Config) -> int:
        """Return the folds of each seed."""
        return config.mining.consensus_folds or 0

    def mine(self, context: RunContext, epochs: int, initial: nn.Module | None = None) -> Evidence:
        """Train the judges and keep what they agree on; `initial` is not used."""
        return self._agree(context, self._judgements(context, epochs))

    def _judgements(self, context: RunContext, epochs: int) -> list[Observation]:
        """Return one judgement of every instance for each seed, by models that were trained on the other folds."""
        config, data = context.config, context.train_data
        judges = self._judges(context, range(config.mining.consensus_models))
        epochs = config.mining.consensus_epochs or epochs
        observed = context.run_all([partial(self._observe, judge=judge, epochs=epochs) for judge in judges])
        n_words, n_labels = data.table.candidates.shape[1], len(config.data.labels)
        wholes = [Observation.blank(len(data), n_words, n_labels) for _ in range(config.mining.consensus_models)]
        for judge, part in zip(judges, observed, strict=True):
            wholes[judge.number].fill(judge.rows, part)
        return [context.share(whole) for whole in wholes]

    def _judges(self, context: RunContext, numbers: Iterable[int]) -> list[_Judge]:
        """Return the judges of some seeds."""
        corpus, n_folds = context.prepared_data.corpus, self.n_folds(context.config)
        return [
            _Judge(number, fold, torch.tensor(rows))
            for number in numbers
            for fold, rows in enumerate(folds(corpus, n_folds, context.member_seed(number)), start=1)
        ]

    def _observe(self, context: RunContext, judge: _Judge, epochs: int) -> Observation:
        """Train a judge, and return what it says about the instances that it has not seen."""
        model = _train_judge(context, epochs, judge)
        saliency = build_saliency(context.config, self.saliency(context.config))
        return judge_unseen(model, context.train_data.select(judge.rows), _Stoppable(saliency, context.observer))

    def _agree(self, context: RunContext, judgements: Sequence[Observation]) -> Evidence:
        config = context.config
        rule = consensus_rule(config)
        probabilities = torch.stack([one.probabilities for one in judgements])
        gold = context.train_data.labels.cpu()
        context.held_out = HeldOut(probabilities, gold, "out-of-fold predictions of the judges", kept_out=False)
        mined = agree(judgements, context.train_data.labels, config.data.labels, rule)
        return record_evidence(context, mined, self.saliency(config), None, 1)

    def describe_empty(self, config: Config) -> str:
        """Return why mining found no word, and what to change."""
        needed, name = config.mining.consensus_right, "consensus_right"
        right = f"{needed} {'model' if needed == 1 else 'models'} ({name}) must be right about a sentence"
        if not config.mining.consensus_soft:
            name = "consensus_threshold"
            right += f", and a word must exceed {name} {consensus_rule(config).threshold:g}"
        return f"{right}; lower it with {setting(name, option=f'--set {name}=VALUE')}"

    def _train(self, context: RunContext) -> Trained:
        early = [] if context.config.mining.consensus_epochs else self._judges(context, [0])[:BEGIN_EARLY]
        epochs = context.find_epochs([partial(_train_judge, judge=judge) for judge in early])
        judgements = self._judgements(context, epochs)
        evidence = self._agree(context, judgements)
        if context.config.supervision.gate == "none":
            return train_final(context, epochs, evidence)
        gate = self._gate(context, epochs, evidence, judgements[0])
        if gate.is_open:
            return replace(train_final(context, epochs, evidence), gate=gate)
        model = context.train("final", context.new_model(), epochs)
        return Trained((model,), evidence=evidence, gate=gate)

    def _gate(self, context: RunContext, epochs: int, evidence: Evidence, plain: Observation) -> Gate:
        """Compare the first judges with models of the same seed and folds that the evidence supervises."""
        config, data = context.config, context.train_data
        judges = self._judges(context, [0])
        supervised = partial(_predict, epochs=config.mining.consensus_epochs or epochs, evidence=evidence)
        found = context.run_all([partial(supervised, judge=judge) for judge in judges])
        predicted = torch.empty_like(data.labels)
        for judge, part in zip(judges, found, strict=True):
            predicted[judge.rows] = context.team.share(part)
        labels = config.data.labels
        gold, ours, theirs = (
            [labels[each] for each in ids.tolist()] for ids in (data.labels, predicted, plain.predicted)
        )
        return Gate(score(gold, ours, labels).macro_f1, score(gold, theirs, labels).macro_f1)


def judge_unseen(model: nn.Module, unseen: IndexedCorpus, saliency: Saliency) -> Observation:
    """Return a judge's predictions, and the shares of words where it is right; zeros elsewhere."""
    probabilities = predict_logits(model, unseen).softmax(dim=1)
    observed = Observation(probabilities, torch.zeros(len(unseen), unseen.table.candidates.shape[1]))
    right = (observed.predicted == unseen.labels.cpu()).nonzero().squeeze(1)
    if len(right):
        observed.fill(right, observe(model, unseen.select(right), saliency))
    return observed


@dataclass(frozen=True)
class _Stoppable:
    """A saliency that ends with the trainings beside it: leaving out each word of a large corpus takes long."""

    saliency: Saliency
    observer: Observer

    def __call__(self, model: AspectModel, batch: Batch) -> Tensor:
        """Return the raw scores."""
        if isinstance(self.observer, Relay):
            self.observer.raise_if_stopped()
        return self.saliency(model, batch)


def _train_judge(context: RunContext, epochs: int, judge: _Judge) -> nn.Module:
    model = context.new_model(context.member_seed(judge.number))
    return context.train_miner(judge.stage, model, epochs, all_but(context.train_data, judge.rows))


def _predict(context: RunContext, judge: _Judge, epochs: int, evidence: Evidence) -> Tensor:
    """Train a judge again, supervised by the evidence, and return its classes of the instances that it has not seen."""
    data, model = context.train_data, context.new_model(context.member_seed(judge.number))
    supervision, taught = context.supervise(evidence), all_but(data, judge.rows)
    context.train_miner(f"gate-fold-{judge.fold}", model, epochs, taught, supervision)
    return predict_classes(model, data.select(judge.rows))


METHODS = {"consensus": Consensus("consensus")}
