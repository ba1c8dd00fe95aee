"""PG for refined self-attention: the saliency of a word is how much of the logit depends on the top layer's attention on it.

The paper describes the effect of a word on the representation of the aspect, or of [CLS], by head. All heads share the gradient
at the words' states, so the head's own attention A_h is taken instead: |sum over the rows that count of A_h * d logit / d A_h|,
normalised over the candidate words, then mixed by the heads that are refined. The logit is the predicted class's. As in
`gradient`, this is the mean of n samples with noise, here on the top layer's input, and the samples go through the layer as one
batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from pssa.errors import InputError
from pssa.models import AspectModel, Batch, Encoding, Heads, pool_words
from pssa.saliency._noise import Noise
from pssa.saliency._scores import normalise

__all__ = ["SelfAttention"]


@dataclass(frozen=True)
class SelfAttention:
    """Attention times gradient of the refined heads; which heads those are is decided without noise."""

    needs: ClassVar[str] = "refined"

    samples: int = 10  # 0: one pass without noise
    sigma: float = 0.15
    seed: int = 0

    def __post_init__(self) -> None:
        Noise.of(self.samples, self.sigma, self.seed)  # raises if they are out of range

    @torch.no_grad()
    def __call__(self, model: AspectModel, batch: Batch) -> Tensor:
        """(B, N) mean shares of the words."""
        encoding = model.encode(batch)
        clean = model.classify(encoding, batch)
        if clean.heads is None:
            raise InputError(
                "the model's self-attention is not refined; set its option refine (of bertabsa or bertabsa_cls), "
                "or use another saliency, such as gradient"
            )
        noise = Noise.of(self.samples, self.sigma, self.seed)
        classes = clean.logits.argmax(dim=1).repeat(noise.samples)
        effects = _effects(model, noise.add(encoding, batch.real), batch.repeat(noise.samples), classes)
        by_sample = effects.view(noise.samples, len(batch.positions), *effects.shape[1:])  # (S, B, H, P)
        shares = normalise(_to_words(by_sample.transpose(1, 2), batch), batch.candidates)  # (S, H, B, N)
        return torch.einsum("shbn,bh->bn", shares, clean.heads.share.to(shares.dtype)) / noise.samples


def _effects(model: AspectModel, encoding: Encoding, batch: Batch, classes: Tensor) -> Tensor:
    """(B, H, P) how much of the logit of each row's class goes through the attention on each position."""
    with torch.enable_grad():
        # A leaf, so that there is a graph even if no parameter is trained.
        words = encoding.words.detach().requires_grad_()
        prediction = model.classify(encoding.with_words(words, encoding.memory), batch)
        heads = prediction.heads
        assert isinstance(heads, Heads)
        logits = prediction.logits.gather(1, classes[:, None])
        (gradient,) = torch.autograd.grad(logits.sum(), heads.weights)
    effect = heads.weights.detach() * gradient.to(logits.dtype)  # an encoder may have computed both in half precision
    return torch.einsum("bhqp,bq->bhp", effect, heads.rows.to(effect.dtype)).abs()


def _to_words(values: Tensor, batch: Batch) -> Tensor:
    """Sum `values` (S, H, B, P) over the positions of each word: (S, H, B, N)."""
    word_of = batch.word_of.expand(values.shape).flatten(0, 2)
    pooled = pool_words(values.flatten(0, 2), word_of, batch.candidates.shape[1])
    return pooled.view(*values.shape[:3], -1)
