"""Integrated gradients (Sundararajan et al. 2017) of the predicted class's logit, from h(x) = 0 to h(x).

The attribution of position i is the sum over cells of h_i times the mean gradient along the straight path from zero.
Only h(x) moves: v(t) and, in a memory network, m stay as they are. Attributions sum to logit(h) - logit(0)
(completeness).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor

from pssa.errors import InputError
from pssa.models import AspectModel, Batch, Encoding
from pssa.saliency._noise import logit_gradient, predicted_classes, stack
from pssa.saliency._scores import to_words

__all__ = ["IntegratedGradients"]

_MOST_POSITIONS = 1 << 16  # that go through the head at once, padding included, however many steps there are


@dataclass(frozen=True)
class IntegratedGradients:
    """Absolute attributions, summed over a word's positions; as many steps as memory allows go through the head together."""

    needs: ClassVar[str] = "states"

    steps: int = 20  # points of the path, each in the middle of its piece

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise InputError(f"steps is {self.steps}; expected 1 or more")

    @torch.no_grad()
    def __call__(self, model: AspectModel, batch: Batch) -> Tensor:
        """(B, N) absolute attributions."""
        encoding = model.encode(batch)
        classes = predicted_classes(model, encoding, batch)
        return to_words(self.attributions(model, encoding, batch, classes).abs(), batch)

    def attributions(self, model: AspectModel, encoding: Encoding, batch: Batch, classes: Tensor) -> Tensor:
        """Return the (B, P) signed attributions."""
        words = encoding.words
        places = (torch.arange(self.steps, device=words.device, dtype=words.dtype) + 0.5) / self.steps
        total = torch.zeros_like(words)
        for part in torch.split(places, max(1, _MOST_POSITIONS // words.shape[:2].numel())):
            path = replace(stack(encoding, len(part)), words=(part[:, None, None, None] * words).flatten(0, 1))
            gradient = logit_gradient(model, path, batch.repeat(len(part)), classes.repeat(len(part)))
            total += gradient.view(len(part), *words.shape).sum(dim=0)
        return torch.einsum("bpd,bpd->bp", total / self.steps, words)
