"""Shared parts of the contenders of `scoring_rivals.py`: read rows, train, score against the clock, print one JSON line.

    python -m rivals.NAME train --rows F --encoder E --out DIR --epochs N
    python -m rivals.NAME score --rows F --model DIR --batch-size N
    python -m rivals.NAME tune --rows F --model DIR --batch-sizes 1,8,32,64

It needs nothing but the standard library, since contenders live in interpreters of their own.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

__all__ = ["LABELS", "Contender", "Row", "Score", "main", "read_rows"]

LABELS = ("positive", "negative", "neutral")
_WARM_UP = 64  # rows; the first ones pay for what is allocated and compiled once


@dataclass(frozen=True)
class Row:
    """One aspect of one text."""

    text: str
    start: int
    end: int
    label: str

    @property
    def aspect(self) -> str:
        """The aspect's text."""
        return self.text[self.start : self.end]


Score = Callable[[Sequence[Row], int], list[str]]  # rows and a batch size -> a label for each row


class Contender(Protocol):
    """A library that learns to score rows."""

    name: str
    packages: tuple[str, ...]  # whose versions matter

    def train(self, rows: Sequence[Row], encoder: Path, folder: Path, epochs: int) -> None:
        """Learn from rows and leave a model in a new folder."""
        ...

    def load(self, folder: Path) -> Score:
        """Load a model."""
        ...


def read_rows(path: Path) -> list[Row]:
    """Read the rows of a JSON Lines file."""
    with path.open(encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    return [Row(row["text"], row["from"], row["to"], row["label"]) for row in found]


def main(contender: Contender) -> None:
    """Train or score, as the command line says."""
    arguments = _parser().parse_args()
    rows = read_rows(arguments.rows)
    if arguments.action == "train":
        contender.train(rows, arguments.encoder, arguments.out, arguments.epochs)
        said: dict[str, Any] = {"trained": str(arguments.out)}
    else:
        score = contender.load(arguments.model)
        score(rows[:_WARM_UP], 8)
        if arguments.action == "tune":
            rates = {str(size): len(rows) / _timed(score, rows, size)[0] for size in arguments.batch_sizes}
            said = {"rates": rates}
        else:
            said = _measured(score, rows, arguments.batch_size)
    versions = {name: version(name) for name in contender.packages}
    # Libraries also print on standard output; the last line is ours.
    sys.stdout.write("\n" + json.dumps({"contender": contender.name, **said, "versions": versions}) + "\n")


def _measured(score: Score, rows: Sequence[Row], batch_size: int) -> dict[str, Any]:
    seconds, labels = _timed(score, rows, batch_size)
    right = sum(row.label == label for row, label in zip(rows, labels, strict=True))
    return {"rows": len(rows), "seconds": seconds, "accuracy": right / len(rows), "batch_size": batch_size}


def _timed(score: Score, rows: Sequence[Row], batch_size: int) -> tuple[float, list[str]]:
    began = time.perf_counter()
    labels = score(rows, batch_size)
    return time.perf_counter() - began, labels


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("train", "score", "tune"))
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--encoder", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--batch-sizes", type=lambda given: [int(size) for size in given.split(",")], default=[32])
    return parser
