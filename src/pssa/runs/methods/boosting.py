"""`boosting`: five models from different initial parameters; the majority decides, mean probability breaks a tie."""

from __future__ import annotations

from pssa.runs.methods import Trained
from pssa.runs.run_context import RunContext

__all__ = ["run"]

_MEMBERS = 5


def run(context: RunContext) -> Trained:
    """Train every member on all of train for the same number of epochs."""
    epochs = context.find_epochs()
    members = []
    for number in range(1, _MEMBERS + 1):
        model = context.new_model(context.member_seed(number - 1))
        members.append(context.train(f"member-{number}", model, epochs))
    return Trained(tuple(members), (1.0,) * _MEMBERS)
