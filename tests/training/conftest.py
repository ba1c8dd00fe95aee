"""The toy corpus, and the task to learn it."""

from __future__ import annotations

import pytest
from tests.training.toys import new_corpus

from pssa.models import IndexedCorpus
from pssa.training import Task


@pytest.fixture
def corpus() -> IndexedCorpus:
    return new_corpus()


@pytest.fixture
def task(corpus: IndexedCorpus) -> Task:
    """To learn it, as the initial stage."""
    return Task(corpus, seed=5, stage="initial")
