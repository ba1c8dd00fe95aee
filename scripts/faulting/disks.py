"""Disks that are full, read-only or gone."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable, Mapping

from faulting.kills import Service, serving
from faulting.lab import Check, Lab, digest, mounted, remount

__all__ = ["DISKS"]

_SIZES = ("16k", "96k", "256k", "448k", "640k", "800k", "1m", "1200k")
_LARGE = "64m"


def full_while_training(lab: Lab, check: Check) -> None:
    """A training that has no room ends with one line; with room it goes on to the files of an undisturbed run."""
    reference = lab.folder / "reference-pg-as"
    if not reference.exists():
        lab.run(*lab.training(reference, "pg-as"))
    for size in _SIZES:
        with mounted(lab.folder / f"full-{size}", f"size={size}") as disk:
            run = disk / "run"
            ended = lab.run(*lab.training(run, "pg-as"))
            check.times += 1
            if ended.code == 0:
                continue
            check.said.append(f"{size}: {ended.err.strip()}")
            check.expect(ended.code in (1, 2) and ended.one_line, f"{size}: exit code {ended.code}, said {ended.err}")
            check.expect("No space left" in ended.err, f"{size}: does not say that there is no room: {ended.err}")
            check.expect(run.exists() or not list(disk.iterdir()), f"{size}: leaves {list(disk.iterdir())}")
            remount(disk, f"size={_LARGE}")
            again = lab.run(*lab.go_on(run, "pg-as"))
            check.expect(again.code == 0, f"{size}: does not go on with room: {again.err}")
            check.expect(again.code or digest(run) == digest(reference), f"{size}: other files than without the fault")


def full_while_mining(lab: Lab, check: Check) -> None:
    """Evidence for which there is no room is not there at all."""
    with mounted(lab.folder / "full-mining", "size=16k") as disk:
        ended = lab.run(*lab.mining(disk / "evidence.jsonl"))
        check.times += 1
        check.said.append(ended.err.strip())
        check.expect(ended.code == 1 and ended.one_line, f"exit code {ended.code}, said {ended.err}")
        check.expect(not list(disk.iterdir()), f"leaves {list(disk.iterdir())}")


def full_while_reviewing(lab: Lab, check: Check) -> None:
    """A change for which there is no room is answered 503 and does not count; with room the review goes on."""
    with mounted(lab.folder / "full-review", "size=256k") as disk:
        evidence = lab.evidence_file(disk)
        service = Service(lab, serving(lab), evidence)
        check.expect(service.change(0), "the first change is not kept")
        free = shutil.disk_usage(disk).free
        (disk / "filler").write_bytes(bytes(free))
        log = disk / "evidence.jsonl.review.jsonl"
        done = 1
        while service.change(done) and done < 100:  # what is left of the log's last block
            done += 1
        check.times += 1
        check.expect(done < 100, "changes are answered as kept on a full disk")
        check.expect(log.read_bytes().count(b"\n") == 1 + done and log.read_bytes().endswith(b"\n"), "the log is torn")
        (disk / "filler").unlink()
        check.expect(service.change(done), "no change is kept although there is room again")
        check.expect(service.end()[0] == 0, "the service does not end with 0")


def full_while_predicting(lab: Lab, check: Check) -> None:
    """Rows that there was room for are kept, which is said; with room the job goes on to the bytes of an undisturbed one."""
    run, rows, reference = (lab.folder / name for name in ("predicting", "predicted.jsonl", "predicted-whole.jsonl"))
    lab.run(*lab.training(run))
    rows.write_bytes(lab.train_file.read_bytes() * 100)
    words = ("predict", run, "--input", rows, "--device", "cpu", "--output")
    undisturbed = lab.run(*words, reference)
    check.expect(undisturbed.code == 0, f"cannot predict at all: {undisturbed.err}")
    for size in ("16k", "2m", "4m"):
        with mounted(lab.folder / f"full-predicting-{size}", f"size={size}") as disk:
            ended = lab.run(*words, disk / "out.jsonl")
            check.times += 1
            check.said.append(f"{size}: {ended.err.strip()}")
            check.expect(ended.code in (1, 2) and ended.one_line, f"{size}: exit code {ended.code}, said {ended.err}")
            check.expect("No space left" in ended.err, f"{size}: does not say that there is no room: {ended.err}")
            kept = bool(list(disk.iterdir()))
            check.expect(kept == ("--resume" in ended.err), f"{size}: leaves a part and says {ended.err}")
            check.expect(kept or size == "16k", f"{size}: nothing is kept")
            remount(disk, f"size={_LARGE}")
            again = lab.run(*words, disk / "out.jsonl", "--resume")
            check.expect(again.code == 0, f"{size}: does not go on with room: {again.err}")
            same = again.code or (disk / "out.jsonl").read_bytes() == reference.read_bytes()
            check.expect(same, f"{size}: other rows than without the fault")


def read_only(lab: Lab, check: Check) -> None:
    """Nothing can be written there, and that is said; a run can still be loaded and asked."""
    with mounted(lab.folder / "read-only", f"size={_LARGE}") as disk:
        run, unfinished = disk / "run", disk / "unfinished"
        lab.run(*lab.training(run))
        lab.run(*lab.training(unfinished))
        (unfinished / "metrics.json").unlink()
        evidence = lab.evidence_file(disk / "review")
        remount(disk, "ro")
        for name, words in {
            "train": lab.training(disk / "new"),
            "resume": ("train", "--resume", str(unfinished)),
            "mine": lab.mining(disk / "mined.jsonl"),
            "predict": ("predict", str(run), "--input", str(lab.train_file), "--output", str(disk / "out.jsonl")),
            "review": ("serve", str(run), "--evidence", str(evidence), "--corpus", str(lab.train_file), "--port", "0"),
        }.items():
            ended = lab.run(*words)
            check.times += 1
            check.said.append(f"{name}: {ended.err.strip()}")
            check.expect(ended.code in (1, 2) and ended.one_line, f"{name}: exit code {ended.code}, said {ended.err}")
            check.expect("ead-only" in ended.err, f"{name}: does not say that the disk is read-only: {ended.err}")
        answered = lab.run("evaluate", run, "--data", lab.train_file)
        check.expect(answered.code == 0, f"a run on a read-only disk cannot be asked: {answered.err}")
        remount(disk, "rw")


def vanished(lab: Lab, check: Check) -> None:
    """A run whose folder goes away under it ends with one line and is not made again in part."""
    for moment in (0.0, 0.3, 0.8):
        run = lab.folder / "vanishing"
        shutil.rmtree(run, ignore_errors=True)
        process = lab.start(*lab.training(run, "pg-as"))
        while process.poll() is None and not (run / "model.json").exists():
            time.sleep(0.005)
        time.sleep(moment)
        with contextlib.suppress(FileNotFoundError):
            run.rename(lab.folder / f"taken-{moment}")  # at once, and not file by file as somebody writes
        ended = lab.end(process)
        check.times += 1
        if ended.code == 0 and not run.exists():
            continue  # it was done already
        check.said.append(ended.err.strip())
        check.expect(ended.code in (1, 2) and ended.one_line, f"exit code {ended.code}, said {ended.err}")
        check.expect(not run.exists(), f"leaves {[str(path) for path in run.rglob('*')][:5]}")


def vanished_review(lab: Lab, check: Check) -> None:
    """A log that was removed or replaced under a review takes no more changes, rather than losing them."""
    evidence = lab.evidence_file(lab.folder / "vanished-review")
    log = evidence.with_name("evidence.jsonl.review.jsonl")
    ways: tuple[Callable[[], object], ...] = (log.unlink, lambda: log.rename(log.with_suffix(".old")))
    for number, take_away in enumerate(ways):
        service = Service(lab, serving(lab), evidence)
        check.expect(service.change(number), "the first change is not kept")
        take_away()
        check.times += 1
        check.expect(not service.change(number + 1), "a change is answered as kept in a log that is gone")
        code, said = service.end()
        check.expect(code == 0 and "Traceback" not in said, f"exit code {code}, said {said}")
        log.unlink(missing_ok=True)


DISKS: Mapping[str, Callable[[Lab, Check], None]] = {
    "disk full while training": full_while_training,
    "disk full while mining": full_while_mining,
    "disk full while reviewing": full_while_reviewing,
    "disk full while predicting": full_while_predicting,
    "read-only disk": read_only,
    "folder vanished": vanished,
    "review's log vanished": vanished_review,
}
