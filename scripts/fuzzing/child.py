"""One engine on one target in a process of its own, watched: a crash or a hang costs that process and names its case."""

from __future__ import annotations

import json
import mmap
import os
import resource
import signal
import struct
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fuzzing.engines import ENGINES
from fuzzing.judge import Judge, limit_memory
from fuzzing.target import Target

__all__ = ["Bounds", "Job", "attack"]

_SIGHT = 1 << 20  # bytes of the present case that the parent can see
_HEAD = struct.Struct("<QQ")  # cases so far, bytes of the present one
_POLL = 0.02


@dataclass(frozen=True)
class Bounds:
    """What a case may take."""

    seconds: float = 5.0
    bytes: int = 1 << 30  # of memory, beyond what the process has at the start


@dataclass(frozen=True)
class Job:
    """So many cases of one engine on one target."""

    target: str
    engine: str
    cases: int
    seed: int
    folder: Path  # of its own
    kept: Path  # for cases that fail


def attack(job: Job, target: Target, bounds: Bounds) -> dict[str, Any]:
    """Carry it out; what came of it."""
    job.folder.mkdir(parents=True)
    sight = mmap.mmap(-1, _HEAD.size + _SIGHT)
    child = os.fork()
    if child == 0:
        _work(job, target, bounds, sight)
    status = _watch(child, sight, 4 * bounds.seconds)
    report = job.folder / "report.json"
    if status == 0 and report.is_file():
        return dict(json.loads(report.read_bytes()))
    cases, size = _HEAD.unpack(sight[: _HEAD.size])
    path = job.kept / f"{job.target.replace('/', '-')}-{job.engine}-died"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(sight[_HEAD.size : _HEAD.size + size])
    what = (job.folder / "said").read_text("utf-8", "replace")[-300:]
    failure = {"kind": f"the process ended with {status}", "what": what, "place": "", "file": path.name, "times": 1}
    return {"cases": cases, "accepted": 0, "refused": 0, "failures": [failure], "peak_mb": 0}


def _work(job: Job, target: Target, bounds: Bounds, sight: mmap.mmap) -> None:
    """In the child: never returns."""
    try:
        os.chdir(job.folder)
        said = os.open("said", os.O_WRONLY | os.O_CREAT)
        os.dup2(said, 1)
        os.dup2(said, 2)
        judge = Judge(job.target, target.prepare(job.folder), job.kept, bounds.seconds)
        limit_memory(bounds.bytes)
        ENGINES[job.engine](_Shown(judge, job.cases, sight, lambda: _report(judge)), target, job.cases, job.seed)
        _report(judge)
        os._exit(0)
    except BaseException as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        sys.stderr.flush()
        os._exit(70)


class _Shown(Judge):
    """A judge whose present case the parent can see, and who ends the process when there were enough."""

    def __init__(self, judge: Judge, cases: int, sight: mmap.mmap, report: Callable[[], None]) -> None:
        self._inner, self._cases, self._sight, self._report = judge, cases, sight, report
        self.tally = judge.tally

    def __call__(self, content: bytes) -> None:
        """Try one case."""
        shown = content[:_SIGHT]
        self._sight[: _HEAD.size + len(shown)] = _HEAD.pack(self.tally.cases, len(shown)) + shown
        self._inner(content)
        if self.tally.cases >= self._cases:
            self._report()
            os._exit(0)


def _report(judge: Judge) -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    Path("report.json").write_text(json.dumps({**judge.tally.as_dict(), "peak_mb": peak}), "utf-8")


def _watch(child: int, sight: mmap.mmap, patience: float) -> int:
    """Wait for the child; kill it where one case takes longer than the alarm in it should ever let it."""
    seen, since = -1, time.monotonic()
    while True:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return status
        cases, _ = _HEAD.unpack(sight[: _HEAD.size])
        if cases != seen:
            seen, since = cases, time.monotonic()
        elif time.monotonic() - since > patience + 30:  # preparing takes its time too
            os.kill(child, signal.SIGKILL)
        time.sleep(_POLL)
