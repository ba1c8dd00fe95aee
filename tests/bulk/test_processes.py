"""Jobs in several processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread

import pytest
from tests.bulk.made_rows import sentences, write_rows

from pssa.bulk import Job, LocalEngine, Progress, Scoring, predict
from pssa.bulk.processes import ProcessEngine
from pssa.bulk.scorer import Sizes
from pssa.errors import InputError, RunError

CHILDREN = Path(f"/proc/self/task/{os.getpid()}/children")


@pytest.fixture
def job(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    monkeypatch.setattr("pssa.bulk.run_job.sizes", lambda model, device: Sizes(16, 4))
    source = write_rows(tmp_path / "in.jsonl", sentences(400))
    return Job(run, (str(source),), str(tmp_path / "out.jsonl"), scoring=Scoring(device="cpu"))


def workers_of(process: int) -> list[int]:
    """The children that were spawned to work, without the one that keeps track of resources."""
    children = map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split())
    return [child for child in children if b"spawn_main" in command_of(child)]


def command_of(process: int) -> bytes:
    """Nothing of a process that has ended."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def wait_until(happened: Callable[[], bool]) -> None:
    """As long as a machine that is slow and busy may need."""
    ends = time.monotonic() + 300
    while not happened():
        assert time.monotonic() < ends
        time.sleep(0.02)


@pytest.mark.slow
def test_processes_write_the_bytes_of_threads(job: Job, tmp_path: Path) -> None:
    summary = predict(job, LocalEngine())
    far = replace(job, output=str(tmp_path / "far.jsonl"))
    assert predict(far, ProcessEngine(2)) == summary
    assert Path(far.output).read_bytes() == Path(job.output).read_bytes()


@pytest.mark.slow
@pytest.mark.skipif(not CHILDREN.exists(), reason="only Linux tells who the children of a process are")
def test_a_worker_that_is_killed_ends_the_job_which_can_be_resumed(job: Job, tmp_path: Path) -> None:
    killed: list[int] = []

    def kill_a_worker(progress: Progress) -> None:
        """Once: windows that were done before are told of afterwards, when there is no worker any more."""
        if progress.rows and not killed:
            killed.append(workers_of(os.getpid())[0])
            os.kill(killed[0], signal.SIGKILL)
            wait_until(lambda: not workers_of(os.getpid()))  # who notices a death ends the others

    with pytest.raises(RunError, match="a worker was ended from outside"):
        predict(job, ProcessEngine(2), kill_a_worker)
    assert killed
    assert predict(replace(job, begin="resume"), LocalEngine()).rows == 400


@pytest.mark.slow
@pytest.mark.skipif(not CHILDREN.exists(), reason="only Linux tells who the children of a process are")
def test_workers_end_with_the_process_that_was_killed(job: Job, run: Path, tmp_path: Path) -> None:
    rows, pipe, enough = write_rows(tmp_path / "rows", sentences(10_000)).read_bytes(), tmp_path / "pipe", Event()
    os.mkfifo(pipe)

    def feed() -> None:
        """More rows than the workers hold; the pipe stays open, so that there might be others."""
        with suppress(BrokenPipeError), pipe.open("wb") as file:
            file.write(rows)
            file.flush()
            enough.wait()

    Thread(target=feed, daemon=True).start()
    words = ("predict", run, "--input", pipe, "--output", job.output, "--workers", "2")
    command = subprocess.Popen([sys.executable, "-m", "pssa", *map(str, words)], stderr=subprocess.DEVNULL)
    wait_until(lambda: command.poll() is not None or Path(f"{job.output}.part/journal.json").exists())
    assert command.poll() is None
    workers = workers_of(command.pid)
    assert len(workers) == 2
    command.kill()
    command.wait()
    enough.set()
    wait_until(lambda: not any(is_running(worker) for worker in workers))


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_there_is_at_least_one_worker() -> None:
    with pytest.raises(InputError, match="workers is 0; it must be at least 1"):
        ProcessEngine(0)


def test_what_is_wrong_with_the_run_is_told_before_workers_are_started(job: Job) -> None:
    with pytest.raises(InputError, match="saliency 'magic' cannot explain"):
        predict(replace(job, scoring=Scoring(saliency="magic", device="cpu")), ProcessEngine(2))
