"""Cells that are carried out in no time."""

from __future__ import annotations

import pytest
from tests.paper.experiments.rooms import StandIn

from paper.experiments import schedule


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """What carries cells out in place of training and mining."""
    found = StandIn()
    monkeypatch.setattr(schedule, "execute_cell", found)
    return found
