"""Jobs that are killed at random moments and resumed end with the bytes of one that nobody disturbed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.predict.made_rows import sentences, write_rows

from pssa.predict import Job, LocalEngine, Scoring, predict

SCRIPT = Path(__file__).with_name("kill_predict.py")


NAMES = ("out.jsonl", "out.csv.gz", "out.jsonl.zst", "out.parquet")


@pytest.mark.slow
def test_no_row_is_lost_or_repeated_by_kills(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.setattr("pssa.predict.job.default_window_rows", lambda model, device: 16)
    rows = sentences(1600)
    for place in range(11, 1600, 97):
        rows[place]["aspect"] = "nowhere"
    inputs = [write_rows(tmp_path / f"in{part}.jsonl", rows[800 * part : 800 * part + 800]) for part in (0, 1)]
    for folder in ("kept", "killed"):
        (tmp_path / folder).mkdir()
    for name in NAMES:
        kept = str(tmp_path / "kept" / name)
        predict(Job(run, tuple(map(str, inputs)), kept, errors="skip", scoring=Scoring(device="cpu")), LocalEngine())
    words = [str(run), "--input", *map(str, inputs), "--errors", "skip", "--device", "cpu"]
    outputs = [str(tmp_path / "killed" / name) for name in NAMES]
    done = subprocess.run(
        [sys.executable, SCRIPT, "7", *outputs, "--", *words], capture_output=True, text=True, check=True
    )
    for output, told in json.loads(done.stdout.splitlines()[-1]).items():
        assert told["code"] == 0, done.stderr
        assert told["at_work"] >= 2, (output, told)
    names = sorted([*NAMES, *(f"{name}.rejected.jsonl" for name in NAMES)])
    assert sorted(path.name for path in (tmp_path / "killed").iterdir()) == names
    for name in names:
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "kept" / name).read_bytes()
