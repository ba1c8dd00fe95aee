"""Settings resolve and methods train as they did when the golden values were made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.goldens.values import SETTINGS, WEIGHTS, machine, resolved_settings, trained_weights
from tests.models.encoders import write_encoder


def test_settings_resolve_as_before(tmp_path: Path) -> None:
    write_encoder(tmp_path, "bert")
    expected = json.loads(SETTINGS.read_text("utf-8"))
    found = resolved_settings(tmp_path)
    assert [each["given"] for each in found] == [each["given"] for each in expected]
    for one, other in zip(found, expected, strict=True):
        assert one == other


@pytest.mark.slow
def test_every_method_trains_the_same_weights_as_before(tmp_path: Path) -> None:
    expected = json.loads(WEIGHTS.read_text("utf-8"))
    if expected["machine"] != machine():
        pytest.skip(f"the weights were made with {expected['machine']}, and this is {machine()}")
    assert trained_weights(tmp_path) == expected["weights"]
