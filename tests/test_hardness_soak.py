"""A short version of `scripts/soak.py`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "soak.py"


@pytest.mark.slow
def test_the_service_and_bulk_scoring_keep_their_memory() -> None:
    command = [sys.executable, str(SCRIPT), "--minutes", "0.1", "--requests", "200", "--rows", "20000"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3000)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    service, bulk = found["service"], found["bulk"]
    assert service["exit_code"] == 0
    assert service["requests"] >= 200
    assert not [status for status in service["statuses"] if status.startswith("5") or status.endswith("Error")]
    assert service["mib_last"] - service["mib_middle"] < 30
    assert bulk["rows"] == [10_000, 20_000]
    assert max(bulk["peak_mib"]) - min(bulk["peak_mib"]) < 60
