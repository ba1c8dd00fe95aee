"""The gradient of a class's logit at h(x), by the head alone."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from pssa.data.batch import Batch
from pssa.models import AspectClassifier, Encoding

__all__ = ["logit_gradient", "logits_of", "predicted_classes", "stack"]


def logit_gradient(model: AspectClassifier, encoding: Encoding, batch: Batch, classes: Tensor) -> Tensor:
    """(B, P, D) gradient of the logit of each row's class, `classes` (B,), with respect to h(x).

    It works inside `torch.no_grad` and leaves nothing in the `.grad` of any tensor.
    """
    with torch.enable_grad():
        words = encoding.words.detach().requires_grad_()
        logits = logits_of(model, encoding.with_words(words, encoding.memory), batch, classes)
        (gradient,) = torch.autograd.grad(logits.sum(), words)
    return gradient


def logits_of(model: AspectClassifier, encoding: Encoding, batch: Batch, classes: Tensor) -> Tensor:
    """(B,) the logit of each row's class."""
    return model.classify(encoding, batch).logits.gather(1, classes[:, None]).squeeze(1)


@torch.no_grad()
def predicted_classes(model: AspectClassifier, encoding: Encoding, batch: Batch) -> Tensor:
    """(B,) the class with the highest score."""
    return model.classify(encoding, batch).logits.argmax(dim=1)


def stack(encoding: Encoding, times: int) -> Encoding:
    """The encoding stacked as `Batch.repeat` stacks its batch; `top` serves any number of stacked rows as it is."""
    return replace(
        encoding,
        words=_repeat(encoding.words, times),
        aspect=_repeat(encoding.aspect, times),
        memory=None if encoding.memory is None else _repeat(encoding.memory, times),
    )


def _repeat(values: Tensor, times: int) -> Tensor:
    return values.repeat(times, *([1] * (values.dim() - 1)))
