"""Two processes on one thing, and a clock that goes backwards."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from faulting.kills import Service, serving
from faulting.lab import Check, Lab, digest, kill

__all__ = ["SHARED"]

_ATTEMPTS = 5

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
    """One of two that make the same run wins, and its files are those of a run alone."""
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
    first = _stopped(
        lambda: lab.start(*lab.training(run, "pg-as")),
        lambda: (run / "model.json").exists() and not (run / "metrics.json").exists(),
        lambda: shutil.rmtree(run, ignore_errors=True),
    )
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


def two_predictions(lab: Lab, check: Check) -> None:
    """Whoever comes second to an output is told that it is being written, and changes nothing."""
    source, out = _many_rows(lab, 100), lab.folder / "contested.jsonl"
    words = ("predict", serving(lab), "--input", source, "--device", "cpu", "--output")
    check.expect(lab.run(*words, lab.folder / "alone.jsonl").code == 0, "cannot predict at all")
    first = _predicting(lab, (*words, out), out)
    for how in ("--resume", "--force"):
        second = lab.run(*words, out, how)
        check.times += 1
        check.said.append(second.err.strip())
        check.expect(second.code == 1 and second.one_line, f"{how}: exit code {second.code}, said {second.err}")
    first.send_signal(signal.SIGCONT)
    ended = lab.end(first)
    check.expect(ended.code == 0, f"the first failed: {ended.err}")
    check.expect(out.read_bytes() == (lab.folder / "alone.jsonl").read_bytes(), "other rows than of a job alone")


def two_predictions_at_once(lab: Lab, check: Check) -> None:
    """One of two that begin together makes the output."""
    source, out = _many_rows(lab, 20), lab.folder / "at-once.jsonl"
    words = ("predict", serving(lab), "--input", source, "--device", "cpu", "--output")
    check.expect(lab.run(*words, lab.folder / "by-itself.jsonl").code == 0, "cannot predict at all")
    for _ in range(5):
        ended = [lab.end(process) for process in [lab.start(*words, out) for _ in range(2)]]
        check.times += 1
        codes = [end.code for end in ended]
        check.expect(0 in codes and set(codes) - {0} in ({1}, {2}), f"exit codes {codes}, not 0 and 1 or 2")
        check.expect(all(end.code == 0 or end.one_line for end in ended), f"said {[end.err for end in ended]}")
        check.expect(
            out.read_bytes() == (lab.folder / "by-itself.jsonl").read_bytes(), "other rows than of a job alone"
        )
        check.expect(not Path(f"{out}.part").exists(), "a part is left")
        out.unlink()


def one_file_of_rejected_rows(lab: Lab, check: Check) -> None:
    """The last of two jobs that share one keeps its rows in its part and goes on once the file is moved away."""
    side, bad = lab.folder / "shared-bad.jsonl", b'{"text": "a keyboard", "aspect": "screen"}\n'
    jobs: list[tuple[str | Path, ...]] = []
    for number in (1, 2):
        source, out = (lab.folder / f"sharing-{number}{end}" for end in (".jsonl", "-out.jsonl"))
        source.write_bytes(lab.train_file.read_bytes() * 100 + bad * 40 * number)
        words = ("--input", source, "--errors", "skip", "--rejected", side, "--device", "cpu", "--output", out)
        jobs.append(("predict", serving(lab), *words))
    first = _predicting(lab, jobs[0], lab.folder / "sharing-1-out.jsonl", side)
    second = lab.run(*jobs[1])
    first.send_signal(signal.SIGCONT)
    ended = lab.end(first)
    check.times += 1
    check.said.append(ended.err.strip())
    check.expect(second.code == 0, f"the second failed: {second.err}")
    check.expect(ended.code == 2 and ended.one_line, f"the first: exit code {ended.code}, said {ended.err}")
    check.expect(side.read_bytes().count(b"\n") == 80, "the rejected rows of the second are lost")
    side.rename(lab.folder / "moved-bad.jsonl")
    again = lab.run(*jobs[0], "--resume")
    check.expect(again.code == 0, f"does not go on: {again.err}")
    check.expect(side.exists() and side.read_bytes().count(b"\n") == 40, "the rejected rows of the first are lost")


def _predicting(lab: Lab, words: tuple[str | Path, ...], *outputs: Path) -> subprocess.Popen[str]:
    """A prediction that stands still after its first window; the first of the outputs is that with the rows."""

    def clear() -> None:
        for path in outputs:
            path.unlink(missing_ok=True)

    return _stopped(lambda: lab.start(*words), Path(f"{outputs[0]}.part", "progress.json").exists, clear)


def _stopped(
    start: Callable[[], subprocess.Popen[str]], is_at_work: Callable[[], bool], clear: Callable[[], object]
) -> subprocess.Popen[str]:
    """A process that stands still at its work, and so is still there however slow the next one is to start.

    On a busy machine it may be done before anybody looks: then it is cleared away and begun again.
    """
    for _ in range(_ATTEMPTS):
        process = start()
        while process.poll() is None and not is_at_work():
            time.sleep(0.005)
        process.send_signal(signal.SIGSTOP)
        if process.poll() is None:
            os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            if is_at_work():
                return process
            process.send_signal(signal.SIGCONT)
        process.communicate()
        clear()
    raise RuntimeError(f"{_ATTEMPTS} times it was done before it could be stopped")


def _many_rows(lab: Lab, times: int) -> Path:
    path = lab.folder / f"many-{times}.jsonl"
    path.write_bytes(lab.train_file.read_bytes() * times)
    return path


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
    "two predictions of one output": two_predictions,
    "two predictions at once": two_predictions_at_once,
    "two predictions with one file of rejected rows": one_file_of_rejected_rows,
    "clock going backwards": clock_backwards,
}
