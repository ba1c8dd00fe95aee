"""`kt`: the paper's control for mere training time, K trainings' worth of epochs on the unchanged data.

Each continues from the parameters of the one before with a fresh optimiser, as the rounds of mining do.
"""

from __future__ import annotations

from pssa.runs.methods import Trained
from pssa.runs.run_context import RunContext

__all__ = ["run"]

_TRAININGS = 5


def run(context: RunContext) -> Trained:
    """Train, and go on training."""
    epochs = context.find_epochs()
    model = context.train("initial", context.new_model(), epochs)
    for number in range(2, _TRAININGS + 1):
        context.train(f"kt-{number}", model, epochs)
    return Trained((model,))
