"""`aw-as`, `pg-as`, `rm-as`: the paper's method. Train, mine round by round, train the final model under supervision.

Stages: `search`, `initial`, `round-2` to `round-K` (the trainings between extractions), `search-final` where the number of epochs
is searched again under supervision, `final`. With cross-fitting each miner has stages of its own, and the initial model is still
trained on everything, to be compared with.
"""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import nn

from pssa.data.evidence import Evidence
from pssa.data.split import folds
from pssa.errors import setting
from pssa.mining import Miner, Procedure, mine
from pssa.models import IndexedCorpus
from pssa.runs.methods import Method, Trained, record_evidence, train_final
from pssa.runs.resolve import RANDOM, build_saliency, choose_epsilon, mining_rule
from pssa.runs.run_context import RunContext, all_but
from pssa.runs.settings import Config


class Progressive(Method):
    """Progressive mining by one saliency, unless the configuration names another."""

    mines = True
    continues_baseline = True

    def __init__(self, name: str, saliency: str) -> None:
        super().__init__(name, self._train)
        self.default_saliency = saliency

    def uses(self, config: Config, section: str, key: str) -> bool:
        """Return whether a training uses the setting: all but those of a consensus."""
        return not (section == "mining" and key.startswith("consensus_")) and key != "gate"

    def mining_defaults(self, config: Config) -> dict[str, Any]:
        """Return saliency and epsilon."""
        return {"saliency": self.saliency(config), "epsilon": choose_epsilon(config)}

    def n_folds(self, config: Config) -> int:
        """Return the folds of cross-fitting; without it there must be two sentences at least."""
        return max(config.mining.folds, 2)

    def mine(self, context: RunContext, epochs: int, initial: nn.Module | None = None) -> Evidence:
        """Run the rounds of mining."""
        config, mining, whole = context.config, context.config.mining, context.train_data
        miners: list[Miner] = []
        if mining.folds:
            judged = map(torch.tensor, folds(context.prepared_data.corpus, mining.folds, config.seed))
            for number, rows in enumerate(judged, start=1):
                stage, taught = f"initial-fold-{number}", all_but(whole, rows)
                miners.append((context.train_miner(stage, context.new_model(), epochs, taught), rows))
        else:
            miners.append((initial or _train_initial(context, epochs), torch.arange(len(whole))))

        def train(iteration: int, number: int, model: nn.Module, data: IndexedCorpus) -> nn.Module:
            stage = f"round-{iteration}" + (f"-fold-{number}" if mining.folds else "")
            taught = all_but(data, miners[number - 1][1]) if mining.folds else data
            if mining.start == "restart":
                return context.train_miner(stage, context.new_model(), epochs, taught)
            return context.train_miner(stage, model, mining.round_epochs or epochs, taught)

        saliency, rule = self.saliency(config), mining_rule(config)
        lagged = mining.start == "continue"
        procedure = Procedure(
            build_saliency(config, saliency), rule, mining.iterations, lagged=lagged, share=context.share
        )
        mined = mine(whole, miners, train, procedure, config.data.labels, context.observer.on_round)
        return record_evidence(context, mined, saliency, rule.epsilon, mining.iterations)

    def describe_empty(self, config: Config) -> str:
        """Return why mining found no word, and what to change."""
        more = setting("epsilon", option="--set epsilon=VALUE")
        return f"no sentence had an entropy below epsilon {choose_epsilon(config):g}; raise it with {more}"

    def _train(self, context: RunContext) -> Trained:
        epochs = context.find_epochs([_train_initial])
        initial = _train_initial(context, epochs)
        context.keep("initial", initial)
        # Mining goes on to train the initial model itself.
        start = copy.deepcopy(initial) if context.config.supervision.final_start == "initial" else None
        return train_final(context, epochs, self.mine(context, epochs, initial), start)


METHODS = {
    "aw-as": Progressive("aw-as", "attention"),
    "pg-as": Progressive("pg-as", "gradient"),
    "rm-as": Progressive("rm-as", RANDOM),
}


def method_for(saliency: str | None) -> str:
    """Return the method that mines by `saliency`, by default the gradient's."""
    return next((name for name, method in METHODS.items() if method.default_saliency == saliency), "pg-as")


def _train_initial(context: RunContext, epochs: int) -> nn.Module:
    return context.train_miner("initial", context.new_model(), epochs)
