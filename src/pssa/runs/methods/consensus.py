"""`consensus`: evidence that several models agree on, each judging only instances that it was not trained on.

Stages: `search`, then `seed-S-fold-F` for every seed and fold, with a gate `gate-fold-F` for every fold, then `final`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import nn

from pssa.data.evidence import Evidence
from pssa.data.split import folds
from pssa.errors import InputError, setting
from pssa.evaluation import predict_classes, score
from pssa.mining import agree
from pssa.mining.consensus import blend
from pssa.runs.calibration import HeldOut
from pssa.runs.config import Config
from pssa.runs.defaults import RANDOM, build_saliency, choose_consensus_epochs, choose_consensus_rule, choose_epsilon
from pssa.runs.methods import Gate, Method, Trained, record_evidence, train_final
from pssa.runs.run_context import RunContext, all_but
from pssa.saliency import Observation, observe

# Settings of the rounds of mining, which a consensus does not have.
_OF_ROUNDS = ("epsilon", "iterations", "round_epochs", "start", "folds", "random_mask", "stop_drop")


class Consensus(Method):
    """Judges of several seeds and folds; the words that the right ones agree on are active."""

    mines = True
    extent_settings = ("consensus_words", "consensus_threshold")
    default_saliency = "leave_one_out"  # closer to human words than attention (results/ideas.md)

    def __init__(self, name: str) -> None:
        super().__init__(name, self._train)

    def uses(self, config: Config, section: str, key: str) -> bool:
        """Return whether a training uses the setting: all but those of the rounds."""
        return not (section == "mining" and key in _OF_ROUNDS)

    def saliencies(self, config: Config) -> tuple[str, ...]:
        """Return the saliencies whose mean the judges score by; usually one."""
        return config.mining.consensus_saliencies or (self.saliency(config),)

    def resolve(self, config: Config) -> Config:
        """Return the configuration with saliency, threshold and the judges' epochs filled in."""
        mining = replace(
            config.mining,
            saliency=self.saliency(config),
            epsilon=choose_epsilon(config),
            consensus_threshold=choose_consensus_rule(config).threshold,
            consensus_epochs=choose_consensus_epochs(config),
        )
        return replace(config, mining=mining)

    def check(self, config: Config) -> None:
        """Refuse judges that would each score by another head of the encoder.

        A head is drawn with the weights, so judges of other seeds would not score by the head that is supervised.
        """
        n_judges = config.mining.consensus_models
        if config.options.get("refine") != "random_head" or n_judges == 1:
            return
        for name in self.saliencies(config):
            if name in ("attention", "self_attention", RANDOM):
                raise InputError(
                    f"refine is random_head, and each of the {n_judges} models of a consensus would score by {name} of a head "
                    "of its own; set refine to average or smallest_entropy, or saliency to leave_one_out"
                )

    def n_folds(self, config: Config) -> int:
        """Return the folds of each seed."""
        return config.mining.consensus_folds

    def mine(self, context: RunContext, epochs: int, initial: nn.Module | None = None) -> Evidence:
        """Train the judges and keep what they agree on; `initial` is not used."""
        return self._agree(context, self._judgements(context, epochs))

    def _judgements(self, context: RunContext, epochs: int) -> list[Observation]:
        return [self._judge(context, epochs, number) for number in range(context.config.mining.consensus_models)]

    def _agree(self, context: RunContext, judgements: Sequence[Observation]) -> Evidence:
        config = context.config
        rule = choose_consensus_rule(config)
        probabilities = torch.stack([one.probabilities for one in judgements])
        gold = context.train_data.labels.cpu()
        context.held_out = HeldOut(probabilities, gold, "out-of-fold predictions of the judges", kept_out=False)
        mined = agree(judgements, context.train_data.labels, config.data.labels, rule)
        return record_evidence(context, mined, "+".join(self.saliencies(config)), None, rule.rounds)

    def extent(self, config: Config) -> tuple[int, float]:
        """Return the words of an instance, and the threshold."""
        rule = choose_consensus_rule(config)
        return rule.words, rule.threshold

    def describe_empty(self, config: Config) -> tuple[str, str]:
        """Return why mining found no word, and what to change."""
        needed = config.mining.consensus_right
        right = (
            "1 model (consensus_right) was right" if needed == 1 else f"{needed} models (consensus_right) were right"
        )
        if config.mining.consensus_soft:
            return f"on no sentence {right}", _lower("consensus_right")
        threshold = choose_consensus_rule(config).threshold
        return f"no word exceeded consensus_threshold {threshold:g} where {right}", _lower("consensus_threshold")

    def _train(self, context: RunContext) -> Trained:
        epochs = context.find_epochs()
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
        config, data, seed = context.config, context.train_data, context.member_seed(0)
        epochs = choose_consensus_epochs(config) or epochs
        supervision = context.supervise(evidence)
        predicted = torch.empty_like(data.labels)
        parts = folds(context.prepared_data.corpus, config.mining.consensus_folds, seed)
        for fold, judged in enumerate(parts, start=1):
            rows = torch.tensor(judged)
            model = context.new_model(seed)
            context.train_miner(f"gate-fold-{fold}", model, epochs, all_but(data, rows), supervision)
            predicted[rows] = context.team.share(predict_classes(model, data.select(rows)))
        labels = config.data.labels
        gold, ours, theirs = (
            [labels[each] for each in ids.tolist()] for ids in (data.labels, predicted, plain.predicted)
        )
        return Gate(score(gold, ours, labels).macro_f1, score(gold, theirs, labels).macro_f1)

    def _judge(self, context: RunContext, epochs: int, number: int) -> Observation:
        """Return one judgement of every instance, by models of one seed that were trained on the other folds."""
        config, data = context.config, context.train_data
        seed = context.member_seed(number)
        epochs = choose_consensus_epochs(config) or epochs
        saliencies = [build_saliency(config, name) for name in self.saliencies(config)]
        whole = Observation.blank(len(data), data.table.candidates.shape[1], len(config.data.labels))
        for fold, judged in enumerate(
            folds(context.prepared_data.corpus, config.mining.consensus_folds, seed), start=1
        ):
            rows = torch.tensor(judged)
            stage = f"seed-{number + 1}-fold-{fold}"
            model = context.train_miner(stage, context.new_model(seed), epochs, all_but(data, rows))
            unseen = data.select(rows)
            whole.fill(rows, blend([observe(model, unseen, saliency) for saliency in saliencies]))
        return context.share(whole)


def _lower(name: str) -> str:
    return f"lower it with {setting(name, option=f'--set {name}=...')}"


METHODS = {"consensus": Consensus("consensus")}
