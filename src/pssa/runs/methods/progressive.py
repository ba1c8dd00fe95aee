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
from pssa.runs.workshop import Workshop

__all__ = ["mine_evidence", "run"]


def run(workshop: Workshop) -> Trained:
    """All stages."""
    epochs = workshop.find_epochs()
    initial = workshop.train("initial", workshop.new_model(), epochs)
    workshop.keep("initial", initial)
    evidence = mine_evidence(workshop, initial, epochs)
    final = workshop.train("final", workshop.new_model(), epochs, supervision=workshop.supervise(evidence))
    return Trained((final,), evidence=evidence)


def mine_evidence(workshop: Workshop, initial: nn.Module | None, epochs: int) -> Evidence:
    """Mine with the trained `initial` model, which the rounds change; cross-fitting trains its own and needs none."""
    config = workshop.config
    rule = choose_rule(config)
    procedure = Procedure(
        build_saliency(config),
        rule,
        config.mining.iterations,
        lagged=config.mining.start == "continue",
        share=workshop.share,
    )
    crew = _Crew(workshop, epochs)
    mined = mine(
        workshop.train_data, crew.gather(initial), crew.train, procedure, config.data.labels, workshop.observer.on_round
    )
    corpus = workshop.materials.corpus
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

    def __init__(self, workshop: Workshop, epochs: int) -> None:
        self._workshop = workshop
        self._epochs = epochs
        n = len(workshop.train_data)
        self._folded = workshop.config.mining.folds > 0
        parts = (
            folds(workshop.materials.corpus, workshop.config.mining.folds, workshop.config.seed)
            if self._folded
            else [list(range(n))]
        )
        self._judged = [torch.tensor(part) for part in parts]

    def gather(self, initial: nn.Module | None) -> list[Miner]:
        """Miners ready for the first round."""
        if not self._folded:
            assert initial is not None
            return [Miner(initial, self._judged[0])]
        workshop = self._workshop
        return [
            Miner(
                workshop.train(
                    f"initial-fold-{number}",
                    workshop.new_model(),
                    self._epochs,
                    data=self._taught(number, workshop.train_data),
                ),
                rows,
            )
            for number, rows in enumerate(self._judged, start=1)
        ]

    def train(self, iteration: int, number: int, model: nn.Module, data: IndexedCorpus) -> nn.Module:
        """Train a miner between two rounds."""
        mining = self._workshop.config.mining
        stage = f"round-{iteration}" + (f"-fold-{number}" if self._folded else "")
        restart = mining.start == "restart"
        start = self._workshop.new_model() if restart else model
        epochs = self._epochs if restart else mining.round_epochs
        return self._workshop.train(stage, start, epochs, data=self._taught(number, data))

    def _taught(self, number: int, data: IndexedCorpus) -> IndexedCorpus:
        """What a miner may learn from: everything, or everything but what it judges."""
        if not self._folded:
            return data
        taught = torch.ones(len(data), dtype=torch.bool)
        taught[self._judged[number - 1]] = False
        return data.select(taught.nonzero().squeeze(1))
