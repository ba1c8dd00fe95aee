"""`reproduce` killed at random points: no cell is carried out twice, and the files are those of a run that was left alone."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.paper.experiments.rooms import tiny_resources
from tests.paper.studies.tiny_run import LONGER, SEEDS, SUPERVISED

from paper.experiments.resources import Scope
from paper.studies.reproduce import ExecutionOptions, reproduce

ROOT = Path(__file__).resolve().parents[3]
ONE = ExecutionOptions(workers=1)
_SHOWN_BY = re.compile(rb"(Made|Shown) by .*? seeds? at most|\b\d{4}-\d\d-\d\d\b", re.S)


def start(files: Path, out: Path, workers: int) -> subprocess.Popen[str]:
    """A process that carries out two exhibits, with all its own processes in one group."""
    command = [sys.executable, "-m", "tests.paper.studies.tiny_run", str(files), str(out), str(workers)]
    return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True)


def lines_of(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def kill_after(process: subprocess.Popen[str], ledger: Path, lines: int, moment: float) -> None:
    """Kill the process and its own some time after the ledger has so many lines."""
    while lines_of(ledger) < lines and process.poll() is None:
        time.sleep(0.01)
    time.sleep(moment)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def finish(process: subprocess.Popen[str]) -> None:
    _, said = process.communicate(timeout=3000)
    assert process.returncode == 0, said


def shown(out: Path) -> dict[str, bytes]:
    """Everything that people read, but for times, days and whether the last process had anything to carry out."""
    kinds = {".md", ".tex", ".csv", ".json", ".svg", ".png"}
    files = {path for path in out.rglob("*") if path.suffix in kinds}
    return {str(path.relative_to(out)): _SHOWN_BY.sub(b"", path.read_bytes()) for path in files}


def outcomes(out: Path) -> list[dict[str, Any]]:
    """The ledger's lines without times, in the order of their keys."""
    lines = [json.loads(line) for line in (out / "cells.jsonl").read_text("utf-8").splitlines()]
    timed = ("seconds", "stages", "testing_seconds", "finished")
    kept = [{name: value for name, value in line.items() if name not in timed} for line in lines]
    return sorted(kept, key=lambda line: str(line["key"]))


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a run that is left alone comes to."""
    folder = tmp_path_factory.mktemp("calm")
    reproduce([SUPERVISED, LONGER], Scope(tiny_resources(folder), SEEDS), folder / "out", ONE, command="tiny run")
    return folder / "out"


@pytest.mark.slow
@pytest.mark.parametrize(("workers", "kills"), [(1, (2, 5)), (2, (3,))])
def test_killed_at_random_points_it_ends_like_a_run_that_was_left_alone(
    calm: Path, tmp_path: Path, workers: int, kills: tuple[int, ...]
) -> None:
    killed = tmp_path / "killed"
    moments = random.Random(workers)
    for lines in kills:
        kill_after(start(tmp_path, killed, workers), killed / "cells.jsonl", lines, moments.uniform(0, 0.4))
    # As if the last kill had come in the middle of a line.
    with (killed / "cells.jsonl").open("a") as ledger:
        ledger.write('{"key": "half')
    kept = (killed / "cells.jsonl").read_bytes().rpartition(b"\n")[0]
    finish(start(tmp_path, killed, workers))
    assert (killed / "cells.jsonl").read_bytes().startswith(kept)
    found = outcomes(killed)
    # A cell that was carried out again would have a second line.
    assert len({line["key"] for line in found}) == len(found) == 8
    assert found == outcomes(calm)
    assert shown(killed) == shown(calm)
    assert {"supervised/curve.svg", "supervised/tables.json", "longer.md"} <= set(shown(killed))
    assert not (killed / "weights").exists()
