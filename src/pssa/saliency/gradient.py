"""PG, Definition 2 of the paper: the saliency of a word is the prediction's gradient times the word's representation.

For each of n noisy samples: the sum over cells of d logit / d h(x_i), taken at h(x_i) + N(0, sigma^2), times the clean
h(x_i); its absolute value, normalised over the candidate words. Then the mean of the samples. The logit is that of the
predicted class: a whole distribution has no single gradient, and a probability's vanishes where it saturates.
The encoder runs once, and the samples go through the head as one batch of n * B rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from pssa.errors import InputError
from pssa.models import AspectModel, Batch, Encoding
from pssa.saliency._noise import Noise, logit_gradient, predicted_classes
from pssa.saliency._scores import normalise, to_words

__all__ = ["Gradient"]

_TARGETS = ("predicted", "gold")
_AVERAGES = ("scores", "raw")
_PLACES = ("states", "input")


@dataclass(frozen=True)
class Gradient:
    """Gradient times representation; the released code is `target="gold", signed_shift=True, average="raw"`."""

    needs: ClassVar[str] = "states"

    samples: int = 10  # 0: one pass without noise
    sigma: float = 0.15
    seed: int = 0
    target: str = "predicted"  # the class whose logit is differentiated, or "gold"
    signed_shift: bool = False  # subtract a negative minimum of the candidates instead of taking absolute values
    average: str = "scores"  # of the samples' normalised scores, or "raw": before absolute values and normalising
    noise_on: str = (
        "states"  # h(x), or "input": the word vectors that h(x) is computed from, of a model with `encode_noised`
    )

    def __post_init__(self) -> None:
        if self.target not in _TARGETS:
            raise InputError(f"target is {self.target!r}; it can be {' or '.join(_TARGETS)}")
        if self.average not in _AVERAGES:
            raise InputError(f"average is {self.average!r}; it can be {' or '.join(_AVERAGES)}")
        if self.noise_on not in _PLACES:
            raise InputError(f"noise_on is {self.noise_on!r}; it can be {' or '.join(_PLACES)}")
        Noise.of(self.samples, self.sigma, self.seed)  # raises if they are out of range

    def __call__(self, model: AspectModel, batch: Batch) -> Tensor:
        """(B, N) mean shares of the words."""
        with torch.no_grad():
            encoding = model.encode(batch)
        if self.target == "gold" and bool((batch.labels < 0).any()):
            raise InputError('an example has no label; target="gold" needs labelled data, target="predicted" does not')
        classes = batch.labels if self.target == "gold" else predicted_classes(model, encoding, batch)
        signed = self._signed_scores(model, encoding, batch, classes)
        if self.average == "raw":
            signed = signed.mean(dim=0, keepdim=True)
        scores = torch.stack([self._word_scores(sample, batch) for sample in signed])
        return normalise(scores, batch.candidates).mean(dim=0)

    def _signed_scores(self, model: AspectModel, encoding: Encoding, batch: Batch, classes: Tensor) -> Tensor:
        # (S, B, P)
        noise = Noise.of(self.samples, self.sigma, self.seed)
        repeated = batch.repeat(noise.samples)
        noised = noise.add(encoding, batch.real) if self.noise_on == "states" else _on_input(model, noise, repeated)
        gradient = logit_gradient(model, noised, repeated, classes.repeat(noise.samples))
        return torch.einsum("sbpd,bpd->sbp", gradient.view(noise.samples, *encoding.words.shape), encoding.words)

    def _word_scores(self, signed: Tensor, batch: Batch) -> Tensor:
        if not self.signed_shift:
            return to_words(signed.abs(), batch)
        # Zero at the aspect, which is never a candidate: as in the released code, the minimum is zero or negative.
        scores = to_words(signed, batch).masked_fill(~batch.candidates, 0)
        return scores - scores.amin(dim=1, keepdim=True)


@torch.no_grad()
def _on_input(model: AspectModel, noise: Noise, stacked: Batch) -> Encoding:
    """Encode a batch that is stacked once per sample, with noise on the vectors of its real words."""

    def add(rows: Tensor) -> Tensor:
        drawn = noise.draw(rows, rows.shape[2]).repeat_interleave(len(rows) // noise.samples, dim=0)
        return rows + drawn * stacked.real.unsqueeze(-1)

    encoding: Encoding = model.encode_noised(stacked, add)  # type: ignore[attr-defined]
    return encoding
