"""A folder of modules is a registry."""

from __future__ import annotations

from pathlib import Path

import pytest

from pssa import models
from pssa.errors import InputError
from pssa.registry import Registry


def test_names_are_the_public_modules_of_the_package() -> None:
    names = Registry("pssa.saliency", "saliency").names()
    assert "leave_one_out" in names
    assert not any(name.startswith("_") for name in names)


def test_names_may_be_written_with_dashes() -> None:
    registry = Registry("pssa.saliency", "saliency", separator="-")
    assert registry.module("leave-one-out").__name__ == "pssa.saliency.leave_one_out"


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"saliency 'grad'.*gradient"):
        Registry("pssa.saliency", "saliency").find("grad")


def test_the_first_public_name_of_a_module_is_what_it_is_there_for() -> None:
    assert Registry("pssa.models", "model").find("memnet").__name__ == "MemoryNetwork"


def test_a_file_that_provides_nothing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty_model.py").touch()
    monkeypatch.setattr(models, "__path__", [*models.__path__, str(tmp_path)])
    with pytest.raises(TypeError, match=r"empty_model\.py does not say what it"):
        Registry("pssa.models", "model").find("empty_model")
