"""The method against its baseline on the public data sets: mining variants, rounds, gammas, human words.

    python benchmarks/method.py tuning:memnet,tnet_att:laptop,rest:0,1,2 --data DIR --vectors F --out F.jsonl --held-out
    python benchmarks/method.py test:memnet,tnet_att:laptop,rest:0,1,2,3,4 --data DIR --vectors F --out F.jsonl

A cell is one (data set, model, seed): it searches the number of epochs once, trains the baseline, and then, as tasks of their
own, mines once per variant and trains a final model per (variant, rounds, gamma). Evidence of K rounds holds that of fewer, so
rounds cost no further mining. The numbers are those of `pssa train`: stages, seeds and randomness are the same. `--held-out`
never opens a test file: it trains on 80 % of train, by sentence, and scores the rest. Stopped, it goes on where its file ends.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from plans import PLANS, VARIANTS, Plan
from torch import nn

from pssa import models
from pssa.data import Corpus, hold_out, read
from pssa.data.evidence import Evidence
from pssa.data.evidence_edit import keep_iterations
from pssa.data.opinion_words import evidence_from_opinion_words, read_opinion_words
from pssa.evaluation import Scores, predict_classes, score
from pssa.runs.config import UNSET, Config
from pssa.runs.directory import write_tensors
from pssa.runs.methods import consensus, progressive
from pssa.runs.saved_model import load_weights
from pssa.runs.training_run import prepare
from pssa.runs.workshop import Workshop
from pssa.training import EpochRecord, Silent

# What every cell begins with, since the others need its number of epochs.
FIRST = "base"
# Data sets with human opinion words.
HUMAN = ("laptop", "rest")


@dataclass(frozen=True)
class Cell:
    """A data set, a model and a seed."""

    data_set: str
    model: str
    seed: int


@dataclass(frozen=True)
class Task:
    """A variant of a cell, with where its data is, where its records go and which of them are there already."""

    cell: Cell
    variant: str
    finals: tuple[tuple[int, float], ...]  # (rounds, gamma) of what is missing
    epochs: int  # 0: to be searched, or what is usual
    asked: argparse.Namespace


def run_task(task: Task) -> Task:
    """Mine once and train every final model that is missing; each record is appended as soon as it is there."""
    import torch

    torch.set_num_threads(1)
    cell, asked = task.cell, task.asked
    corpus = read(asked.data / cell.data_set / "train.txt")
    opinion_words = asked.data / "opinion_words" / cell.data_set / "train.tsv"
    if asked.held_out:
        train_rows, test_rows = hold_out(corpus, 0.2, 1000 + cell.seed)
        corpus, test = corpus.select(train_rows), corpus.select(test_rows)
    else:
        test = read(asked.data / cell.data_set / "test.txt")
    settings: dict[str, Any] = {"model": cell.model, "seed": cell.seed, "device": asked.device}
    source = "vectors" if models.reads(cell.model) == "words" else "encoder"
    config, materials = prepare(corpus, None, Config().updated(settings | {source: str(getattr(asked, source))}))
    human = None
    if opinion_words.is_file():
        human = evidence_from_opinion_words(read_opinion_words(opinion_words), corpus).evidence
    began = time.perf_counter()
    workshop = Workshop(config, None, materials, Silent())
    epochs = task.epochs or workshop.find_epochs()
    _Bench(task, workshop, test, epochs, human, time.perf_counter() - began).run()
    return task


@dataclass(frozen=True)
class _Bench:
    """One task at work."""

    task: Task
    workshop: Workshop
    test: Corpus
    epochs: int
    human: Evidence | None
    search_seconds: float

    def run(self) -> None:
        began = time.perf_counter()
        evidence = self._evidence()
        seconds = time.perf_counter() - began
        for rounds, gamma in self.task.finals:
            self._final(rounds, gamma, evidence and keep_iterations(evidence, rounds), seconds)

    def _evidence(self) -> Evidence | None:
        if self.task.variant in (FIRST, "human"):
            return self.human if self.task.variant == "human" else None
        config = self.workshop.config.updated(VARIANTS[self.task.variant])
        shop = Workshop(config, None, self.workshop.materials, Silent())
        if config.method == "consensus":
            return consensus.mine_evidence(shop, self.epochs)
        initial = None if config.mining.folds else self._initial(shop)
        return progressive.mine_evidence(shop, initial, self.epochs)

    def _initial(self, shop: Workshop) -> nn.Module:
        """The initial model: the baseline where it was kept, else trained."""
        model, kept = shop.new_model(), self._kept()
        if kept is None or not kept.is_file() or "refine" in VARIANTS[self.task.variant]:
            return shop.train("initial", model, self.epochs)
        load_weights(kept, model)
        return model

    def _kept(self) -> Path | None:
        cell, folder = self.task.cell, self.task.asked.initials
        if folder is None:
            return None
        return Path(folder) / f"{cell.data_set}-{cell.model}-{cell.seed}.safetensors"

    def _final(self, rounds: int, gamma: float, evidence: Evidence | None, mining_seconds: float) -> None:
        """Train the model that this evidence supervises, test it and append the record."""
        refine = {key: value for key, value in VARIANTS.get(self.task.variant, {}).items() if key == "refine"}
        config = self.workshop.config.updated({"gamma": UNSET if evidence is None else gamma, **refine})
        watcher = _Watcher() if evidence is None else Silent()
        shop = Workshop(config, None, self.workshop.materials, watcher)
        began = time.perf_counter()
        supervision = None if evidence is None else shop.supervise(evidence)
        model = shop.new_model()
        if isinstance(watcher, _Watcher):
            watcher.watch(lambda: self._scores(shop, model))
        shop.train("initial" if evidence is None else "final", model, self.epochs, supervision=supervision)
        seconds = time.perf_counter() - began
        if evidence is None and (kept := self._kept()) is not None:
            write_tensors(kept, dict(model.state_dict()))
        scores, predicted = self._scores(shop, model)
        record = asdict(self.task.cell) | {
            "variant": self.task.variant,
            "rounds": rounds,
            "gamma": gamma,
            "epochs": self.epochs,
            "accuracy": scores.accuracy,
            "macro_f1": scores.macro_f1,
            "seconds": seconds,
            "mining_seconds": mining_seconds,
            "search_seconds": self.search_seconds,
            "agreement": None if evidence is None or self.human is None else _agreement(evidence, self.human),
            "mining": None if evidence is None else [asdict(report) for report in evidence.header.rounds],
            "optimistic": watcher.best if isinstance(watcher, _Watcher) else None,
            "predicted": "".join(label[:3] for label in predicted),
        }
        with self.task.asked.out.open("a") as handle:
            handle.write(json.dumps(record) + "\n")

    def _scores(self, shop: Workshop, model: nn.Module) -> tuple[Scores, list[str]]:
        labels = shop.config.data.labels
        predicted = [labels[number] for number in predict_classes(model, shop.index(self.test)).tolist()]
        return score([example.label or "" for example in self.test], predicted, labels), predicted


class _Watcher(Silent):
    """The best test score that any epoch of a baseline has: what choosing on the test set would report."""

    def __init__(self) -> None:
        self.best: tuple[float, float] = (0.0, 0.0)

    def watch(self, look: Callable[[], tuple[Scores, list[str]]]) -> None:
        """Look at the test set after every epoch."""
        self._look = look

    def on_epoch(self, record: EpochRecord) -> None:
        """Keep the best accuracy with its macro-F1."""
        scores, _ = self._look()
        self.best = max(self.best, (scores.accuracy, scores.macro_f1))


def _agreement(evidence: Evidence, human: Evidence) -> dict[str, list[int]]:
    """By round: active words, of which in examples with human words, of which are human words."""
    counts: dict[str, list[int]] = {}
    for mined, marked in zip(evidence.examples, human.examples, strict=True):
        marks = {finding.word for finding in marked.findings}
        for finding in mined.active:
            row = counts.setdefault(str(finding.iteration), [0, 0, 0])
            row[0] += 1
            row[1] += bool(marks)
            row[2] += finding.word in marks
    return counts


def main() -> None:
    """Run what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("jobs", nargs="+", metavar="PLAN:MODELS:DATA:SEEDS", help="names and seeds separated by commas")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--vectors", type=Path, help="for models that read words")
    parser.add_argument("--encoder", type=Path, help="for models that read pieces")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--initials", type=Path, help="folder that keeps initial models for the variants of their cell")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    # Spawned, not forked: a forked process cannot use CUDA.
    with ProcessPoolExecutor(arguments.processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        for first in (True, False):
            # What searches its epochs does so once, before its variants.
            tasks = [task for task in _tasks(arguments) if first == (task.variant == FIRST or not _searches(task))]
            for number, future in enumerate(as_completed([pool.submit(run_task, task) for task in tasks]), start=1):
                done = future.result()
                print(f"{number}/{len(tasks)} {done.cell} {done.variant}", flush=True)


def _searches(task: Task) -> bool:
    return models.reads(task.cell.model) == "words"


def _tasks(arguments: argparse.Namespace) -> Iterator[Task]:
    """What the file at `--out` does not have yet, in the order of the jobs."""
    records = [json.loads(line) for line in arguments.out.read_text().splitlines()] if arguments.out.is_file() else []
    known = {(_cell(record), record["variant"], record["rounds"], record["gamma"]) for record in records}
    epochs = {_cell(record): record["epochs"] for record in records}
    for job in arguments.jobs:
        name, *places = job.split(":")
        for cell, (variant, finals) in itertools.product(_cells(*places), _variants(PLANS[name])):
            missing = tuple(final for final in finals if (cell, variant, *final) not in known)
            known.update((cell, variant, *final) for final in missing)
            if missing and (variant != "human" or cell.data_set in HUMAN):
                yield Task(cell, variant, missing, epochs.get(cell, 0), arguments)


def _variants(plan: Plan) -> Iterator[tuple[str, list[tuple[int, float]]]]:
    wanted = [(FIRST, 0, (0.0,)), ("human", 1, plan.human_gammas), *plan.finals]
    for variant, rows in itertools.groupby(wanted, key=lambda row: row[0]):
        yield variant, [(rounds, gamma) for _, rounds, gammas in rows for gamma in gammas]


def _cells(model_names: str, data_sets: str, seeds: str) -> Iterator[Cell]:
    for seed, model, data_set in itertools.product(seeds.split(","), model_names.split(","), data_sets.split(",")):
        yield Cell(data_set, model, int(seed))


def _cell(record: dict[str, Any]) -> Cell:
    return Cell(record["data_set"], record["model"], record["seed"])


if __name__ == "__main__":
    main()
