"""`Smooth`: any saliency, averaged over noise on the word vectors (SmoothGrad, Smilkov et al. 2017)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from pssa.data.batch import Batch
from pssa.models import AspectClassifier, Encoding, Prediction
from pssa.saliency._noise import Noise
from pssa.saliency._protocol import Saliency
from pssa.saliency._scores import score_words

__all__ = ["Smooth"]


@dataclass(frozen=True)
class Smooth:
    """The mean share of each word when `inner` looks at a classifier whose `encode` adds noise.

    `inner` takes the noised vectors for h(x) throughout: `Smooth(Gradient(samples=0))` multiplies the gradient by the
    noised h(x) and follows the class predicted from it, where `Gradient` keeps to the clean ones.
    """

    inner: Saliency
    samples: int = 10
    sigma: float = 0.15
    seed: int = 0

    def __post_init__(self) -> None:
        Noise(self.samples, self.sigma, self.seed)  # raises where there can be no such noise

    def __call__(self, model: AspectClassifier, batch: Batch) -> Tensor:
        """(B, N) the mean of the normalised scores."""
        with torch.no_grad():
            clean = model.encode(batch)
        seeds = torch.randint(2**62, (self.samples,), generator=torch.Generator().manual_seed(self.seed))
        noisy = (_NoisyClassifier(model, Noise(1, self.sigma, seed), batch, clean) for seed in seeds.tolist())
        return torch.stack([score_words(self.inner, classifier, batch) for classifier in noisy]).mean(dim=0)


@dataclass(frozen=True)
class _NoisyClassifier:
    model: AspectClassifier
    noise: Noise
    batch: Batch  # the one whose clean encoding is at hand, so that the encoder need not read it again
    clean: Encoding

    def encode(self, batch: Batch) -> Encoding:
        encoding = self.clean if batch is self.batch else self.model.encode(batch)
        return self.noise.add(encoding, batch.real)

    def classify(self, encoding: Encoding, batch: Batch) -> Prediction:
        return self.model.classify(encoding, batch)

    def __getattr__(self, name: str) -> object:
        # What a model says of itself besides the protocol, such as the id of its mask token.
        return getattr(self.model, name)
