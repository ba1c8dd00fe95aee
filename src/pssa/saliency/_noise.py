"""Gradients at h(x) by the head alone, and noise on h(x).

Noise is drawn so that an example gets the same in any batch: every row of a batch shares the draws, and positions are drawn in
blocks of fixed size, so that neither the other rows nor padding changes what a position gets. Draws differ between a CPU and a
GPU.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from pssa.errors import InputError
from pssa.models import AspectModel, Batch, Encoding


def logit_gradient(model: AspectModel, encoding: Encoding, batch: Batch, classes: Tensor) -> Tensor:
    """Return the (B, P, D) gradient of the logit of each row's class, `classes` (B,), with respect to h(x).

    It works inside `torch.no_grad` and leaves nothing in the `.grad` of any tensor.
    """
    with torch.enable_grad():
        words = encoding.words.detach().requires_grad_()
        logits = logits_of(model, encoding.with_words(words, encoding.memory), batch, classes)
        (gradient,) = torch.autograd.grad(logits.sum(), words)
    return gradient


def logits_of(model: AspectModel, encoding: Encoding, batch: Batch, classes: Tensor) -> Tensor:
    """Return the (B,) logit of each row's class."""
    return model.classify(encoding, batch).logits.gather(1, classes[:, None]).squeeze(1)


@torch.no_grad()
def predicted_classes(model: AspectModel, encoding: Encoding, batch: Batch) -> Tensor:
    """Return the (B,) class with the highest score."""
    return model.classify(encoding, batch).logits.argmax(dim=1)


def stack(encoding: Encoding, times: int) -> Encoding:
    """Stack the encoding as `Batch.repeat` stacks its batch; `top` serves any number of stacked rows as it is."""
    return replace(
        encoding,
        words=_repeat(encoding.words, times),
        aspect=_repeat(encoding.aspect, times),
        memory=None if encoding.memory is None else _repeat(encoding.memory, times),
    )


def _repeat(values: Tensor, times: int) -> Tensor:
    return values.repeat(times, *([1] * (values.dim() - 1)))


# Positions per draw: a generator's values depend on how many are drawn at once.
_BLOCK = 32


@dataclass(frozen=True)
class Noise:
    """Independent samples of N(0, sigma^2), all determined by the seed."""

    samples: int
    sigma: float
    seed: int

    def __post_init__(self) -> None:
        if self.samples < 1 or not 0 <= self.sigma < float("inf"):
            raise InputError(f"{self.samples} samples of noise {self.sigma}; expected 1 or more, a finite sigma >= 0")

    @classmethod
    def of(cls, samples: int, sigma: float, seed: int) -> Noise:
        """Return the noise of a saliency whose option `samples` may be 0: one pass without noise."""
        if samples < 0:
            raise InputError(f"samples is {samples}; expected 0 (no noise) or more")
        return cls(samples, sigma, seed) if samples else cls(1, 0.0, seed)

    def add(self, encoding: Encoding, real: Tensor) -> Encoding:
        """Stack the encoding once per sample, with noise on h(x) and, where it exists, m, at the `real` (B, P) words.

        MN is linear in h(x) for fixed attention: only noise on m, which its attention reads, changes its gradient.
        """
        stacked = stack(encoding, self.samples)
        if self.sigma == 0:
            return stacked
        width = encoding.words.shape[2]
        noise = self.draw(encoding.words, width if encoding.memory is None else 2 * width)
        where = real.unsqueeze(-1).to(noise.dtype)  # (B, P, 1)
        memory = None if encoding.memory is None else _jitter(encoding.memory, noise[..., width:], where)
        return stacked.with_words(_jitter(encoding.words, noise[..., :width], where), memory)

    def draw(self, words: Tensor, width: int) -> Tensor:
        """Return noise (S, P, width) for the positions of `words` (B, P, D), on its device."""
        generator = torch.Generator(words.device).manual_seed(self.seed)
        n_positions = words.shape[1]
        blocks = [
            torch.randn(_BLOCK, self.samples, width, generator=generator, device=words.device, dtype=words.dtype)
            for _ in range(0, n_positions, _BLOCK)
        ]
        return torch.cat(blocks)[:n_positions].transpose(0, 1) * self.sigma


def _jitter(values: Tensor, noise: Tensor, where: Tensor) -> Tensor:
    """`values` (B, P, D) plus each sample of `noise` (S, P, D), where `where` (B, P, 1) is one: (S * B, P, D)."""
    return torch.addcmul(values, noise.unsqueeze(1), where).flatten(0, 1)
