"""What a saliency is, the shares of words that follow from its raw scores, and `observe`, which runs it over a corpus.

The score of a word is the sum over its positions. Where a definition takes absolute values, they are taken per
position, before the sum: two pieces of one word that pull in opposite directions both count.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from pssa.data.vocabulary import Vocabulary
from pssa.errors import InputError
from pssa.models import AspectModel, Batch, Encoding, IndexedCorpus, pool_words


class Saliency(Protocol):
    """A definition of how much each word of a sentence counts for the model's prediction about an aspect.

    The caller puts the model in eval mode and on the device of the batch. A saliency changes neither the model, its
    parameters' `.grad` nor the global random state, and an example's scores do not depend on the rest of the batch.
    """

    def __call__(self, model: AspectModel, batch: Batch) -> Tensor:
        """Return (B, N) raw word scores, on any scale; a larger score is a more important word."""


@torch.no_grad()
def score_words(saliency: Saliency, model: AspectModel, batch: Batch) -> Tensor:
    """Return each candidate word's share of the saliency, (B, N); a row sums to one, or is zero where no word counts.

    :raises InputError: if the saliency does not apply to the model, or returns another shape.
    """
    raw = saliency(model, batch)
    if raw.shape != batch.candidates.shape:
        expected = tuple(batch.candidates.shape)
        raise InputError(f"{saliency} returned scores of shape {tuple(raw.shape)}; expected {expected}, one per word")
    return normalise(raw, batch.candidates)


def normalise(scores: Tensor, candidates: Tensor) -> Tensor:
    """Return the share of each word: (..., B, N) scores masked to `candidates` (B, N) and divided by their sum.

    A negative score counts against the word and gets no share. A row without a positive score is all zero.
    """
    scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
    positive = scores.clamp(min=0).masked_fill(~candidates, 0)
    total = positive.sum(dim=-1, keepdim=True)
    return positive / total.masked_fill(total == 0, 1)


def entropy_bits(scores: Tensor) -> Tensor:
    """Equation (2) in bits: E = -sum of a log2(a) over the last dimension of normalised `scores`, with 0 log 0 = 0.

    Words that are no candidates have share zero and add nothing. A row of zeros has entropy 0 without meaning it, so a
    caller that looks for low entropy leaves it out.
    """
    entropy: Tensor = torch.special.entr(scores).sum(dim=-1) / math.log(2)
    return entropy


def to_words(values: Tensor, batch: Batch) -> Tensor:
    """Sum `values` (B, P) over the positions of each word: (B, N)."""
    return pool_words(values, batch.word_of, batch.candidates.shape[1])


def hide(model: AspectModel, batch: Batch, words: Tensor) -> Batch:
    """Return the batch with `words` (B, N) hidden, as in mining: the mask token to the encoder, no candidates to attention."""
    return batch.hide(words, getattr(model, "mask_id", Vocabulary.mask_id))


_BATCH = 64


@dataclass(frozen=True)
class Observation:
    """Predictions and word scores of n examples, by one model, or each by the model that judges it."""

    probabilities: Tensor  # (n, C)
    scores: Tensor  # (n, N) share of each candidate word

    @property
    def predicted(self) -> Tensor:
        """(n,) classes."""
        return self.probabilities.argmax(dim=1)

    def fill(self, rows: Tensor, part: Observation) -> None:
        """Copy the observation of some examples to their places."""
        self.probabilities[rows] = part.probabilities
        self.scores[rows, : part.scores.shape[1]] = part.scores

    def without(self, words: Tensor) -> Observation:
        """Return the same without shares of `words` (n, N), which go to the others in proportion."""
        had = (self.scores * words).sum(dim=1, keepdim=True) > 0
        # Rows that lose nothing stay as they are, to the last bit.
        return Observation(self.probabilities, torch.where(had, normalise(self.scores, ~words), self.scores))

    @classmethod
    def blank(cls, n: int, n_words: int, n_classes: int) -> Observation:
        """Return an observation of zeros, to be filled."""
        return cls(torch.zeros(n, n_classes), torch.zeros(n, n_words))


def observe(model: nn.Module, corpus: IndexedCorpus, saliency: Saliency, batch_size: int = _BATCH) -> Observation:
    """Predict and score every example in eval mode, in the order of the corpus, on the CPU."""
    model.eval()
    device = next(model.parameters()).device
    observed: Observation | None = None
    for rows in torch.split(corpus.length_order(), batch_size):
        batch = corpus.batch(rows).to(device)
        with torch.no_grad():
            encoding = model.encode(batch)  # type: ignore[operator]
            logits = model.classify(encoding, batch).logits  # type: ignore[operator]
        scores = score_words(saliency, EncodedModel(model, batch, encoding), batch)
        part = Observation(logits.float().softmax(dim=1).cpu(), scores.float().cpu())
        if observed is None:
            n_words = corpus.table.candidates.shape[1]
            observed = Observation.blank(len(corpus), n_words, logits.shape[1])
        observed.fill(rows, part)
    assert observed is not None, "an indexed corpus is never empty"
    return observed


@dataclass(frozen=True)
class EncodedModel:
    """A model that has encoded one batch already, so that a saliency does not run the encoder again."""

    model: Any
    batch: Batch
    encoding: Encoding

    def encode(self, batch: Batch) -> Encoding:
        """Return the encoding at hand, or encode another batch."""
        encoding: Encoding = self.encoding if batch is self.batch else self.model.encode(batch)
        return encoding

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)
