"""Where faults happen: a folder with a small corpus, commands as processes, and what they said at their end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pssa.data import embedded, write
from pssa.data.evidence import Evidence, Finding, Header
from pssa.data.evidence_file import write_evidence

__all__ = ["Check", "Ended", "Lab", "Skipped", "mounted", "remount"]

_TINY = (
    *("--model", "memnet", "--device", "cpu"),
    *("--set", "dimension=12", "--set", "max_epochs=4", "--set", "patience=2"),
)
_SECONDS = 1200
_SAID_ON_THE_WAY = ("pssa: warning:", "pssa: stage ", "pssa: round ", "pssa: predict:")  # the last on slow machines


class Skipped(Exception):
    """A check that this machine does not allow."""


@dataclass
class Check:
    """What one fault was tried for, how often, and what was wrong afterwards."""

    name: str
    times: int = 0
    kills: int = 0
    wrong: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)  # messages, for the reader of the summary

    def expect(self, holds: object, otherwise: str) -> None:
        """Note what is wrong, unless it holds."""
        if not holds:
            self.wrong.append(otherwise[:300])


@dataclass(frozen=True)
class Ended:
    """A process that has ended."""

    code: int
    out: str
    err: str

    @property
    def one_line(self) -> bool:
        """Whether it failed as it should: one line on standard error, from us, and no traceback."""
        lines = [line for line in self.err.splitlines() if not line.startswith(_SAID_ON_THE_WAY)]
        return (
            len(lines) == 1
            and lines[0].startswith("pssa: ")
            and "Traceback" not in self.err
            and "unexpected" not in self.err
        )


@dataclass(frozen=True)
class Lab:
    """A folder for runs, and the files they are made from."""

    folder: Path

    @property
    def train_file(self) -> Path:
        """A part of the embedded corpus."""
        path = self.folder / "train.jsonl"
        if not path.exists():
            write(embedded.load("train")[:120], path)
        return path

    def evidence_file(self, folder: Path) -> Path:
        """Evidence about the corpus, one word of each instance, in a folder of its own."""
        corpus = embedded.load("train").select(range(120))
        words = [[Finding(min(e.candidates), "active", 1, 1.0, 0.5, "positive", str(e.label))] for e in corpus]
        header = Header("memnet", "gradient", 3.0, 5, corpus.hash(), 0, "pg-as")
        folder.mkdir(parents=True, exist_ok=True)
        write_evidence(Evidence.from_findings(header, corpus, words), folder / "evidence.jsonl")
        return folder / "evidence.jsonl"

    def start(
        self, *words: str | Path, environment: Mapping[str, str] | None = None, python: tuple[str, ...] = ("-m", "pssa")
    ) -> subprocess.Popen[str]:
        """A command as a process of its own."""
        return subprocess.Popen(
            [sys.executable, *python, *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1"} | dict(environment or {}),
        )

    def run(self, *words: str | Path, python: tuple[str, ...] = ("-m", "pssa")) -> Ended:
        """A command, to its end."""
        return self.end(self.start(*words, python=python))

    def end(self, process: subprocess.Popen[str]) -> Ended:
        """Wait for a process."""
        out, err = process.communicate(timeout=_SECONDS)
        return Ended(process.returncode, out, err)

    def training(self, out: Path, method: str = "base") -> tuple[str, ...]:
        """The words of a small training."""
        return ("train", "--train", str(self.train_file), "--out", str(out), "--method", method, *_TINY)

    def mining(self, out: Path) -> tuple[str, ...]:
        """The words of a small mining."""
        return ("evidence", "mine", "--train", str(self.train_file), "--out", str(out), *_TINY)

    def go_on(self, out: Path, method: str = "base") -> tuple[str, ...]:
        """The words that carry a training through, whether it was begun or not."""
        return ("train", "--resume", str(out)) if (out / "config.toml").is_file() else self.training(out, method)


def kill(process: subprocess.Popen[str], moment: float) -> bool:
    """Kill a process after so many seconds; False where it was done before."""
    try:
        process.wait(timeout=moment)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.communicate()
        return True
    process.communicate()
    return False


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


@contextmanager
def mounted(folder: Path, options: str, image: Path | None = None) -> Iterator[Path]:
    """A disk at a folder: in memory, or of an image.

    :raises Skipped: where mounting is not allowed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    disk = ("-t", "tmpfs", "tmpfs") if image is None else (str(image),)
    done = subprocess.run(["mount", "-o", options, *disk, str(folder)], capture_output=True, text=True)
    if done.returncode:
        raise Skipped(f"no disk can be mounted here ({done.stderr.strip() or done.returncode})")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def remount(folder: Path, options: str) -> None:
    """Change a mounted disk: `size=...`, `ro` or `rw`."""
    subprocess.run(["mount", "-o", f"remount,{options}", str(folder)], check=True)
