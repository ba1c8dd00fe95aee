"""Sentences of several shapes, and word vectors in which no row is zero, so that padding would be noticed."""

from __future__ import annotations

import pytest
import torch
from tests.models.variants import EXAMPLES, VOCABULARY, draw_table

from pssa.data.example import DEFAULT_LABELS
from pssa.models import Batch, IndexedCorpus, WordTable, index_words


@pytest.fixture
def corpus() -> IndexedCorpus:
    """Five examples of 9, 3, 1, 2 and 5 words; `price` is a word that only the vector file has."""
    return index_words(EXAMPLES, VOCABULARY, DEFAULT_LABELS)


@pytest.fixture
def batch(corpus: IndexedCorpus) -> Batch:
    """The five examples in one batch."""
    return corpus.batch(torch.arange(len(corpus)))


@pytest.fixture
def table() -> WordTable:
    """Six values a word."""
    return draw_table()
