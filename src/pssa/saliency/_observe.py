"""One look of a trained model at a corpus: what it predicts, and how much each word counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from pssa.data.batch import Batch, IndexedCorpus
from pssa.data.vocabulary import Vocabulary
from pssa.models import Encoding, Prediction
from pssa.saliency._protocol import Saliency
from pssa.saliency._scores import normalise, score_words

__all__ = ["Observation", "observe"]

_BATCH = 64


@dataclass(frozen=True)
class Observation:
    """What one model, or for each example the model that may judge it, says of n examples."""

    probabilities: Tensor  # (n, C)
    scores: Tensor  # (n, N) share of each candidate word

    @property
    def predicted(self) -> Tensor:
        """(n,) classes."""
        return self.probabilities.argmax(dim=1)

    def fill(self, rows: Tensor, part: Observation) -> None:
        """Put what was seen of some examples in their places."""
        self.probabilities[rows] = part.probabilities
        self.scores[rows, : part.scores.shape[1]] = part.scores

    def without(self, words: Tensor) -> Observation:
        """The same, with no share for `words` (n, N): what they had goes to the others, in proportion."""
        had = (self.scores * words).sum(dim=1, keepdim=True) > 0
        # Rows that lose nothing stay as they are, to the last bit.
        return Observation(self.probabilities, torch.where(had, normalise(self.scores, ~words), self.scores))

    @classmethod
    def blank(cls, n: int, n_words: int, n_classes: int) -> Observation:
        """Nothing seen yet."""
        return cls(torch.zeros(n, n_classes), torch.zeros(n, n_words))


def observe(model: nn.Module, corpus: IndexedCorpus, saliency: Saliency, batch_size: int = _BATCH) -> Observation:
    """Predict and score every example in eval mode, in the order of the corpus, on the CPU."""
    model.eval()
    device = next(model.parameters()).device
    seen: Observation | None = None
    for rows in torch.split(corpus.length_order(), batch_size):
        batch = corpus.batch(rows).to(device)
        with torch.no_grad():
            encoding = model.encode(batch)  # type: ignore[operator]
            logits = model.classify(encoding, batch).logits  # type: ignore[operator]
        scores = score_words(saliency, _Encoded(model, batch, encoding), batch)
        part = Observation(logits.float().softmax(dim=1).cpu(), scores.float().cpu())
        if seen is None:
            n_words = corpus.table.candidates.shape[1]
            seen = Observation.blank(len(corpus), n_words, logits.shape[1])
        seen.fill(rows, part)
    assert seen is not None, "an indexed corpus is never empty"
    return seen


@dataclass(frozen=True)
class _Encoded:
    """A model that has encoded one batch already, so that a saliency does not run the encoder again."""

    model: Any
    batch: Batch
    encoding: Encoding

    @property
    def mask_id(self) -> int:
        return int(getattr(self.model, "mask_id", Vocabulary.mask_id))

    def encode(self, batch: Batch) -> Encoding:
        encoding: Encoding = self.encoding if batch is self.batch else self.model.encode(batch)
        return encoding

    def classify(self, encoding: Encoding, batch: Batch) -> Prediction:
        prediction: Prediction = self.model.classify(encoding, batch)
        return prediction
