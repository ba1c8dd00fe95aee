"""Settings refuse what no training could use."""

from __future__ import annotations

from typing import Any

import pytest

from pssa.errors import InputError
from pssa.training import Settings

POSITIVE = ["learning_rate", "batch_size", "clip_norm", "max_epochs", "patience", "accumulation", "pad_multiple"]


@pytest.mark.parametrize("name", POSITIVE)
@pytest.mark.parametrize("value", [0, -1, float("nan")])
def test_numbers_must_be_greater_than_zero(name: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"{name} is {value}; it must be greater"):
        Settings(**{name: value})


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("class_weights", ("none", "balanced")),
        ("schedule", ("constant", "linear")),
        ("precision", ("float32", "bfloat16")),
    ],
)
def test_choices_are_the_known_ones(name: str, known: tuple[str, str]) -> None:
    for value in known:
        chosen: dict[str, Any] = {name: value}
        assert getattr(Settings(**chosen), name) == value
    wrong: dict[str, Any] = {name: "equal"}
    with pytest.raises(InputError, match=f"{name} is 'equal'; it can be {known[0]}"):
        Settings(**wrong)


@pytest.mark.parametrize("value", [-0.1, 1.0, 10, float("nan")])
def test_the_warm_up_is_a_share(value: float) -> None:
    assert Settings(warmup=0.1).warmup == 0.1
    with pytest.raises(InputError, match=f"warmup is {value}; it is a share of the"):
        Settings(warmup=value)
