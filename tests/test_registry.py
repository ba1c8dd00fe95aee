"""A folder of modules is a registry."""

from __future__ import annotations

from pathlib import Path

import pytest

from pssa import models
from pssa.errors import InputError
from pssa.registry import Registry


def test_names_are_those_of_public_modules_and_stand_for_what_they_provide() -> None:
    names = Registry("pssa.saliency", "saliency").names()
    assert "leave_one_out" in names
    assert not any(name.startswith("_") for name in names)
    registry = Registry("pssa.saliency", "saliency", separator="-")
    assert registry.module("leave-one-out").__name__ == "pssa.saliency.leave_one_out"
    with pytest.raises(InputError, match=r"saliency 'grad'.*gradient"):
        Registry("pssa.saliency", "saliency").find("grad")
    assert Registry("pssa.models", "model").find("memnet").__name__ == "MemoryNetwork"


def test_a_file_that_provides_nothing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty_model.py").touch()
    monkeypatch.setattr(models, "__path__", [*models.__path__, str(tmp_path)])
    with pytest.raises(TypeError, match=r"empty_model\.py does not say what it"):
        Registry("pssa.models", "model").find("empty_model")
