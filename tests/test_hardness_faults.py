"""The quicker part of `scripts/faults.py`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "faults.py"
QUICK = ("review killed", "disk full while mining", "disk full while reviewing", "folder vanished")
SHARED = ("review's log vanished", "two resumings of one run", "two reviews of one file", "download cut")
LINKED = ("links and pipes in place of a review's log",)
PREDICTED = ("two predictions of one output", "two predictions with one file of rejected rows")


@pytest.mark.slow
@pytest.mark.parametrize("names", [QUICK, SHARED, PREDICTED, LINKED])
def test_nothing_is_lost_or_half_written(names: tuple[str, ...]) -> None:
    only = [word for name in names for word in ("--only", name)]
    command = [sys.executable, str(SCRIPT), "--kills", "2", *only]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3000)
    found = json.loads(done.stdout)
    assert set(found["checks"]) == set(names)
    assert {name: check["wrong"] for name, check in found["checks"].items()} == {name: [] for name in names}
    assert done.returncode == 0
