"""Two processes on one thing, and a clock that goes backwards."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from kill_and_resume import digest

from faulting.kills import Service, serving
from faulting.lab import Check, Lab, kill

__all__ = ["SHARED"]

# The clock of a process falls by an hour with every look at it; what it counts from there on must not matter.
_BACKWARDS = """
import itertools, sys, time
falling = itertools.count()
real = time.time
time.time = lambda: real() - 3600 * next(falling)
from pssa.cli import main
sys.exit(main(sys.argv[1:]))
"""


def two_trainings(lab: Lab, check: Check) -> None:
    """Of two that make the same run one wins, and its files are those of a run alone."""
    reference, run = _reference(lab), lab.folder / "contested"
    both = [lab.start(*lab.training(run, "pg-as")) for _ in range(2)]
    ended = [lab.end(process) for process in both]
    check.times += 1
    check.expect(sorted(end.code for end in ended) == [0, 2], f"exit codes {[end.code for end in ended]}, not 0 and 2")
    for end in ended:
        if end.code:
            check.said.append(end.err.strip())
            check.expect(end.one_line, f"said {end.err}")
    check.expect(digest(run) == digest(reference), "other files than of a run alone")


def two_resumings(lab: Lab, check: Check) -> None:
    """Whoever comes second is told that the run is in use, and changes nothing."""
    reference, run = _reference(lab), lab.folder / "resumed"
    first = lab.start(*lab.training(run, "pg-as"))
    while first.poll() is None and not (run / "model.json").exists():
        time.sleep(0.005)
    first.send_signal(signal.SIGSTOP)  # so that it is still there however slow the second is to start
    second = lab.run("train", "--resume", run)
    first.send_signal(signal.SIGCONT)
    check.times += 1
    ended = lab.end(first)
    check.expect(ended.code == 0, f"the first failed: {ended.err}")
    check.said.append(second.err.strip())
    check.expect(second.code == 1 and second.one_line, f"the second: exit code {second.code}, said {second.err}")
    check.expect(digest(run) == digest(reference), "other files than of a run alone")


def two_reviews(lab: Lab, check: Check) -> None:
    """A second service on the same evidence does not start."""
    evidence = lab.evidence_file(lab.folder / "two-reviews")
    service = Service(lab, serving(lab), evidence)
    second = lab.run("serve", serving(lab), "--evidence", evidence, "--corpus", lab.train_file, "--port", "0")
    check.times += 1
    check.said.append(second.err.strip())
    check.expect(second.code == 1 and second.one_line, f"exit code {second.code}, said {second.err}")
    check.expect(service.change(0), "the first service is disturbed")
    service.end()


def clock_backwards(lab: Lab, check: Check) -> None:
    """A clock that falls, and files from the future, change nothing about a run or how it goes on."""
    reference, run = _reference(lab), lab.folder / "backwards"
    backwards = ("-c", _BACKWARDS)
    moments = random.Random(0)
    for _ in range(3):
        check.kills += kill(lab.start(*lab.go_on(run, "pg-as"), python=backwards), moments.uniform(2, 6))
        for number, path in enumerate(sorted(run.rglob("*"))):
            future = time.time() + 10**6 - 1000 * number
            os.utime(path, (future, future))
    ended = lab.run(*lab.go_on(run, "pg-as"), python=backwards)
    check.times += 1
    check.expect(ended.code == 0, f"exit code {ended.code}, said {ended.err}")
    check.expect(ended.code or digest(run) == digest(reference), "other files than with a sound clock")


def _reference(lab: Lab) -> Path:
    reference = lab.folder / "reference-pg-as"
    if not reference.exists():
        lab.run(*lab.training(reference, "pg-as"))
    return reference


SHARED: Mapping[str, Callable[[Lab, Check], None]] = {
    "two trainings of one run": two_trainings,
    "two resumings of one run": two_resumings,
    "two reviews of one file": two_reviews,
    "clock going backwards": clock_backwards,
}
