"""Targets of the room `predict`: inputs of a job, into each format of output, and the progress of an unfinished job."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import pyarrow
from pyarrow import parquet

from fuzzing.grammars import json_document, json_rows, table
from fuzzing.readers import CORPUS
from fuzzing.target import Attack, Target
from pssa.data import embedded
from pssa.data.formats import FORMATS
from pssa.predict import FindingOptions, Job, Scoring, predict
from pssa.predict.engines import ScoringTask
from pssa.predict.rows import OutputFields
from pssa.predict.scorer import Scorer, open_scorer
from pssa.predict.window import Window
from pssa.runs.training_run import write_run

__all__ = ["NAMED", "ON_CPU", "OneThreadEngine", "bulk_targets"]

_COLUMNS = ("text", "aspect", "from", "to", "label", "gold", "probabilities", "note")
_OUTPUTS = ("out.jsonl", "out.csv", "out.parquet")
_BEGUN = "begun"  # the part of a job as it was left
_PROGRESS = "progress.json"
ON_CPU = Scoring(device="cpu", batch_size=8)
NAMED = FindingOptions(names=("screen", "the", "battery life"), keep_empty=True)


class _Left(BaseException):
    """The end of a process in the midst of a job."""


@dataclass(frozen=True)
class OneThreadEngine:
    """Scores in this thread, by a run that is loaded once; the process ends after so many windows."""

    scorer: Scorer
    most: int | None = None

    def resolve(self, scoring: Scoring) -> Scoring:
        """Return it as it is."""
        return scoring

    def results(self, task: ScoringTask) -> Generator[Window]:
        """Yield scored windows."""
        for window in islice(task.windows(), self.most):
            fields = replace(task.fields, saliency=self.scorer.fields.saliency)
            yield replace(self.scorer, fields=fields).score(window, task.output_format)
        if self.most is not None:
            raise _Left


def bulk_targets(folder: Path) -> dict[str, Target]:
    """By name; a run is trained in `folder`, and jobs are left there."""
    run = write_run(
        embedded.load("train").select(range(24)), folder / "bulk", model="memnet", dimension=4, epochs=1, device="cpu"
    )
    sound = {name: FORMATS.module(name).encode(CORPUS) for name in ("csv", "json_lines", "parquet")}
    rows = [json.loads(line) for line in sound["json_lines"].splitlines()]
    packed = bytes(pyarrow.compress(sound["json_lines"], codec="zstd", asbytes=True))
    found = {
        "bulk/jsonl": Target(_scoring(run, "case.jsonl"), (sound["json_lines"],), grown=json_rows(rows), share=0.25),
        "bulk/csv": Target(_scoring(run, "case.csv"), (sound["csv"],), grown=table(_COLUMNS), share=0.25),
        "bulk/parquet": Target(_scoring(run, "case.parquet"), (sound["parquet"],), share=0.25),
        "bulk/zst": Target(_scoring(run, "case.jsonl.zst"), (packed,), share=0.25),
    }
    for kind, name in (("json_lines", "case.jsonl"), ("csv", "case.csv")):
        grown = json_rows(rows) if kind == "json_lines" else table(_COLUMNS)
        found[f"bulk/raw {name}"] = Target(_scoring(run, name, NAMED), (sound[kind],), grown=grown, share=0.25)
    for name in ("out.jsonl", "out.parquet"):
        left = _left(run, folder / f"left-{name}", name)
        progress = (left / f"{name}.part" / _PROGRESS).read_bytes()
        found[f"bulk/progress of {name}"] = Target(
            _resuming(run, left, name), (progress,), grown=json_document(json.loads(progress)), share=0.25
        )
    return found


def _scoring(run: Path, name: str, finding: FindingOptions | None = None) -> Callable[[Path], Attack]:
    """An attack by an input, into one form after the other."""
    found = finding or FindingOptions()

    def prepare(folder: Path) -> Attack:
        engine = OneThreadEngine(open_scorer(run, ON_CPU, OutputFields(NAMED)))

        def attack(content: bytes) -> None:
            (folder / name).write_bytes(content)
            output = folder / _OUTPUTS[len(content) % len(_OUTPUTS)]
            job = Job(
                run, (str(folder / name),), str(output), errors="skip", begin="replace", scoring=ON_CPU, finding=found
            )
            summary = predict(job, engine)
            written = _rows(output)
            rejected = len(job.rejected_path.read_bytes().splitlines()) if job.rejected_path.exists() else 0
            if (written, rejected) != (summary.rows, summary.rejected):
                raise AssertionError(f"{written} rows and {rejected} rejected are there, and {summary} was said")

        return attack

    return prepare


def _rows(output: Path) -> int:
    """How many rows an output has, by another reader than ours."""
    if output.suffix == ".parquet":
        return int(parquet.read_table(output).num_rows)
    if output.suffix == ".jsonl":
        return len([json.loads(line) for line in output.read_bytes().split(b"\n") if line])
    with output.open(newline="", encoding="utf-8") as file:
        return max(0, sum(1 for _ in csv.reader(file)) - 1)


def _left(run: Path, folder: Path, name: str) -> Path:
    """A folder with a job that was ended after a window."""
    folder.mkdir()
    for part in (1, 2):
        (folder / f"in{part}.jsonl").write_bytes(FORMATS.module("json_lines").encode(CORPUS))
    with suppress(_Left):
        predict(_job(run, folder, name, "new"), OneThreadEngine(open_scorer(run, ON_CPU, OutputFields(NAMED)), 1))
    # Those who go on with it may finish it, and others come after them.
    shutil.copytree(folder / f"{name}.part", folder / _BEGUN)
    return folder


def _resuming(run: Path, left: Path, name: str) -> Callable[[Path], Attack]:
    def prepare(_: Path) -> Attack:
        engine = OneThreadEngine(open_scorer(run, ON_CPU, OutputFields(NAMED)))

        def attack(content: bytes) -> None:
            shutil.rmtree(left / f"{name}.part", ignore_errors=True)
            for old in (left / name, left / f"{name}.rejected.jsonl"):
                old.unlink(missing_ok=True)
            shutil.copytree(left / _BEGUN, left / f"{name}.part")
            (left / f"{name}.part" / _PROGRESS).write_bytes(content)
            predict(_job(run, left, name, "resume"), engine)

        return attack

    return prepare


def _job(run: Path, folder: Path, name: str, begin: str) -> Job:
    inputs = tuple(str(folder / f"in{part}.jsonl") for part in (1, 2))
    return Job(run, inputs, str(folder / name), errors="skip", begin=begin, scoring=ON_CPU)
