"""Ensembles: majority vote (Boosting) and SAMME (AdaBoost; Hastie et al. 2009).

Members vote with their predicted class. The combined shares of the votes are returned as probabilities, with the mean
probability of the members as a small addition that breaks ties.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

# An error of 0 or 1 would give an infinite weight; this clamps it as if one instance in a hundred thousand were otherwise.
_LEAST_ERROR = 1e-5
# Weight of the mean probability beside all votes: enough to break a tie, too little to overrule a vote.
_VOICE = 1e-3


def combine(probabilities: Tensor, vote_weights: Tensor) -> Tensor:
    """Return the (n, C) answers of M members with `probabilities` (M, n, C) and `vote_weights` (M,)."""
    n_classes = probabilities.shape[2]
    votes = torch.nn.functional.one_hot(probabilities.argmax(dim=2), n_classes).to(probabilities.dtype)
    total = torch.einsum("m,mnc->nc", vote_weights, votes)
    answer = total + _VOICE * vote_weights.sum() * probabilities.mean(dim=0)
    return answer / answer.sum(dim=1, keepdim=True)


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
