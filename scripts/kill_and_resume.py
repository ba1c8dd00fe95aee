"""Kill trainings at random moments, resume them, and compare with runs that nobody disturbed, byte for byte.

    python scripts/kill_and_resume.py --kills 50

Every method takes its turn on a part of the embedded corpus. Kills are spread evenly over the time that the undisturbed run took.
After each kill the run is resumed, and may be killed again; once it is finished, every file of it must equal that of the
undisturbed run: config and card, weights, evidence (so no line of it is lost or doubled), history and metrics. Only what `digest`
names is left out. Exit code 1 if any differ.
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
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path

from pssa.data import embedded, write

SETTINGS = {"dimension": 12, "max_epochs": 4, "patience": 2, "consensus_models": 2, "consensus_folds": 2}
# Then it is left alone, so that every method gets its share.
KILLS_OF_ONE_RUN = 3


@dataclass(frozen=True)
class Entry:
    """A kind of run that takes its turn."""

    name: str
    method: str
    settings: Mapping[str, int] = field(default_factory=dict)  # beside those of all runs


ENTRIES = (
    Entry("aw-as", "aw-as"),
    Entry("aw-as with folds", "aw-as", {"folds": 2}),
    Entry("pg-as", "pg-as"),
    Entry("rm-as", "rm-as"),
    Entry("consensus", "consensus"),
    Entry("adaboost", "adaboost"),
    Entry("boosting", "boosting"),
    Entry("kt", "kt"),
)


@dataclass(frozen=True)
class Lab:
    """Where runs are made, and from what."""

    folder: Path
    train_file: Path
    model: str

    def start(self, entry: Entry, run: Path) -> subprocess.Popen[bytes]:
        """Begin a run, or go on with it where it can be."""
        command = [sys.executable, "-m", "pssa", "train"]
        if (run / "config.toml").is_file():
            command += ["--resume", str(run)]
        else:
            command += ["--train", str(self.train_file), "--out", str(run), "--model", self.model]
            command += ["--method", entry.method, "--device", "cpu"]
            for key, value in {**SETTINGS, **entry.settings}.items():
                command += ["--set", f"{key}={value}"]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


@dataclass
class Tally:
    """What has happened so far."""

    kills: int = 0
    at_work: int = 0  # kills of processes that had already written to the run; the others were still starting
    finished: int = 0
    different: int = 0


def digest(run: Path) -> dict[str, bytes]:
    """What must not depend on kills: every file of a finished run but those that may differ.

    - `.lock` is empty;
    - `.NAME.PID.part` is what a killed process had written of a file before its renaming;
    - restart points (checkpoints, the copy of the vectors) stay behind where the kill came after the run was finished, while they
      were cleared away.
    """
    files = {str(path.relative_to(run)): path for path in sorted(run.rglob("*")) if path.is_file()}
    return {name: path.read_bytes() for name, path in files.items() if not _may_differ(name, path)}


def _may_differ(name: str, path: Path) -> bool:
    restart_point = path.name == "checkpoint.safetensors" or name == "stages/vectors.safetensors"
    return restart_point or path.name == ".lock" or (path.name.startswith(".") and path.suffix == ".part")


def finish(process: subprocess.Popen[bytes]) -> None:
    """Wait for a run that nobody disturbs."""
    _, said = process.communicate()
    if process.returncode:
        raise SystemExit(f"a run failed: {said.decode()}")


def disturb(process: subprocess.Popen[bytes], moment: float) -> bool:
    """Kill the run after `moment` seconds; False where it was done before."""
    try:
        process.wait(timeout=moment)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.communicate()
        return True
    finish(process)
    return False


def wrote_since(run: Path, began: float) -> bool:
    """Whether a file of the run is newer than that."""
    return any(path.stat().st_mtime > began for path in run.rglob("*") if path.name != ".lock")


def check(lab: Lab, kills: int, moments: random.Random) -> Tally:
    """Kill `kills` times in all, and compare each run that was carried through."""
    tally, lasts, run = Tally(), dict[str, float](), lab.folder / "run"
    for entry in cycle(ENTRIES):
        if tally.kills >= kills:
            return tally
        reference = lab.folder / f"reference {entry.name}"
        if entry.name not in lasts:
            began = time.monotonic()
            finish(lab.start(entry, reference))
            lasts[entry.name] = time.monotonic() - began
        shutil.rmtree(run, ignore_errors=True)
        for _ in range(min(KILLS_OF_ONE_RUN, kills - tally.kills)):
            began = time.time()
            if not disturb(lab.start(entry, run), moments.uniform(0, lasts[entry.name])):
                break
            tally.kills += 1
            tally.at_work += wrote_since(run, began)
        finish(lab.start(entry, run))
        same = digest(run) == digest(reference)
        tally.finished += 1
        tally.different += not same
        print(f"{entry.name}: {tally.kills} kills so far, {'equal' if same else 'DIFFERENT'}", flush=True)
    return tally


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
        tally = check(Lab(folder, train_file, arguments.model), arguments.kills, random.Random(arguments.seed))
    print(
        f"{tally.kills} kills, {tally.at_work} of them at work, "
        f"{tally.finished} runs finished, {tally.different} different"
    )
    return 1 if tally.different else 0


if __name__ == "__main__":
    sys.exit(main())
