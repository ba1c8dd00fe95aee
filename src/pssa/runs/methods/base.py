"""`base`: find the number of epochs on held-out data, then train on all of train with it.

With evidence at hand, attention is supervised by it in that last training.
"""

from __future__ import annotations

from pssa.runs.methods import Trained
from pssa.runs.run_context import RunContext

__all__ = ["run"]


def run(context: RunContext) -> Trained:
    """One training."""
    epochs = context.find_epochs()
    stage = "initial" if context.supervision is None else "final"
    model = context.train(stage, context.new_model(), epochs, supervision=context.supervision)
    return Trained((model,), evidence=context.prepared_data.evidence)
