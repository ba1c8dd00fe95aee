"""One look of a trained model at a corpus: what it predicts, and how much each word counted."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from pssa.data.batch import IndexedCorpus
from pssa.saliency import Saliency, score_words

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

    @classmethod
    def blank(cls, n: int, n_words: int, n_classes: int) -> Observation:
        """Nothing seen yet."""
        return cls(torch.zeros(n, n_classes), torch.zeros(n, n_words))


def observe(model: nn.Module, corpus: IndexedCorpus, saliency: Saliency) -> Observation:
    """Predict and score every example in eval mode, in the order of the corpus, on the CPU."""
    model.eval()
    device = next(model.parameters()).device
    seen: Observation | None = None
    for rows in torch.split(corpus.length_order(), _BATCH):
        batch = corpus.batch(rows).to(device)
        with torch.no_grad():
            logits = model.classify(model.encode(batch), batch).logits  # type: ignore[operator]
        scores = score_words(saliency, model, batch)  # type: ignore[arg-type]
        part = Observation(logits.float().softmax(dim=1).cpu(), scores.float().cpu())
        if seen is None:
            n_words = corpus.table.candidates.shape[1]
            seen = Observation.blank(len(corpus), n_words, logits.shape[1])
        seen.fill(rows, part)
    assert seen is not None, "an indexed corpus is never empty"
    return seen
