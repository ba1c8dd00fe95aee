"""Sentences of several shapes, and word vectors in which no row is zero, so that padding would be noticed."""

from __future__ import annotations

import pytest
import torch

from pssa.data.batch import Batch, IndexedCorpus, index_words
from pssa.data.example import DEFAULT_LABELS, Example
from pssa.data.vocabulary import Vocabulary
from pssa.models import WordTable

_EXAMPLES = (
    Example.from_text("the screen of this laptop is really very great", (4, 10), label="positive"),
    Example.from_text("battery life poor", (0, 12), label="negative"),  # an aspect of two words
    Example.from_text("screen", (0, 6), label="neutral"),  # nothing but the aspect
    Example.from_text("great price", (6, 11), label="positive"),  # shorter than a convolution
    Example.from_text("this is not great price", (18, 23), label="negative").hide([0, 3]),
)
_VOCABULARY = Vocabulary.build(
    [word for example in _EXAMPLES for word in example.words if word != "price"], extra=["price", "unheard"]
)


@pytest.fixture
def corpus() -> IndexedCorpus:
    """Five examples of 9, 3, 1, 2 and 5 words; `price` is a word that only the vector file has."""
    return index_words(_EXAMPLES, _VOCABULARY, DEFAULT_LABELS)


@pytest.fixture
def batch(corpus: IndexedCorpus) -> Batch:
    """The five examples in one batch."""
    return corpus.batch(torch.arange(len(corpus)))


@pytest.fixture
def table() -> WordTable:
    """Six values a word."""
    matrix = torch.randn(len(_VOCABULARY), 6, generator=torch.Generator().manual_seed(7))
    return WordTable(matrix, _VOCABULARY.n_trained)
