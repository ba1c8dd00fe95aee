"""`consensus`: evidence that several models agree on, each judging only instances that it has not seen.

Stages: `search`, then `seed-S-fold-F` for every seed and fold, then `final`.
"""

from __future__ import annotations

import torch

from pssa.data.evidence import Evidence, Header
from pssa.data.split import folds
from pssa.mining import Mined, agree
from pssa.mining.consensus import blend
from pssa.runs.defaults import build_saliency, choose_consensus, choose_consensus_rule, choose_saliencies
from pssa.runs.methods import Trained
from pssa.runs.run_context import RunContext
from pssa.saliency import Observation, observe

__all__ = ["run"]


def run(context: RunContext) -> Trained:
    """Train the judges, let them agree, train the final model."""
    epochs = context.find_epochs()
    evidence = mine_evidence(context, epochs)
    final = context.train("final", context.new_model(), epochs, supervision=context.supervise(evidence))
    return Trained((final,), evidence=evidence)


def mine_evidence(context: RunContext, epochs: int) -> Evidence:
    """Mine by agreement."""
    config, corpus = context.config, context.prepared_data.corpus
    rule = choose_consensus_rule(config)
    looks = [_look(context, epochs, number) for number in range(config.mining.consensus_models)]
    mined: Mined = agree(looks, context.train_data.labels, config.data.labels, rule)
    header = Header(
        model=config.model,
        saliency="+".join(choose_saliencies(config)),
        epsilon=None,
        iterations=rule.rounds,
        corpus_hash=corpus.hash(),
        seed=config.seed,
        method=config.method,
        rounds=mined.rounds,
    )
    return Evidence.from_findings(header, corpus, mined.findings)


def _look(context: RunContext, epochs: int, number: int) -> Observation:
    """One judgement of every instance, by models of one seed that were trained on the other folds."""
    config, data = context.config, context.train_data
    seed = context.member_seed(number)
    epochs = choose_consensus(config, "consensus_epochs") or epochs
    saliencies = [build_saliency(config, name) for name in choose_saliencies(config)]
    whole = Observation.blank(len(data), data.table.candidates.shape[1], len(config.data.labels))
    for fold, judged in enumerate(folds(context.prepared_data.corpus, config.mining.consensus_folds, seed), start=1):
        rows = torch.tensor(judged)
        taught = torch.ones(len(data), dtype=torch.bool)
        taught[rows] = False
        stage = f"seed-{number + 1}-fold-{fold}"
        model = context.train(stage, context.new_model(seed), epochs, data=data.select(taught.nonzero().squeeze(1)))
        unseen = data.select(rows)
        whole.fill(rows, blend([observe(model, unseen, saliency) for saliency in saliencies]))
    return context.share(whole)
