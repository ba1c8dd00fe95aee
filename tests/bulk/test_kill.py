"""Jobs that are killed at random moments and resumed end with the bytes of one that nobody disturbed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.bulk.made_rows import sentences, write_rows

from pssa.bulk import Job, LocalEngine, Scoring, predict
from pssa.bulk.scorer import Sizes

SCRIPT = Path(__file__).with_name("kill_predict.py")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["out.jsonl", "out.csv.gz", "out.jsonl.zst", "out.parquet"])
def test_no_row_is_lost_or_repeated_by_kills(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.setattr("pssa.bulk.run_job.sizes", lambda model, device: Sizes(16, 4))
    rows = sentences(3000)
    for place in range(11, 3000, 97):
        rows[place]["aspect"] = "nowhere"
    inputs = [write_rows(tmp_path / f"in{part}.jsonl", rows[1500 * part : 1500 * part + 1500]) for part in (0, 1)]
    for folder in ("kept", "killed"):
        (tmp_path / folder).mkdir()
    kept, killed = (tmp_path / folder / name for folder in ("kept", "killed"))
    job = Job(run, tuple(map(str, inputs)), str(kept), errors="skip", scoring=Scoring(device="cpu"))
    predict(job, LocalEngine())
    journal = tmp_path / "killed" / f"{name}.part" / "journal.json"
    words = [str(run), "--input", *map(str, inputs), "--output", str(killed), "--errors", "skip", "--device", "cpu"]
    done = subprocess.run(
        [sys.executable, SCRIPT, "7", journal, *words], capture_output=True, text=True, env=os.environ, check=True
    )
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["code"] == 0, done.stderr
    assert told["at_work"] >= 3, told
    assert killed.read_bytes() == kept.read_bytes()
    sides = (Path(f"{path}.rejected.jsonl") for path in (kept, killed))
    assert len({side.read_bytes() for side in sides}) == 1
    assert sorted(path.name for path in killed.parent.iterdir()) == [name, f"{name}.rejected.jsonl"]
