"""A run as a report reads it from disk, finished or not, and the short names of runs."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pssa.data.evidence import Evidence
from pssa.data.evidence_file import read_evidence
from pssa.data.files import read_bounded
from pssa.data.validation import shorten
from pssa.errors import RunError
from pssa.runs import Classifier, Config, load
from pssa.runs.directory import FileStore, RunDirectory, naming_damage
from pssa.runs.loading import is_joint
from pssa.runs.run_metrics import FILE, read_metrics
from pssa.runs.run_names import name_run
from pssa.training import EpochRecord

_MAX_BYTES = 1 << 28  # of a history or a card


@dataclass(frozen=True)
class ReportedRun:
    """A run. Parts that it lacks, because it is unfinished or of another kind, are None or empty."""

    root: Path
    name: str
    is_finished: bool
    classifier: Classifier | None
    config: Config | None
    metrics: dict[str, Any] | None
    history: tuple[EpochRecord, ...]
    evidence: Evidence | None
    card: str

    @classmethod
    def open(cls, root: Path) -> ReportedRun:
        """Read a run, or the model of a stage."""
        directory = RunDirectory.open(root)
        classifier = None
        if (root / "model.json").is_file():
            with suppress(RunError):  # before the first epoch
                classifier = load(root)
        is_classic = not is_joint(root)  # a joint model has other settings and metrics
        card, config, evidence = root / "README.md", root / "config.toml", root / "evidence.jsonl"
        return cls(
            root=root,
            name=name_run(root),
            is_finished=directory.finished,
            classifier=classifier,
            config=Config.from_toml(config) if is_classic and config.is_file() else None,
            metrics=read_metrics(root / FILE) if is_classic and directory.finished else None,
            history=tuple(_history(root)),
            evidence=read_evidence(evidence) if evidence.is_file() else None,
            card=read_bounded(card, _MAX_BYTES).decode("utf-8", "replace") if card.is_file() else "",
        )

    @property
    def initial(self) -> Path | None:
        """Folder of the model before mining, if the run has kept one."""
        folder = self.root / "stages" / "initial"
        return folder if (folder / "model.safetensors").is_file() else None


def name_runs(run: Path, versus: Path) -> tuple[str, str]:
    """Return different names for two runs, with their parent folders if the runs are called the same."""
    first, second = name_run(run), name_run(versus)
    if first == second:
        first, second = (f"{path.resolve().parent.name}/{path.resolve().name}" for path in (run, versus))
    return first, second if first != second else f"{second} (versus)"


def _history(root: Path) -> list[EpochRecord]:
    """Return the epochs of a finished run, or those in the checkpoints of an unfinished one."""
    path = root / "history.jsonl"
    if path.is_file():
        lines = read_bounded(path, _MAX_BYTES).splitlines()
        with naming_damage(path, TypeError, ValueError, RecursionError):
            records = [EpochRecord(**json.loads(line)) for line in lines]
            for each in records:  # the file may come from a stranger
                numbers = (each.epoch, each.loss, each.penalty, each.accuracy, each.dev_accuracy, each.dev_macro_f1)
                known = [one for one in numbers if one is not None]
                is_sound = all(isinstance(one, float) or (isinstance(one, int) and abs(one) < 1 << 53) for one in known)
                if not (is_sound and isinstance(each.stage, str)):
                    raise ValueError(f"an epoch is {shorten(each.as_dict())}")
            return records
    found = sorted(root.glob("stages/*/checkpoint.safetensors"), key=lambda path: path.stat().st_mtime)
    checkpoints = [FileStore(path).load() for path in found]
    return [record for checkpoint in checkpoints if checkpoint is not None for record in checkpoint.history]
