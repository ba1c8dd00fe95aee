"""`base`: find the number of epochs on held-out data, then train on all of train with it.

With evidence at hand, attention is supervised by it in that last training.
"""

from __future__ import annotations

from pssa.runs.methods import Trained
from pssa.runs.workshop import Workshop

__all__ = ["run"]


def run(workshop: Workshop) -> Trained:
    """One training."""
    epochs = workshop.find_epochs()
    stage = "initial" if workshop.supervision is None else "final"
    model = workshop.train(stage, workshop.new_model(), epochs, supervision=workshop.supervision)
    return Trained((model,), evidence=workshop.materials.evidence)
