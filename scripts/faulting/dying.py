"""Run as a script: carry out `pssa predict` again and again, each time killed at another change to a folder, and resumed.

    dying.py SEED STEP FOLDER OUTPUT WORDS...

A change is whatever gives, takes or keeps a name: every fsync, link, rename, unlink, mkdir and rmdir of a small job. Just before
the first of them, the second and so on (every STEP-th) the process gets a SIGKILL, until a job is done before its turn. What is
resumed is killed once more, at a random one. Each job has a folder of its own in FOLDER; where WORDS have `--force` OUTPUT is
there already. The command's modules are imported once; every job is a process of its own that begins right there. Prints one
JSON object: how many changes there were, how many kills, and what was wrong.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

CHANGES = ("fsync", "link", "replace", "rename", "unlink", "mkdir", "rmdir")
OLDER = b"older\n"
FORCE = "--force"
NEVER = -1
ROWS = 5  # of a window


def attempt(words: Sequence[str], moment: float, log: Path) -> int:
    """The exit code of a command that is killed before a change, or -9; what it says goes to a file."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    told = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(told, 1)
    os.dup2(told, 2)
    die_at(moment, count())
    from pssa.cli import main

    os._exit(main(list(words)))


def die_at(moment: float, made: Iterator[int]) -> None:
    """Let this process be killed before that change."""

    def deadly(change: Callable[..., Any]) -> Callable[..., Any]:
        def changed(*given: Any, **more: Any) -> Any:
            if next(made) == moment:
                os.kill(os.getpid(), signal.SIGKILL)
            return change(*given, **more)

        return changed

    for name in CHANGES:
        setattr(os, name, deadly(getattr(os, name)))


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder and of those in it; a folder is a name with a stroke at its end."""
    found = sorted(folder.rglob("*"))
    return {f"{p.relative_to(folder)}{'/' if p.is_dir() else ''}": b"" if p.is_dir() else p.read_bytes() for p in found}


class Dying:
    """Jobs of one kind, and what came of them."""

    def __init__(self, folder: Path, output: str, words: Sequence[str]) -> None:
        self.folder, self.output = folder, output
        self.words, self.force = [word for word in words if word != FORCE], [FORCE] * words.count(FORCE)
        self.kills = 0
        self.wrong: list[str] = []

    def predict(self, where: Path, moment: float, *more: str) -> int:
        """One attempt at a job."""
        words = ("predict", *self.words, "--output", str(where / self.output), *more)
        code = attempt(words, moment, self.folder / "said")
        self.kills += code == -signal.SIGKILL
        return code

    def begin(self, name: str, moment: float) -> tuple[Path, int]:
        """A job from its start, in a folder of its own."""
        where = self.folder / name
        where.mkdir(parents=True)
        if self.force:
            (where / self.output).write_bytes(OLDER)
        return where, self.predict(where, moment, *self.force)

    def carry_through(self, step: int, moments: random.Random) -> int:
        """Kill at every moment; how many there were."""
        undisturbed, code = self.begin("undisturbed", NEVER)
        if code:
            self.wrong.append(f"the undisturbed job: exit code {code}, said {self.said}")
            return 0
        expected = contents(undisturbed)
        for moment in count(0, step):
            where, code = self.begin(str(moment), moment)
            if code == 0:
                return moment
            self.resume(where, code, moments.randrange(moment + 10), expected)
        raise AssertionError

    def resume(self, where: Path, code: int, moment: int, expected: Mapping[str, bytes]) -> None:
        """Go on with a job that was killed, and once more where that was killed too."""
        begun = any((where / f"{self.output}.part").glob("job*"))
        again = self.predict(where, moment, "--resume")
        if again == -signal.SIGKILL:
            again = self.predict(where, NEVER, "--resume")
        found, what = contents(where), f"{self.output} {''.join(self.force)}, change {where.name}"
        if code != -signal.SIGKILL or again:
            self.wrong.append(f"{what}: exit codes {code} and {again}, said {self.said}")
        elif self.force and not begun and found == {self.output: OLDER} and "nothing was done" in self.said:
            pass  # killed before it was written down that anything is to be replaced, and whoever resumes is told
        elif found != expected:
            self.wrong.append(f"{what}: {list(found)}, expected {list(expected)}")

    @property
    def said(self) -> str:
        """What the last process said."""
        return (self.folder / "said").read_text(errors="replace")[-300:]


if __name__ == "__main__":
    import pyarrow.parquet  # noqa: F401 - else every attempt would import it

    import pssa.cli.predict  # noqa: F401
    from pssa.predict import job

    seed, step, folder, output, *words = sys.argv[1:]
    job.default_window_rows = lambda model, device: ROWS
    dying = Dying(Path(folder), output, words)
    changes = dying.carry_through(int(step), random.Random(int(seed)))
    print(json.dumps({"changes": changes, "kills": dying.kills, "wrong": dying.wrong}))
