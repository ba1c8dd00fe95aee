"""`boosting`: five models from different initial parameters; the majority decides, mean probability breaks a tie."""

from __future__ import annotations

from pssa.runs.methods import Trained
from pssa.runs.workshop import Workshop

__all__ = ["run"]

_MEMBERS = 5


def run(workshop: Workshop) -> Trained:
    """Train every member on all of train for the same number of epochs."""
    epochs = workshop.find_epochs()
    members = []
    for number in range(1, _MEMBERS + 1):
        model = workshop.new_model(workshop.member_seed(number - 1))
        members.append(workshop.train(f"member-{number}", model, epochs))
    return Trained(tuple(members), (1.0,) * _MEMBERS)
