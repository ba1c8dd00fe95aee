"""SIGKILL at random moments of `pssa reproduce`."""

from __future__ import annotations

import json
import random
import re
import shutil
import time
from itertools import zip_longest
from pathlib import Path
from typing import Any

from faulting.lab import Check, Lab, kill
from pssa.data import embedded, write

__all__ = ["kill_reproducing"]

_EXHIBIT = "random-masking"
_OF_THE_CALL = re.compile(rb"(Made|Shown) by .*? seeds? at most|\b\d{4}-\d\d-\d\d\b", re.S)
_TIMED = ("seconds", "stages", "testing_seconds", "finished")
_SHOWN = (".md", ".tex", ".csv", ".json", ".svg", ".png")
_OF_TIMES = ("cells.csv", "provenance.json")
_KILLS_OF_ONE = 3


def kill_reproducing(lab: Lab, check: Check, kills: int, moments: random.Random) -> None:
    """Carried through after kills, it has the cells and files of one that nobody disturbed, and no cell twice."""
    words = _words(lab)
    reference, out, began = lab.folder / "reproduced", lab.folder / "reproduced-killed", time.monotonic()
    ended = lab.run(*words, reference)
    lasts = time.monotonic() - began
    check.expect(ended.code == 0, f"the undisturbed run failed: {ended.err[-200:]}")
    while check.kills < kills and check.times < kills and not check.wrong:
        shutil.rmtree(out, ignore_errors=True)
        for _ in range(min(_KILLS_OF_ONE, kills - check.kills)):
            check.kills += kill(lab.start(*words, out), moments.uniform(0.1, 0.8) * lasts)
        ended = lab.run(*words, out)
        check.times += 1
        check.expect(ended.code == 0, f"does not go on: {ended.err[-200:]}")
        found, expected = _cells(out), _cells(reference)
        check.expect(len({cell["key"] for cell in found}) == len(found), "a cell was carried out twice")
        check.expect(found == expected, "other cells than without a kill")
        others = _different(_files(out), _files(reference))
        check.expect(not others, f"other files than without a kill: {others}")


def _words(lab: Lab) -> tuple[str | Path, ...]:
    """The words of a small reproduction, up to the name of its folder."""
    data, vectors = lab.folder / "data" / "laptop", lab.folder / "vectors.txt"
    data.mkdir(parents=True, exist_ok=True)
    train, test = embedded.load("train")[:40], embedded.load("test")[:20]
    write(train, data / "train.jsonl")
    write(test, data / "test.jsonl")
    draws = random.Random(0)
    known = sorted({word for corpus in (train, test) for example in corpus for word in example.words})
    rows = (" ".join([word, *(f"{draws.gauss(0, 0.3):.4f}" for _ in range(8))]) for word in known)
    vectors.write_text("\n".join(rows) + "\n", "utf-8")
    small = ("--models", "memnet", "--datasets", "laptop", "--seeds", "1", "--workers", "1", "--device", "cpu")
    return ("reproduce", _EXHIBIT, "--data", data.parent, "--vectors", vectors, *small, "--out")


def _cells(out: Path) -> list[dict[str, Any]]:
    """The ledger's lines without times, in the order of their keys."""
    lines = [json.loads(line) for line in (out / "cells.jsonl").read_text("utf-8").splitlines()]
    kept = [{name: value for name, value in line.items() if name not in _TIMED} for line in lines]
    return sorted(kept, key=lambda line: str(line["key"]))


def _different(ours: dict[str, bytes], theirs: dict[str, bytes]) -> str:
    """The files that only one has or that differ, each with its first line that does."""
    names = sorted(name for name in {*ours, *theirs} if ours.get(name) != theirs.get(name))
    return "; ".join(f"{name} ({_first_difference(ours.get(name, b''), theirs.get(name, b''))})" for name in names)


def _first_difference(ours: bytes, theirs: bytes) -> str:
    pairs = zip_longest(ours.decode("utf-8", "replace").splitlines(), theirs.decode("utf-8", "replace").splitlines())
    return next((f"{one!r:.90} instead of {other!r:.90}" for one, other in pairs if one != other), "")


def _files(out: Path) -> dict[str, bytes]:
    """Everything that people read, but for times, days and the call: after the last cell it only shows what was made."""
    found = (path for path in out.rglob("*") if path.suffix in _SHOWN and path.name not in _OF_TIMES)
    return {str(path.relative_to(out)): _plain(path.read_bytes(), out) for path in found}


def _plain(content: bytes, out: Path) -> bytes:
    return _OF_THE_CALL.sub(b"", content.replace(str(out).encode(), b"OUT"))
