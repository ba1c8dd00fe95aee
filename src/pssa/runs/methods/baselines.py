"""The methods that do not mine.

- `base`: find the number of epochs on held-out data, then train on all of train. With evidence at hand, attention is supervised
  by it in that last training.
- `kt`: the paper's control for mere training time, K trainings' worth of epochs on the unchanged data. Each continues from the
  parameters of the one before with a fresh optimiser, as the rounds of mining do.
- `boosting`: five models from different initial parameters; the majority decides, mean probability breaks a tie.
- `adaboost`: SAMME (Hastie et al. 2009), five rounds; each member learns more from what the one before got wrong in eval mode.
"""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor, nn

from pssa.evaluation import predict_classes
from pssa.runs.methods import Method, Trained, train_final
from pssa.runs.run_context import BEGIN_EARLY, RunContext

_TRAININGS = 5  # of kt
_MEMBERS = 5  # of an ensemble
# An error of 0 or 1 would give an infinite weight; this clamps it as if one instance in a hundred thousand were otherwise.
_LEAST_ERROR = 1e-5


def _train_base(context: RunContext) -> Trained:
    if (evidence := context.prepared_data.evidence) is not None:
        return train_final(context, context.find_epochs(), evidence)
    return Trained((_train_initial(context, context.find_epochs([_train_initial])),))


def _train_initial(context: RunContext, epochs: int) -> nn.Module:
    return context.train("initial", context.new_model(), epochs)


def _train_longer(context: RunContext) -> Trained:
    epochs = context.find_epochs([_train_initial])
    model = _train_initial(context, epochs)
    for number in range(2, _TRAININGS + 1):
        context.train(f"kt-{number}", model, epochs)
    return Trained((model,))


def _train_boosting(context: RunContext) -> Trained:
    trainings = [partial(_train_member, number=number) for number in range(_MEMBERS)]
    epochs = context.find_epochs(trainings[:BEGIN_EARLY])
    members = context.run_all([partial(train, epochs=epochs) for train in trainings])
    return Trained(tuple(members), (1.0,) * _MEMBERS)


def _train_member(context: RunContext, epochs: int, number: int) -> nn.Module:
    return context.train(f"member-{number + 1}", context.new_model(context.member_seed(number)), epochs)


def _train_adaboost(context: RunContext) -> Trained:
    epochs = context.find_epochs()
    data = context.train_data
    weights = torch.ones(len(data)) if context.class_weights is None else context.class_weights
    members, vote_weights = [], []
    for number in range(1, _MEMBERS + 1):
        model = context.train(f"member-{number}", context.new_model(), epochs, weights=weights)
        predicted = context.team.share(predict_classes(model, data))
        vote_weight, weights = samme_round(weights, predicted != data.labels, len(context.config.data.labels))
        members.append(model)
        vote_weights.append(vote_weight)
    # Where no member beats chance, the first answers alone.
    return Trained(tuple(members), tuple(vote_weights) if any(vote_weights) else (1.0,) + (0.0,) * (_MEMBERS - 1))


def samme_round(weights: Tensor, wrong: Tensor, n_classes: int) -> tuple[float, Tensor]:
    """Return the weight of a member's vote, and the weights (n,) of the instances for the next member; their mean is one.

    The vote follows from the member's weighted error on the training set. A member no better than chance gets no vote, and the
    weights start afresh.

    :param weights: (n,) of the instances in this round.
    :param wrong: (n,) bool, the member's mistakes in eval mode.
    """
    error = float((weights * wrong).sum() / weights.sum())
    clamped = min(max(error, _LEAST_ERROR), 1 - _LEAST_ERROR)
    vote_weight = math.log((1 - clamped) / clamped) + math.log(n_classes - 1)
    if vote_weight <= 0:
        return 0.0, torch.ones_like(weights)
    raised = weights * torch.exp(vote_weight * wrong.to(weights.dtype))
    return vote_weight, raised * len(raised) / raised.sum()


METHODS = {
    "base": Method("base", _train_base),
    "kt": Method("kt", _train_longer, resembles_search=False),
    "boosting": Method("boosting", _train_boosting, resembles_search=False),
    "adaboost": Method("adaboost", _train_adaboost, resembles_search=False),
}
