"""Cycles are looked for rarely while rows are scored, and as before afterwards."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from pssa.bulk.collecting import collecting_rarely


@pytest.fixture(autouse=True)
def thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_it_is_rare_within_and_as_before_afterwards() -> None:
    gc.set_threshold(700, 7, 5)
    with collecting_rarely():
        assert gc.get_threshold() == (50_000, 7, 5)
    assert gc.get_threshold() == (700, 7, 5)


def test_an_error_leaves_it_as_before() -> None:
    gc.set_threshold(700, 10, 10)
    with pytest.raises(ValueError, match="broken"), collecting_rarely():
        raise ValueError("broken")
    assert gc.get_threshold() == (700, 10, 10)


def test_the_last_to_end_leaves_it_as_before() -> None:
    gc.set_threshold(700, 10, 10)
    first, second = collecting_rarely(), collecting_rarely()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert gc.get_threshold()[0] == 50_000
    second.__exit__(None, None, None)
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize("new", [0, 90_000])
def test_who_collects_never_or_more_rarely_is_left_alone(new: int) -> None:
    gc.set_threshold(new, 10, 10)
    with collecting_rarely():
        assert gc.get_threshold() == (new, 10, 10)
