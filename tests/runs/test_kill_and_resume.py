"""A short version of `scripts/kill_and_resume.py`, which does the same fifty times."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "kill_and_resume.py"


@pytest.mark.slow
def test_a_killed_run_resumes_to_the_weights_of_an_undisturbed_one() -> None:
    command = [sys.executable, str(SCRIPT), "--kills", "2", "--instances", "40", "--seed", "1"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=3000)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "2 kills, " in result.stdout
    assert "0 different" in result.stdout
