"""What a saliency is to everybody else: one call."""

from __future__ import annotations

from typing import Protocol

from torch import Tensor

from pssa.data.batch import Batch
from pssa.models import AspectClassifier

__all__ = ["Saliency"]


class Saliency(Protocol):
    """A definition of how much each word of a sentence counts for what the model says of an aspect.

    The caller puts the model in eval mode and on the device of the batch. A saliency changes neither the model, its
    parameters' `.grad` nor the global random state, and what it says of an example does not depend on the rest of the
    batch.
    """

    def __call__(self, model: AspectClassifier, batch: Batch) -> Tensor:
        """(B, N) raw word scores, on any scale; a larger score is a more important word."""
        ...
