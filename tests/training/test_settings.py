"""Settings refuse what no training could use."""

from __future__ import annotations

from typing import Any

import pytest

from pssa.errors import InputError
from pssa.training import Settings


def test_the_optimiser_is_the_papers() -> None:
    assert Settings().learning_rate == 0.001


@pytest.mark.parametrize("name", ["learning_rate", "batch_size", "clip_norm", "max_epochs", "patience"])
@pytest.mark.parametrize("value", [0, -1, float("nan")])
def test_numbers_must_be_greater_than_zero(name: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"{name} is {value}; it must be greater than 0"):
        Settings(**{name: value})


def test_class_weights_are_none_or_balanced() -> None:
    assert Settings(class_weights="balanced").class_weights == "balanced"
    with pytest.raises(InputError, match="class_weights is 'equal'; it can be none or balanced"):
        Settings(class_weights="equal")
