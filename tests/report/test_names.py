"""Short names of runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from pssa.report.names import name_run, name_runs


def test_a_run_is_called_as_its_folder_and_a_stage_after_its_run() -> None:
    assert name_run(Path("/somewhere/runs/mine")) == "mine"
    assert name_run(Path("/somewhere/runs/mine/stages/initial")) == "mine, initial model"


def test_the_folder_here_has_a_name_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert name_run(Path()) == tmp_path.name


def test_two_runs_of_one_name_get_their_folders() -> None:
    assert name_runs(Path("/a/run"), Path("/b/other")) == ("run", "other")
    assert name_runs(Path("/a/run"), Path("/b/run")) == ("a/run", "b/run")
    assert name_runs(Path("/x/a/run"), Path("/y/a/run")) == ("a/run", "a/run (versus)")
