"""`adaboost`: SAMME (Hastie et al. 2009), five rounds; each member learns more from what the one before got wrong."""

from __future__ import annotations

import torch

from pssa.evaluation import predict_classes
from pssa.runs.methods import Trained
from pssa.runs.workshop import Workshop
from pssa.training.ensembles import samme_round

__all__ = ["run"]

_ROUNDS = 5


def run(workshop: Workshop) -> Trained:
    """Train the members one after the other, errors taken in eval mode on the training set."""
    epochs = workshop.find_epochs()
    data = workshop.train_data
    weights = torch.ones(len(data)) if workshop.class_weights is None else workshop.class_weights
    members, says = [], []
    for number in range(1, _ROUNDS + 1):
        model = workshop.train(f"member-{number}", workshop.new_model(), epochs, weights=weights)
        predicted = workshop.team.share(predict_classes(model, data))
        outcome = samme_round(weights, predicted != data.labels, len(workshop.config.data.labels))
        members.append(model)
        says.append(outcome.say)
        weights = outcome.weights
    # Where no member beat chance the first must answer alone, or nobody would.
    return Trained(tuple(members), tuple(says) if any(says) else (1.0,) + (0.0,) * (_ROUNDS - 1))
