"""`kt`: the paper's control for mere training time, K trainings' worth of epochs on the unchanged data.

Each continues from the parameters of the one before with a fresh optimiser, as the rounds of mining do.
"""

from __future__ import annotations

from pssa.runs.methods import Trained
from pssa.runs.workshop import Workshop

__all__ = ["run"]

_TRAININGS = 5


def run(workshop: Workshop) -> Trained:
    """Train, and go on training."""
    epochs = workshop.find_epochs()
    model = workshop.train("initial", workshop.new_model(), epochs)
    for number in range(2, _TRAININGS + 1):
        workshop.train(f"kt-{number}", model, epochs)
    return Trained((model,))
