"""`aw-as`, `pg-as`, `rm-as`: the paper's method. Train, mine round by round, train the final model under supervision.

Stages: `search`, `initial`, `round-2` to `round-K` (the trainings between extractions), `final`. With cross-fitting each miner
has stages of its own, and the initial model is still trained on everything, to be compared with.
"""

from __future__ import annotations

import torch
from torch import nn

from pssa.data.batch import IndexedCorpus
from pssa.data.evidence import Evidence, Header
from pssa.data.split import folds
from pssa.mining import Miner, Procedure, mine
from pssa.runs.defaults import build_saliency, choose_rule, choose_saliency
from pssa.runs.methods import Trained
from pssa.runs.run_context import RunContext

__all__ = ["mine_evidence", "run"]


def run(context: RunContext) -> Trained:
    """All stages."""
    epochs = context.find_epochs()
    initial = context.train("initial", context.new_model(), epochs)
    context.keep("initial", initial)
    evidence = mine_evidence(context, initial, epochs)
    final = context.train("final", context.new_model(), epochs, supervision=context.supervise(evidence))
    return Trained((final,), evidence=evidence)


def mine_evidence(context: RunContext, initial: nn.Module | None, epochs: int) -> Evidence:
    """Mine with the trained `initial` model, which the rounds change; cross-fitting trains its own and needs none."""
    config = context.config
    rule = choose_rule(config)
    procedure = Procedure(
        build_saliency(config),
        rule,
        config.mining.iterations,
        lagged=config.mining.start == "continue",
        share=context.share,
    )
    crew = _Crew(context, epochs)
    mined = mine(
        context.train_data, crew.gather(initial), crew.train, procedure, config.data.labels, context.observer.on_round
    )
    corpus = context.prepared_data.corpus
    header = Header(
        model=config.model,
        saliency=choose_saliency(config),
        epsilon=rule.epsilon,
        iterations=config.mining.iterations,
        corpus_hash=corpus.hash(),
        seed=config.seed,
        method=config.method,
        rounds=mined.rounds,
    )
    return Evidence.from_findings(header, corpus, mined.findings)


class _Crew:
    """The miners of a run and how they are trained: one for all examples, or one per fold."""

    def __init__(self, context: RunContext, epochs: int) -> None:
        self._context = context
        self._epochs = epochs
        n = len(context.train_data)
        self._folded = context.config.mining.folds > 0
        parts = (
            folds(context.prepared_data.corpus, context.config.mining.folds, context.config.seed)
            if self._folded
            else [list(range(n))]
        )
        self._judged = [torch.tensor(part) for part in parts]

    def gather(self, initial: nn.Module | None) -> list[Miner]:
        """Miners ready for the first round."""
        if not self._folded:
            assert initial is not None
            return [Miner(initial, self._judged[0])]
        context = self._context
        return [
            Miner(
                context.train(
                    f"initial-fold-{number}",
                    context.new_model(),
                    self._epochs,
                    data=self._taught(number, context.train_data),
                ),
                rows,
            )
            for number, rows in enumerate(self._judged, start=1)
        ]

    def train(self, iteration: int, number: int, model: nn.Module, data: IndexedCorpus) -> nn.Module:
        """Train a miner between two rounds."""
        mining = self._context.config.mining
        stage = f"round-{iteration}" + (f"-fold-{number}" if self._folded else "")
        restart = mining.start == "restart"
        start = self._context.new_model() if restart else model
        epochs = self._epochs if restart else mining.round_epochs
        return self._context.train(stage, start, epochs, data=self._taught(number, data))

    def _taught(self, number: int, data: IndexedCorpus) -> IndexedCorpus:
        """What a miner may learn from: everything, or everything but what it judges."""
        if not self._folded:
            return data
        taught = torch.ones(len(data), dtype=torch.bool)
        taught[self._judged[number - 1]] = False
        return data.select(taught.nonzero().squeeze(1))
