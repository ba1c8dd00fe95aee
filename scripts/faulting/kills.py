"""SIGKILL at random moments of a training, a mining and a review, and at every change that a prediction makes.

`KILLED` names what is killed; another command that must survive it goes here, as a function of the same kind.
"""

from __future__ import annotations

import http.client
import itertools
import json
import random
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from faulting.lab import Check, Lab, digest, kill

__all__ = ["KILLED", "Service", "serving"]

_METHODS = ("base", "pg-as", "aw-as", "rm-as", "consensus", "adaboost", "boosting", "kt")
_DYING = str(Path(__file__).with_name("dying.py"))


def kill_training(lab: Lab, check: Check, kills: int, moments: random.Random) -> None:
    """A training that was killed goes on to the very files of one that nobody disturbed."""
    methods = _METHODS[: max(kills, 1)]
    for method in methods:
        reference = lab.folder / f"reference-{method}"
        began = time.monotonic()
        check.expect(lab.run(*lab.training(reference, method)).code == 0, f"{method}: the undisturbed run failed")
        lasts = time.monotonic() - began
        run, done = lab.folder / f"killed-{method}", 0
        share = -(-kills // len(methods))
        while done < share:
            shutil.rmtree(run, ignore_errors=True)
            for _ in range(min(3, share - done)):
                if not kill(lab.start(*lab.go_on(run, method)), moments.uniform(0, lasts)):
                    break
                done += 1
            ended = lab.run(*lab.go_on(run, method))
            check.times += 1
            check.expect(ended.code == 0, f"{method}: does not go on: {ended.err}")
            check.expect(digest(run) == digest(reference), f"{method}: other files than without a kill")
        check.kills += done


def kill_mining(lab: Lab, check: Check, kills: int, moments: random.Random) -> None:
    """Evidence is there as a whole or not at all, and mining again gives the same."""
    reference, out = lab.folder / "reference.jsonl", lab.folder / "mined.jsonl"
    began = time.monotonic()
    check.expect(lab.run(*lab.mining(reference)).code == 0, "the undisturbed mining failed")
    lasts = time.monotonic() - began
    while check.kills < kills and check.times < 3 * kills:
        check.times += 1
        check.kills += kill(lab.start(*lab.mining(out)), moments.uniform(0.2, 1.0) * lasts)
        if check.kills == kills and not out.exists():
            ended = lab.run(*lab.mining(out))
            check.expect(ended.code == 0, f"mining again failed: {ended.err}")
        if out.exists():
            check.expect(out.read_bytes() == reference.read_bytes(), "not the evidence of the undisturbed mining")
            out.unlink()


class Service:
    """`pssa serve` with a review, as a process, and a client that changes words as fast as it can."""

    def __init__(self, lab: Lab, run: Path, evidence: Path) -> None:
        words = ("serve", run, "--evidence", evidence, "--corpus", lab.train_file, "--port", "0", "--json")
        self.process: subprocess.Popen[str] = lab.start(*words)
        assert self.process.stdout is not None
        self.first = self.process.stdout.readline()
        announced = json.loads(self.first) if self.first.strip() else {"url": ":0"}
        self.port = int(announced["url"].rpartition(":")[2])
        self._headers = {"Content-Type": "application/json", "Authorization": f"Bearer {announced.get('token')}"}

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Status and answer of one request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), self._headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or b"null")
        finally:
            connection.close()

    def change(self, number: int) -> bool:
        """Flip the word of a sentence; whether it was answered that it is kept."""
        status, found = self.ask("GET", f"/v1/evidence/sentences/{number % 120}")
        words = found["words"] if status == 200 else []
        word = next((place for place, one in enumerate(words) if one["finding"]), 0)
        body = {"index": number % 120, "version": found.get("version", 0), "action": "flip", "word": word}
        return self.ask("POST", "/v1/evidence/changes", body)[0] == 200

    def end(self, sign: int = signal.SIGTERM) -> tuple[int, str]:
        """Exit code and what was said."""
        self.process.send_signal(sign)
        _, said = self.process.communicate(timeout=300)
        return self.process.returncode, said


def serving(lab: Lab) -> Path:
    """A run to serve, made once."""
    run = lab.folder / "served"
    if not run.exists():
        lab.run(*lab.training(run))
    return run


def kill_review(lab: Lab, check: Check, kills: int, moments: random.Random) -> None:
    """A change that was answered is in the log after a kill; at most one more, which was on its way, is there too."""
    evidence = lab.evidence_file(lab.folder / "review")
    before, log = evidence.read_bytes(), evidence.with_name("evidence.jsonl.review.jsonl")
    answered = 0
    for _ in range(kills):
        service = Service(lab, serving(lab), evidence)
        timer = threading.Timer(moments.uniform(0.02, 0.6), service.process.kill)
        timer.start()
        try:
            while service.change(answered):
                answered += 1
        except (OSError, http.client.HTTPException, ValueError):
            pass  # killed
        timer.join()
        service.end(signal.SIGKILL)
        check.kills += 1
        check.times += 1
        kept = log.read_bytes().count(b"\n") - 1
        check.expect(answered <= kept <= answered + 1, f"{answered} changes were answered, {kept} are in the log")
        answered = kept
    service = Service(lab, serving(lab), evidence)
    check.expect(service.port, "the service does not start again")
    status, export = service.ask("POST", "/v1/evidence/export")
    check.expect(status == 200 and Path(export["file"]).is_file(), f"no export after the kills: {export}")
    check.expect(service.end()[0] == 0, "the service does not end with 0")
    check.expect(evidence.read_bytes() == before, "the evidence file was touched")
    check.said.append(f"{answered} changes were answered and kept")


def kill_predicting(lab: Lab, check: Check, kills: int, moments: random.Random) -> None:
    """A prediction that was killed just before any change to a folder goes on to the very files of one that nobody disturbed."""
    rows = lab.train_file.read_text().splitlines()[:12]
    source = lab.folder / "dying.jsonl"
    source.write_text("\n".join([*rows[:5], '{"text": "a keyboard", "aspect": "screen"}', *rows[5:], ""]))
    words = (serving(lab), "--input", source, "--errors", "skip", "--device", "cpu")
    step = max(1, 20 // kills)  # all of them, unless a few kills are wanted
    for output, more in itertools.product(("out.jsonl", "out.csv.gz", "out.parquet"), ((), ("--force",))):
        folder = lab.folder / f"dying-{output}{''.join(more)}"
        folder.mkdir()
        ended = lab.run(str(moments.randrange(1000)), str(step), folder, output, *words, *more, python=(_DYING,))
        check.expect(ended.code == 0, f"{output}: the script itself failed: {ended.err[-200:]}")
        if ended.code == 0:
            found = json.loads(ended.out)
            check.times += found["changes"]
            check.kills += found["kills"]
            check.wrong += found["wrong"]
            check.said.append(f"{output} {' '.join(more)}: {found['changes']} changes, {found['kills']} kills")


KILLED: Mapping[str, Callable[[Lab, Check, int, random.Random], None]] = {
    "train killed": kill_training,
    "mine killed": kill_mining,
    "review killed": kill_review,
    "predict killed at every change": kill_predicting,
}
