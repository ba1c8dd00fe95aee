"""Runs by name."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import pssa
from pssa.errors import InputError
from pssa.runs import run_names
from pssa.runs.run_names import resolve_run


@pytest.fixture(name="packaged")
def packaged_run(train_tiny: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small run in place of the one that comes with the package, seen from an empty folder."""
    root = tmp_path / "package" / "starter"
    shutil.copytree(train_tiny(tmp_path / "run"), root)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(run_names, "_PACKAGED", root)
    return root


def test_the_name_stands_for_the_run_in_the_package_unless_a_folder_has_it(packaged: Path) -> None:
    assert resolve_run("starter") == packaged
    assert pssa.load("starter").labels == pssa.load(packaged).labels
    Path("starter").mkdir()
    assert resolve_run("starter") == Path("starter")


def test_a_package_without_the_run_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run_names, "_PACKAGED", tmp_path / "none")
    with pytest.raises(InputError, match="without the run starter"):
        pssa.load("starter")
