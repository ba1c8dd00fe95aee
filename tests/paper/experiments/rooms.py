"""Resources for tests: a few instances of the embedded corpus, vectors of eight values, settings that train in a blink."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from paper.experiments.cells import Cell, Mining, cell_name, describe
from paper.experiments.ledger import Record
from paper.experiments.resources import DataSource, Resources
from paper.experiments.work import CellJob
from pssa.data import Corpus, embedded, read, write

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


def write_opinion_words(path: Path, given: Corpus, *marked: Sequence[str]) -> Path:
    """A file with a row for each sentence, in which these words are marked."""
    lines = ["s_id\tsentence\ttarget_tags\topinion_words_tags"]
    for example, words in zip(given, marked, strict=True):
        aspect = [place in range(*example.aspect) for place in range(len(example.words))]
        tags = (
            " ".join(f"{word}\\{'B' if mark else 'O'}" for word, mark in zip(example.words, marks, strict=True))
            for marks in (aspect, [word in words for word in example.words])
        )
        lines.append("\t".join(["1", " ".join(example.words), *tags]))
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def marked_resources(folder: Path, instances: int = 40) -> Resources:
    """Tiny resources, twice, as two domains, in which the last word but the full stop of every sentence is marked."""
    resources = tiny_resources(folder, instances)
    words = folder / "opinion_words"
    words.mkdir()
    for part in ("train", "test"):
        corpus = read(getattr(resources.sources["laptop"], part))
        marked = [[word for word in example.words if word.isalpha()][-1:] for example in corpus]
        write_opinion_words(words / f"{part}.tsv", corpus, *marked)
    source = replace(resources.sources["laptop"], opinion_words=words)
    return replace(resources, sources={"laptop": source, "rest": source})


class FakeLookup:
    """Records that a test made up, by cell."""

    def __init__(self, records: dict[Cell, Record] | None = None) -> None:
        self.records = records or {}

    def __call__(self, cell: Cell) -> Record | None:
        return self.records.get(cell)


class StandIn:
    """Carries out cells in no time, fails where it shall, and remembers."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.jobs: list[CellJob] = []  # those that failed too
        self.failing: dict[str, BaseException] = {}
        self.epochs = 2

    def __call__(self, job: CellJob) -> Record:
        name = cell_name(job.cell)
        self.jobs.append(job)
        if name in self.failing:
            raise self.failing[name]
        self.done.append(name)
        if isinstance(job.cell, Mining):
            path = job.workspace.evidence(job.cell)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("")
        if job.keep_weights:
            job.workspace.weights(job.cell).mkdir(parents=True, exist_ok=True)
            (job.workspace.weights(job.cell) / "model.safetensors").write_text("")
        found = {
            "epochs": self.epochs,
            "accuracy": 0.5,
            "macro_f1": 0.25,
            "predicted": "01",
            "seconds": 1.0,
            "device": "a CPU",
        }
        return {"key": job.key, "cell": describe(job.cell), **found}
