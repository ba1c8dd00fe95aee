"""Power cuts: what a command has reported as done is there after the power fails in the same moment.

A disk is an ext4 file system in a file, with `commit=30`: names that nobody synchronised stay in memory for half a minute. A cut
is a copy of that file, which then has what had reached the disk and nothing else, mounted again. Needs root.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from faulting.kills import Service, serving
from faulting.lab import Check, Lab, Skipped, digest, mounted

__all__ = ["POWER"]

_SIZE = "64M"
_TIMES = 5


@contextmanager
def _disk(lab: Lab, name: str) -> Iterator[tuple[Path, Callable[[], Path]]]:
    """A disk, and what cuts its power: it returns the image of what is left."""
    image = lab.folder / f"{name}.img"
    subprocess.run(["truncate", "-s", _SIZE, str(image)], check=True)
    if shutil.which("mkfs.ext4") is None:
        raise Skipped("mkfs.ext4 is not here")
    subprocess.run(["mkfs.ext4", "-q", "-F", str(image)], check=True)
    left = image.with_suffix(".cut")

    def cut() -> Path:
        shutil.copyfile(image, left)
        return left

    with mounted(lab.folder / f"{name}-disk", "loop,commit=30", image) as folder:
        yield folder, cut
    image.unlink()
    left.unlink(missing_ok=True)


def _restored(lab: Lab, left: Path) -> AbstractContextManager[Path]:
    """The disk after the power is back; its journal is replayed."""
    return mounted(lab.folder / "restored", "loop", left)


def after_training(lab: Lab, check: Check) -> None:
    """A run that was reported as finished is there, with every byte."""
    for method in ("base", "pg-as"):
        with _disk(lab, f"training-{method}") as (disk, cut):
            ended = lab.run(*lab.training(disk / "runs" / "run", method))
            left = cut()
            check.times += 1
            check.expect(ended.code == 0, f"training failed: {ended.err}")
            with _restored(lab, left) as folder:
                run = folder / "runs" / "run"
                check.expect(run.is_dir(), f"{method}: the run is lost")
                same = run.is_dir() and digest(run) == digest(disk / "runs" / "run")
                check.expect(same, f"{method}: files of the run are lost or different")


def after_mining(lab: Lab, check: Check) -> None:
    """Evidence that was reported as written is there."""
    for number in range(_TIMES):
        with _disk(lab, f"mining-{number}") as (disk, cut):
            ended = lab.run(*lab.mining(disk / "evidence.jsonl"))
            left = cut()
            check.times += 1
            check.expect(ended.code == 0, f"mining failed: {ended.err}")
            with _restored(lab, left) as folder:
                _expect_same(check, disk / "evidence.jsonl", folder / "evidence.jsonl")


def after_predicting(lab: Lab, check: Check) -> None:
    """An output that was reported as written is there, and its job is not."""
    run = serving(lab)
    for suffix in ("jsonl", "csv.gz", "parquet"):
        with _disk(lab, f"predicting-{suffix}") as (disk, cut):
            name = f"out.{suffix}"
            ended = lab.run("predict", run, "--input", lab.train_file, "--output", disk / name)
            left = cut()
            check.times += 1
            check.expect(ended.code == 0, f"predicting failed: {ended.err}")
            with _restored(lab, left) as folder:
                _expect_same(check, disk / name, folder / name)


def after_changes(lab: Lab, check: Check) -> None:
    """Every change of a review that was confirmed is there, and so is an export."""
    with _disk(lab, "review") as (disk, cut):
        evidence = lab.evidence_file(disk)
        subprocess.run(["sync"], check=True)  # the evidence was there before
        service = Service(lab, serving(lab), evidence)
        for number in range(1, 3 * _TIMES + 1):
            check.expect(service.change(number), f"change {number} was not confirmed")
            with _restored(lab, cut()) as folder:
                log = folder / f"{evidence.name}.review.jsonl"
                lines = log.read_text("utf-8").splitlines() if log.exists() else []
                kept = len(lines) - 1 if all(json.loads(line) for line in lines) else 0
                check.times += 1
                check.expect(kept == number, f"{number} changes were confirmed, {max(kept, 0)} are kept")
        status, found = service.ask("POST", "/v1/evidence/export", {})
        left = cut()
        check.expect(status == 200, f"the export failed: {found}")
        with _restored(lab, left) as folder:
            exported = Path(found["file"])
            _expect_same(check, exported, folder / exported.name)
        service.end()


def _expect_same(check: Check, original: Path, restored: Path) -> None:
    check.expect(restored.exists(), f"{original.name} is lost")
    same = restored.exists() and restored.read_bytes() == original.read_bytes()
    check.expect(same, f"{original.name} is different")


POWER: dict[str, Callable[[Lab, Check], None]] = {
    "power cut after training": after_training,
    "power cut after mining": after_mining,
    "power cut after predicting": after_predicting,
    "power cut after changes of a review": after_changes,
}
