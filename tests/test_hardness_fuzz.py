"""A slice of `scripts/fuzz.py`, which tries a hundred thousand cases."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "fuzz.py"


def fuzz(kept: Path, *options: str) -> dict[str, Any]:
    # Many seconds, for a machine that is slow and busy: what takes far too long takes longer still.
    command = [sys.executable, str(SCRIPT), "--kept", str(kept), "--seconds", "60", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3000)
    assert done.stdout, done.stderr[-3000:]
    return dict(json.loads(done.stdout))


@pytest.mark.slow
def test_many_hundred_cases_are_accepted_or_refused_and_nothing_else(tmp_path: Path) -> None:
    found = fuzz(tmp_path / "kept", "--cases", "1500", "--seed", "3")
    assert found["failures"] == []
    assert found["accepted"] + found["refused"] == found["cases"] > 1450
    assert found["accepted"] > 100
    assert found["targets"]["hostile"]["refused"] > 60
    assert not (tmp_path / "kept").exists()


@pytest.mark.slow
def test_the_same_seed_gives_the_same_cases(tmp_path: Path) -> None:
    first, second = (fuzz(tmp_path, "--cases", "400", "--seed", "5", "--target", "evidence") for _ in range(2))
    assert first["targets"] == second["targets"]
    assert set(first["engines"]) == {"mutated", "grown", "guided"}
