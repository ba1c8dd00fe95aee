"""A model that says what it is told to, for sentences of a corpus, and keeps what it was shown."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from pssa.data.example import DEFAULT_LABELS, Example
from pssa.data.vocabulary import Vocabulary
from pssa.models import Batch, Encoding, IndexedCorpus, Prediction, index_words

POSITIVE, NEGATIVE, NEUTRAL = range(3)


class Scripted(nn.Module):
    """Attention and probabilities by the example's place in its corpus, whatever its words are."""

    def __init__(self, attention: Tensor, probabilities: Tensor) -> None:
        super().__init__()
        self.device = nn.Parameter(torch.zeros(1))
        self.attention = attention  # (n, N), on any scale and also where nothing may be mined
        self.probabilities = probabilities  # (n, C)
        self.shown: list[Batch] = []
        self.modes: list[bool] = []  # whether it was in training, at each call

    def encode(self, batch: Batch) -> Encoding:
        self.shown.append(batch)
        self.modes.append(self.training)
        return Encoding(torch.zeros(*batch.positions.shape, 1), torch.zeros(len(batch.labels), 1))

    def classify(self, encoding: Encoding, batch: Batch) -> Prediction:
        attention = self.attention[batch.index, : batch.positions.shape[1]]
        return Prediction(self.probabilities[batch.index].log(), attention)


def scripted(attention: Sequence[Sequence[float]], classes: Sequence[int]) -> Scripted:
    """A model that is sure of its classes, nine to one."""
    probabilities = torch.full((len(classes), 3), 0.05)
    probabilities[torch.arange(len(classes)), torch.tensor(classes)] = 0.9
    return Scripted(torch.tensor(attention), probabilities)


def index(*sentences: str, labels: Sequence[int] | None = None) -> IndexedCorpus:
    """Sentences as tensors, every aspect being the word `screen`; all are positive unless said otherwise."""
    classes = [POSITIVE] * len(sentences) if labels is None else labels
    examples = [
        Example.from_text(text, (text.index("screen"), text.index("screen") + 6), label=DEFAULT_LABELS[label])
        for text, label in zip(sentences, classes, strict=True)
    ]
    vocabulary = Vocabulary.build([word for example in examples for word in example.words])
    return index_words(examples, vocabulary, DEFAULT_LABELS)
