"""Settings refuse what no training could use."""

from __future__ import annotations

from typing import Any

import pytest

from pssa.errors import InputError
from pssa.training import Settings

POSITIVE = ("learning_rate", "batch_size", "clip_norm", "max_epochs", "patience", "accumulation", "pad_multiple")
CHOICES = {"class_weights": "none or balanced", "schedule": "constant or linear", "precision": "float32 or bfloat16"}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [(name, value, "it must be greater than 0") for name in POSITIVE for value in (0, -1, float("nan"))]
    + [("warmup", value, "it is a share of the steps") for value in (-0.1, 1.0, 10, float("nan"))]
    + [(name, "equal", f"it can be {known}") for name, known in CHOICES.items()],
)
def test_settings_out_of_range_are_refused(name: str, value: Any, message: str) -> None:
    with pytest.raises(InputError, match=f"{name} is {value!r}; {message}"):
        Settings(**{name: value})


def test_all_choices_and_a_share_of_steps_are_taken() -> None:
    for name, known in CHOICES.items():
        for value in known.split(" or "):
            chosen: dict[str, Any] = {name: value}
            assert getattr(Settings(**chosen), name) == value
    assert Settings(warmup=0.1).warmup == 0.1
