"""Run as a script: carry out `pssa predict` with these words, killed by SIGKILL at random moments and resumed, until it is done.

    kill_predict.py SEED OUTPUTS... -- WORDS...

The command's modules are imported once; every attempt is a process of its own that begins right there. Windows are small, so
that there are many of them, and a disk takes a moment, so that many kills find a window half written. Prints for each output its
name, how many attempts were killed, and how many of these had written something.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

import pyarrow.parquet  # noqa: F401 - else every attempt would import it

from pssa.cli import main
from pssa.predict import job

KILLS = 5
WINDOW = 16  # rows
LOOK = 0.0005  # seconds between two looks at the folder, and that the disk takes


def attempt(words: list[str], folder: Path, windows: float, pause: float) -> int | None:
    """The exit code, or None where the process was killed: a pause after it had written about so many windows."""
    child = os.fork()
    if child == 0:
        os._exit(main(["predict", *words]))
    enough = windows_in(folder) + windows
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if windows_in(folder) >= enough:
            time.sleep(pause)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return None
        time.sleep(LOOK)


def windows_in(folder: Path) -> int:
    """How many windows the job has written; 0 if there is none."""
    with suppress(FileNotFoundError):
        return int(json.loads((folder / "progress.json").read_bytes())["summary"]["rows"]) // WINDOW
    return 0


def carry_through(words: list[str], output: str, moments: random.Random) -> dict[str, int]:
    """Kill and resume, and leave the job alone once it was killed often enough."""
    folder = Path(f"{output}.part")
    killed = at_work = 0
    while True:
        windows = moments.randint(0, 20) if killed < KILLS else float("inf")
        before = windows_in(folder)
        code = attempt([*words, "--output", output, "--resume"], folder, windows, moments.uniform(0, 0.02))
        if code is not None:
            return {"code": code, "killed": killed, "at_work": at_work}
        killed += 1
        at_work += windows_in(folder) > before


if __name__ == "__main__":
    seed, *rest = sys.argv[1:]
    outputs, words = rest[: rest.index("--")], rest[rest.index("--") + 1 :]
    job.default_window_rows = lambda model, device: WINDOW  # type: ignore[attr-defined]
    os.fsync = lambda fd: time.sleep(LOOK)
    moments = random.Random(int(seed))
    print(json.dumps({output: carry_through(words, output, moments) for output in outputs}))  # noqa: T201
