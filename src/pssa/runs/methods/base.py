"""`base`: find the number of epochs on held-out data, then train on all of train with it."""

from __future__ import annotations

from pssa.runs.methods import Outcome
from pssa.runs.workshop import Workshop

__all__ = ["run"]


def run(workshop: Workshop) -> Outcome:
    """One plain training."""
    return Outcome((workshop.train("initial", workshop.new_model(), workshop.find_epochs()),))
