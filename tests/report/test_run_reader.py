"""A run as read from disk, whatever is missing, and the names of runs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from pssa.errors import InputError
from pssa.report.run_reader import ReportedRun, name_runs
from pssa.runs.directory import FileStore
from pssa.runs.run_names import name_run
from pssa.training import EpochRecord
from pssa.training.checkpoint import Checkpoint


def test_a_finished_run_has_everything_but_evidence_where_it_did_not_mine(run: Path, base: Path) -> None:
    subject = ReportedRun.open(run)
    assert (subject.name, subject.is_finished) == ("mined", True)
    assert subject.classifier is not None
    assert subject.config is not None
    assert subject.metrics is not None
    assert subject.evidence is not None
    assert {record.stage for record in subject.history} == {"initial", "round-2", "final"}
    assert subject.card.startswith("---")
    assert subject.initial == run / "stages" / "initial"
    subject = ReportedRun.open(base)
    assert (subject.evidence, subject.initial) == (None, None)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("metrics.json", []),
        ("metrics.json", {}),
        ("metrics.json", {"dev": {"accuracy": float("nan")}}),
        ("metrics.json", {"labels": ["positive"]}),
        ("metrics.json", {"labels": {"positive": "<script>"}}),
        ("metrics.json", {"parameters": 10**400}),
        ("metrics.json", {"calibration": {"source": "x", "error_before": "x", "temperature": []}}),
        ("metrics.json", {"labels": {}}),
        ("metrics.json", {"held_out": {"labels": ["a"], "confusion": [[-1]], "source": ""}}),
        ("metrics.json", {"held_out": {"labels": ["a", "b"], "confusion": [[1], [1, 2]], "source": ""}}),
        ("history.jsonl", {"stage": "final", "epoch": 1, "loss": "x", "penalty": 0.0, "accuracy": 0.5}),
        ("history.jsonl", {"stage": ["final"], "epoch": 1, "loss": 1.0, "penalty": 0.0, "accuracy": 0.5}),
        ("history.jsonl", {"stage": "final", "epoch": 10**400, "loss": 1.0, "penalty": 0.0, "accuracy": 0.5}),
    ],
)
def test_numbers_of_a_stranger_that_are_none_are_refused(base: Path, tmp_path: Path, name: str, content: Any) -> None:
    run = shutil.copytree(base, tmp_path / "run")
    if name == "metrics.json" and content:
        content = json.loads((run / name).read_text("utf-8")) | content
    (run / name).write_text(json.dumps(content), "utf-8")
    with pytest.raises(InputError, match=rf"{name} is damaged: .*copy or train the"):
        ReportedRun.open(run)


def test_an_unfinished_run_has_the_epochs_of_its_checkpoints(run: Path, tmp_path: Path) -> None:
    for name in ("config.toml", "model.json", "vocabulary.json"):
        shutil.copy(run / name, tmp_path)
    assert ReportedRun.open(tmp_path).classifier is None
    assert ReportedRun.open(tmp_path).history == ()
    record = EpochRecord("initial", 1, 1.0, 0.0, 0.5)
    (tmp_path / "stages" / "initial").mkdir(parents=True)
    FileStore(tmp_path / "stages" / "initial" / "checkpoint.safetensors").save(Checkpoint({}, (record,)))
    shutil.copy(run / "model.safetensors", tmp_path)
    subject = ReportedRun.open(tmp_path)
    assert (subject.is_finished, subject.metrics, subject.history) == (False, None, (record,))
    assert subject.classifier is not None


def test_what_is_no_run_or_is_damaged_is_refused(run: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a run"):
        ReportedRun.open(tmp_path)
    shutil.copytree(run, tmp_path / "run")
    (tmp_path / "run" / "history.jsonl").write_text("{}\n")
    with pytest.raises(InputError, match=r"history\.jsonl is damaged.*; copy or"):
        ReportedRun.open(tmp_path / "run")


def test_a_run_is_called_as_its_folder_and_a_stage_after_its_run() -> None:
    assert name_run(Path("/somewhere/runs/mine")) == "mine"
    assert name_run(Path("/somewhere/runs/mine/stages/initial")) == "mine, initial model"


def test_two_runs_of_one_name_get_their_folders() -> None:
    assert name_runs(Path("/a/run"), Path("/b/other")) == ("run", "other")
    assert name_runs(Path("/a/run"), Path("/b/run")) == ("a/run", "b/run")
    assert name_runs(Path("/x/a/run"), Path("/y/a/run")) == ("a/run", "a/run (versus)")
