"""A linear bag of words, whose answers can be worked out by hand, and sentences for it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from pssa.data.example import Example
from pssa.data.vocabulary import Vocabulary
from pssa.evaluation import predict_logits
from pssa.models import Batch, Encoding, IndexedCorpus, Prediction, index_words

# What each word adds to class 0's logit, against class 1's zero; words of no letter in it, and the mask token, add nothing.
WEIGHTS = {"great": 2.0, "good": 1.0, "fine": 0.5, "so": 0.25, "bad": -1.0, "awful": -2.0}
VOCABULARY = Vocabulary.build([*WEIGHTS, "screen", "the", "is", "and"])
LABELS = ("yes", "no")


class BagOfWords(nn.Module):
    """Two classes; class 0 is predicted where the weights of the words have a positive sum."""

    def __init__(self, mask: float = 0.0) -> None:
        super().__init__()
        rows = [mask if word == "<mask>" else WEIGHTS.get(word, 0.0) for word in VOCABULARY.words]
        self.rows = nn.Parameter(torch.tensor(rows, dtype=torch.float64))
        self.seen: list[Batch] = []

    def encode(self, batch: Batch) -> Encoding:
        self.seen.append(batch)
        words = self.rows[batch.positions].unsqueeze(-1) * batch.real.unsqueeze(-1)
        return Encoding(words, words.new_zeros(len(words), 1))

    def classify(self, encoding: Encoding, batch: Batch) -> Prediction:
        logit = encoding.words.sum(dim=(1, 2))
        return Prediction(torch.stack([logit, torch.zeros_like(logit)], dim=1), None)

    def probabilities(self, examples: Sequence[Example]) -> Tensor:
        return predict_logits(self, indexed(examples)).softmax(dim=1)


def example(text: str, aspect: str = "screen", label: str | None = None) -> Example:
    start = text.index(aspect)
    return Example.from_text(text, (start, start + len(aspect)), label=label)


def indexed(examples: Sequence[Example]) -> IndexedCorpus:
    return index_words(examples, VOCABULARY, LABELS)


def probability(logit: float) -> float:
    """The probability of class 0."""
    return 1 / (1 + math.exp(-logit))


def weight_scores(corpus: IndexedCorpus) -> Tensor:
    """(n, N) the saliency that knows the model: a word's weight, without its sign."""
    return BagOfWords().rows.detach()[corpus.table.positions].abs().float() * corpus.table.candidates
