"""Noise on the word vectors of an encoding, drawn so that an example gets the same noise in any batch.

Every row of a batch shares the draws, and positions are drawn in blocks of fixed size: neither the other rows nor
padding changes what a position gets. Draws differ between a CPU and a GPU.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from pssa.errors import InputError
from pssa.models import Encoding
from pssa.saliency._gradients import stack

__all__ = ["Noise"]

# Positions per draw: a generator's values depend on how many are asked for at once.
_BLOCK = 32


@dataclass(frozen=True)
class Noise:
    """Independent samples of N(0, sigma^2), all determined by the seed."""

    samples: int
    sigma: float
    seed: int

    def __post_init__(self) -> None:
        if self.samples < 1 or not 0 <= self.sigma < float("inf"):
            raise InputError(
                f"{self.samples} samples of noise {self.sigma}; expected 1 or more, and a finite sigma >= 0"
            )

    @classmethod
    def of(cls, samples: int, sigma: float, seed: int) -> Noise:
        """That of a saliency whose option `samples` may be 0: one pass without noise.

        :raises InputError: for a number of samples or a sigma that cannot be.
        """
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
        noise = self._draw(encoding.words, width if encoding.memory is None else 2 * width)
        where = real.unsqueeze(-1).to(noise.dtype)  # (B, P, 1)
        memory = None if encoding.memory is None else _jitter(encoding.memory, noise[..., width:], where)
        return stacked.with_words(_jitter(encoding.words, noise[..., :width], where), memory)

    def _draw(self, words: Tensor, width: int) -> Tensor:
        # (S, P, width)
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
