"""A small corpus that can be learned, a model that is quick to train, and a checkpoint store in memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from pssa import models
from pssa.data.example import DEFAULT_LABELS, Example
from pssa.data.vocabulary import Vocabulary
from pssa.models import IndexedCorpus, WordTable, index_words
from pssa.training import Checkpoint, Supervision

_OPINIONS = {"positive": "great", "negative": "poor", "neutral": "usual"}


def _sentence(number: int) -> Example:
    label = DEFAULT_LABELS[number % 3]
    filler = " and".join([" so"] * (number % 4))
    return Example.from_text(f"screen is{filler} {_OPINIONS[label]}", (0, 6), label=label)


_EXAMPLES = [_sentence(number) for number in range(18)]
_VOCABULARY = Vocabulary.build([word for example in _EXAMPLES for word in example.words], extra=["unheard"])


def new_corpus() -> IndexedCorpus:
    """18 sentences of 3 to 9 words, six of each label, told apart by their last word."""
    return index_words(_EXAMPLES, _VOCABULARY, DEFAULT_LABELS)


def new_model(seed: int = 0, **options: Any) -> nn.Module:
    """Always the same MN, of four values a word, with dropout."""
    matrix = torch.randn(len(_VOCABULARY), 4, generator=torch.Generator().manual_seed(1))
    table = WordTable(matrix, _VOCABULARY.n_trained)
    return models.build("memnet", table, 3, {"initial_bound": 0.5, **options}, seed)


def steady_model(seed: int = 0) -> nn.Module:
    """The same without dropout, for what must not depend on who draws which random number."""
    return new_model(seed, dropout=0.0, embedding_dropout=0.0)


def parameters(model: nn.Module) -> Tensor:
    """All of them in one row."""
    return nn.utils.parameters_to_vector(model.parameters()).detach()


def supervise_last(corpus: IndexedCorpus, gamma: float) -> Supervision:
    """Attention is wanted on the last word of every sentence."""
    expected = torch.zeros(corpus.table.candidates.shape)
    expected[torch.arange(len(corpus)), corpus.widths[:, 2] - 1] = 1
    return Supervision(expected, expected > 0, gamma)


class Memory:
    """A store that keeps copies of everything it was given."""

    def __init__(self) -> None:
        self.saved: list[Checkpoint] = []

    def load(self) -> Checkpoint | None:
        return self.saved[-1] if self.saved else None

    def save(self, checkpoint: Checkpoint) -> None:
        tensors = {name: tensor.clone() for name, tensor in checkpoint.tensors.items()}
        self.saved.append(replace(checkpoint, tensors=tensors))
