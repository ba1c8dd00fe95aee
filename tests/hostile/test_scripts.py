"""Short versions of the scripts that attack the package for long: `fuzz.py`, `faults.py` and `soak.py`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow
SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
QUICK = ("train killed", "review killed", "disk full while mining", "disk full while reviewing", "folder vanished")
SHARED = ("review's log vanished", "two resumings of one run", "two reviews of one file", "download cut")
LINKED = ("links and pipes in place of a review's log",)
PREDICTED = ("two predictions of one output", "two predictions with one file of rejected rows")


def run(name: str, *words: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([sys.executable, str(SCRIPTS / name), *words], capture_output=True, text=True, timeout=3000)
    assert done.stdout, done.stderr[-3000:]
    return done


def fuzz(kept: Path, *words: str) -> Any:
    # Many seconds, for a machine that is slow and busy: what takes far too long takes longer still.
    return json.loads(run("fuzz.py", "--kept", str(kept), "--seconds", "60", *words).stdout)


def test_many_hundred_cases_are_accepted_or_refused_and_nothing_else(tmp_path: Path) -> None:
    found = fuzz(tmp_path / "kept", "--cases", "1500", "--seed", "3")
    assert found["failures"] == []
    assert found["accepted"] + found["refused"] == found["cases"] > 1400
    assert found["accepted"] > 100
    assert not (tmp_path / "kept").exists()


def test_the_same_seed_gives_the_same_cases(tmp_path: Path) -> None:
    first, second = (fuzz(tmp_path, "--cases", "400", "--seed", "5", "--target", "evidence") for _ in range(2))
    assert first["targets"] == second["targets"]
    assert set(first["engines"]) == {"mutated", "grown", "guided"}


@pytest.mark.parametrize("names", [QUICK, SHARED, PREDICTED, LINKED])
def test_nothing_is_lost_or_half_written(names: tuple[str, ...]) -> None:
    done = run("faults.py", "--kills", "2", *(word for name in names for word in ("--only", name)))
    found = json.loads(done.stdout)["checks"]
    assert {name: check["wrong"] for name, check in found.items()} == {name: [] for name in names}
    assert done.returncode == 0


def test_the_service_and_bulk_scoring_keep_their_memory() -> None:
    done = run("soak.py", "--minutes", "0.1", "--requests", "200", "--rows", "20000")
    service, bulk = (json.loads(done.stdout)[part] for part in ("service", "bulk"))
    assert (done.returncode, service["exit_code"]) == (0, 0)
    assert service["requests"] >= 200
    assert not [status for status in service["statuses"] if status.startswith("5") or status.endswith("Error")]
    assert service["mib_last"] - service["mib_middle"] < 30
    assert bulk["rows"] == [10_000, 20_000]
    assert max(bulk["peak_mib"]) - min(bulk["peak_mib"]) < 60
