"""What a report is about: a run as it lies on disk, read once, finished or not."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pssa.data.evidence import Evidence
from pssa.data.evidence_file import read_evidence
from pssa.errors import InputError, RunError
from pssa.report.markup import Markup
from pssa.report.names import name_run
from pssa.runs import Classifier, Config, load
from pssa.runs.directory import FileStore, RunDirectory, read_json
from pssa.training import EpochRecord

__all__ = ["Section", "Subject"]


@dataclass(frozen=True)
class Section:
    """A part of the page."""

    id: str  # its anchor
    title: str
    body: Markup


@dataclass(frozen=True)
class Subject:
    """A run. What it has not, because it is unfinished or of another kind, is None or empty."""

    root: Path
    name: str
    finished: bool
    classifier: Classifier | None
    config: Config | None
    metrics: dict[str, Any] | None
    history: tuple[EpochRecord, ...]
    evidence: Evidence | None
    card: str

    @classmethod
    def open(cls, path: Path) -> Subject:
        """Read a run, or the model of a stage.

        :raises InputError: if the folder is no run, or a file in it is damaged.
        """
        directory = RunDirectory.open(path)
        root, card, evidence = path, path / "README.md", path / "evidence.jsonl"
        return cls(
            root=root,
            name=name_run(root),
            finished=directory.finished,
            classifier=_load(root),
            config=Config.from_toml(root / "config.toml") if (root / "config.toml").is_file() else None,
            metrics=read_json(root / "metrics.json") if directory.finished else None,
            history=tuple(_history(root)),
            evidence=read_evidence(evidence) if evidence.is_file() else None,
            card=card.read_text("utf-8", errors="replace") if card.is_file() else "",
        )

    @property
    def initial(self) -> Path | None:
        """The model before mining, where the run has kept one."""
        folder = self.root / "stages" / "initial"
        return folder if (folder / "model.safetensors").is_file() else None


def _load(root: Path) -> Classifier | None:
    """The classifier, as far as it came; None before the first epoch."""
    try:
        return load(root) if (root / "model.json").is_file() else None
    except RunError:
        return None


def _history(root: Path) -> list[EpochRecord]:
    """The epochs of a finished run or, of an unfinished one, those of the stages that have a checkpoint."""
    path = root / "history.jsonl"
    if path.is_file():
        try:
            return [EpochRecord(**json.loads(line)) for line in path.read_text("utf-8").splitlines()]
        except (TypeError, ValueError) as error:
            raise InputError(f"{path} is damaged: {error}") from error
    found = sorted(root.glob("stages/*/checkpoint.safetensors"), key=lambda path: path.stat().st_mtime)
    checkpoints = [FileStore(path).load() for path in found]
    return [record for checkpoint in checkpoints if checkpoint is not None for record in checkpoint.history]
