"""Kill trainings at random moments, resume them, and compare with runs that nobody disturbed, byte for byte.

    python scripts/kill_and_resume.py --kills 50

Every method takes its turn on a part of the embedded corpus. After each kill the run is resumed, and may be killed again; once it
is finished, its weights, evidence and history must equal those of the undisturbed run. Exit code 1 if any differ.
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

from pssa.data import embedded, write

METHODS = ("aw-as", "pg-as", "consensus", "adaboost", "kt")
SETTINGS = {"dimension": 12, "max_epochs": 4, "patience": 2, "consensus_models": 2, "consensus_folds": 2}


@dataclass(frozen=True)
class Lab:
    """Where runs are made, and from what."""

    folder: Path
    train_file: Path
    model: str

    def start(self, method: str, run: Path) -> subprocess.Popen[bytes]:
        """Begin a run, or go on with it where it can be."""
        command = [sys.executable, "-m", "pssa", "train"]
        if (run / "config.toml").is_file():
            command += ["--resume", str(run)]
        else:
            command += ["--train", str(self.train_file), "--out", str(run), "--model", self.model, "--method", method]
            command += ["--device", "cpu"]
            for key, value in SETTINGS.items():
                command += ["--set", f"{key}={value}"]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def digest(run: Path) -> dict[str, bytes]:
    """What must not depend on kills: every file of a finished run but its lock and the stages' restart points."""
    names = ("*.safetensors", "evidence.jsonl", "history.jsonl", "metrics.json", "model.json", "stages/initial/*")
    files = [path for name in names for path in run.glob(name)] + list(run.glob("members/*/model.safetensors"))
    return {str(path.relative_to(run)): path.read_bytes() for path in sorted(files)}


def finish(process: subprocess.Popen[bytes]) -> None:
    """Wait for a run that nobody disturbs."""
    _, said = process.communicate()
    if process.returncode:
        raise SystemExit(f"a run failed: {said.decode()}")


def disturb(lab: Lab, method: str, run: Path, lasts: float, moments: random.Random) -> bool:
    """Run until done or killed; whether it was killed."""
    process = lab.start(method, run)
    try:
        process.wait(timeout=moments.uniform(0.1, 1.0) * lasts)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.communicate()
        return True
    finish(process)
    return False


def check(lab: Lab, kills: int, seed: int) -> int:
    """Kill `kills` times in all; returns how many finished runs differed."""
    moments, done, different, finished = random.Random(seed), 0, 0, 0
    for method in cycle(METHODS):
        if done >= kills:
            break
        reference, run = lab.folder / f"reference-{method}", lab.folder / "run"
        began = time.monotonic()
        if not reference.exists():
            finish(lab.start(method, reference))
        lasts = max(time.monotonic() - began, 3.0)
        shutil.rmtree(run, ignore_errors=True)
        while done < kills and disturb(lab, method, run, lasts, moments):
            done += 1
        finish(lab.start(method, run))
        same = digest(run) == digest(reference)
        different += not same
        finished += 1
        print(f"{method}: {done} kills so far, {'equal' if same else 'DIFFERENT'}", flush=True)
    print(f"{done} kills, {finished} runs finished, {different} different")
    return different


def main() -> int:
    """Run the check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model", default="memnet")
    parser.add_argument("--instances", type=int, default=200)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train_file = folder / "train.jsonl"
        write(embedded.load("train")[: arguments.instances], train_file)
        return 1 if check(Lab(folder, train_file, arguments.model), arguments.kills, arguments.seed) else 0


if __name__ == "__main__":
    sys.exit(main())
