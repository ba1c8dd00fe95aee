"""The folder is the list of saliencies."""

from __future__ import annotations

import importlib
from dataclasses import FrozenInstanceError

import pytest

from pssa import saliency
from pssa.errors import InputError


@pytest.mark.parametrize("name", saliency.names())
def test_a_file_has_one_public_class_with_its_options_as_fields(name: str) -> None:
    assert len(importlib.import_module(f"pssa.saliency.{name}").__all__) == 1
    built = saliency.build(name, {})
    with pytest.raises(FrozenInstanceError):
        built.anything = 1  # type: ignore[attr-defined]


def test_an_unknown_saliency_is_answered_with_the_known_ones() -> None:
    with pytest.raises(InputError) as refused:
        saliency.build("grad", {})
    assert str(refused.value) == f"unknown saliency 'grad'; known: {', '.join(saliency.names())}"


def test_an_unknown_option_is_answered_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="unknown option 'step' of saliency"):
        saliency.build("integrated_gradients", {"step": 3})
    with pytest.raises(InputError, match="unknown option 'seed' of saliency"):
        saliency.build("attention", {"seed": 3})
