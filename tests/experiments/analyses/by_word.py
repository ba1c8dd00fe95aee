"""A model that gives every word its weight and always the same answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from tests.experiments.analyses.subjects import classifier, subject
from torch import nn

from pssa.data.batch import Batch
from pssa.data.example import Corpus
from pssa.experiments.analyses import Subject
from pssa.models import Encoding, Prediction


class ByWord(nn.Module):
    def __init__(self, words: Sequence[str], weights: Mapping[str, float]) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.tensor([weights.get(word, 0.0) for word in words]))

    def encode(self, batch: Batch) -> Encoding:
        states = self.weights[batch.positions].unsqueeze(-1)
        return Encoding(states, states.new_zeros(len(states), 1))

    def classify(self, encoding: Encoding, batch: Batch) -> Prediction:
        return Prediction(torch.tensor([[2.0, 1.0, 0.0]]).repeat(len(batch.labels), 1), encoding.words.squeeze(-1))


def weighing(test: Corpus, weights: Mapping[str, float]) -> Subject:
    """Such a model, to be looked at on `test`."""
    model = classifier([[0.0]], (0,), test)
    words = model.featurizer.vocabulary.words  # type: ignore[union-attr]
    return subject(test, test, replace(model, members=(ByWord(words, weights),)))
