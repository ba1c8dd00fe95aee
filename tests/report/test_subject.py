"""A run as it lies on disk, whatever is missing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pssa.errors import InputError
from pssa.report.subject import Subject
from pssa.runs.directory import FileStore
from pssa.training import EpochRecord
from pssa.training.checkpoint import Checkpoint


def test_a_finished_run_has_everything(run: Path) -> None:
    subject = Subject.open(run)
    assert (subject.name, subject.finished) == ("mined", True)
    assert subject.classifier is not None
    assert subject.config is not None
    assert subject.metrics is not None
    assert subject.evidence is not None
    assert {record.stage for record in subject.history} == {"initial", "round-2", "final"}
    assert subject.card.startswith("---")
    assert subject.initial == run / "stages" / "initial"


def test_a_run_that_did_not_mine_has_no_evidence_and_no_initial_model(base: Path) -> None:
    subject = Subject.open(base)
    assert (subject.evidence, subject.initial) == (None, None)


def test_an_unfinished_run_has_the_epochs_of_its_checkpoints(run: Path, tmp_path: Path) -> None:
    for name in ("config.toml", "model.json", "vocabulary.json"):
        shutil.copy(run / name, tmp_path)
    assert Subject.open(tmp_path).classifier is None
    assert Subject.open(tmp_path).history == ()
    record = EpochRecord("initial", 1, 1.0, 0.0, 0.5)
    (tmp_path / "stages" / "initial").mkdir(parents=True)
    FileStore(tmp_path / "stages" / "initial" / "checkpoint.safetensors").save(Checkpoint({}, (record,)))
    shutil.copy(run / "model.safetensors", tmp_path)
    subject = Subject.open(tmp_path)
    assert (subject.finished, subject.metrics, subject.history) == (False, None, (record,))
    assert subject.classifier is not None


def test_what_is_no_run_or_is_damaged_is_refused(run: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a run"):
        Subject.open(tmp_path)
    shutil.copytree(run, tmp_path / "run")
    (tmp_path / "run" / "history.jsonl").write_text("{}\n")
    with pytest.raises(InputError, match=r"history\.jsonl is damaged"):
        Subject.open(tmp_path / "run")
