"""`adaboost`: SAMME (Hastie et al. 2009), five rounds; each member learns more from what the one before got wrong."""

from __future__ import annotations

import torch

from pssa.evaluation import predict_classes
from pssa.runs.methods import Trained
from pssa.runs.run_context import RunContext
from pssa.training.ensembles import samme_round

__all__ = ["run"]

_ROUNDS = 5


def run(context: RunContext) -> Trained:
    """Train the members one after the other, errors taken in eval mode on the training set."""
    epochs = context.find_epochs()
    data = context.train_data
    weights = torch.ones(len(data)) if context.class_weights is None else context.class_weights
    members, vote_weights = [], []
    for number in range(1, _ROUNDS + 1):
        model = context.train(f"member-{number}", context.new_model(), epochs, weights=weights)
        predicted = context.team.share(predict_classes(model, data))
        outcome = samme_round(weights, predicted != data.labels, len(context.config.data.labels))
        members.append(model)
        vote_weights.append(outcome.vote_weight)
        weights = outcome.weights
    # Where no member beat chance the first must answer alone, or nobody would.
    return Trained(tuple(members), tuple(vote_weights) if any(vote_weights) else (1.0,) + (0.0,) * (_ROUNDS - 1))
