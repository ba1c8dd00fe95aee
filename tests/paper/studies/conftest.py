"""Fewer resamples than pages have: toys are compared hundreds of times."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def few_resamples(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw 1,000 resamples, except for the committed results."""
    if request.module.__name__.rpartition(".")[2] != "test_results":
        monkeypatch.setattr("paper.experiments.comparison.RESAMPLES", 1000)
