"""Resources for tests: a few instances of the embedded corpus, vectors of eight values, settings that train in a blink."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from paper.experiments.cells import Cell
from paper.experiments.ledger import Record
from paper.experiments.resources import DataSource, Resources
from pssa.data import embedded, write

SETTINGS: dict[str, Any] = {"epochs": 2, "dimension": 8, "learning_rate": 0.01}


def tiny_resources(tmp_path: Path, instances: int = 40) -> Resources:
    """One data set, `laptop`, and vectors for all of its words; enough for every model that reads words."""
    folder = tmp_path / "data" / "laptop"
    folder.mkdir(parents=True, exist_ok=True)
    train, test = embedded.load("train")[:instances], embedded.load("test")[: instances // 2]
    write(train, folder / "train.jsonl")
    write(test, folder / "test.jsonl")
    words = sorted({word for corpus in (train, test) for example in corpus for word in example.words})
    draws = random.Random(0)
    vectors = tmp_path / "vectors.txt"
    rows = (" ".join([word, *(f"{draws.gauss(0, 0.3):.4f}" for _ in range(8))]) for word in words)
    vectors.write_text("\n".join(rows) + "\n", "utf-8")
    source = DataSource(folder / "train.jsonl", folder / "test.jsonl")
    return Resources({"laptop": source}, vectors, device="cpu", settings=SETTINGS)


class FakeLookup:
    """Records that a test made up, by cell."""

    def __init__(self, records: dict[Cell, Record] | None = None) -> None:
        self.records = records or {}

    def __call__(self, cell: Cell) -> Record | None:
        return self.records.get(cell)
