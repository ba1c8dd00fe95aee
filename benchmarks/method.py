"""The method against its baseline on the public data sets: mining variants, rounds, gammas, human words.

    python benchmarks/method.py --data DIR --vectors F --out F.jsonl --plan tuning --held-out     # choose settings
    python benchmarks/method.py --data DIR --vectors F --out F.jsonl --plan test                  # then read the test set

A cell is one (data set, model, seed): it searches the number of epochs once, trains the baseline, mines once per variant and
trains a final model per (variant, rounds, gamma). Evidence of K rounds holds that of fewer, so rounds cost no further mining. The
numbers are those of `pssa train`: stages, seeds and randomness are the same. `--held-out` never opens a test file: it trains on
80 % of train, by sentence, and scores the rest.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import os
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from torch import nn

from pssa.data import Corpus, hold_out, read
from pssa.data.evidence import Evidence
from pssa.data.evidence_edit import keep_iterations
from pssa.data.opinion_words import evidence_from_opinion_words, read_opinion_words
from pssa.evaluation import Scores, predict_classes, score
from pssa.runs.config import UNSET, Config
from pssa.runs.methods import consensus, progressive
from pssa.runs.training_run import prepare
from pssa.runs.workshop import Workshop
from pssa.training import EpochRecord, Silent

# variant -> settings of its mining
VARIANTS: dict[str, dict[str, Any]] = {
    "aw": {"method": "aw-as"},
    "pg": {"method": "pg-as"},
    "rm": {"method": "rm-as"},
    "aw-1": {"method": "aw-as", "round_epochs": 1},
    "pg-1": {"method": "pg-as", "round_epochs": 1},
    "aw-2": {"method": "aw-as", "round_epochs": 2},
    "pg-2": {"method": "pg-as", "round_epochs": 2},
    "aw-restart": {"method": "aw-as", "start": "restart"},
    "pg-restart": {"method": "pg-as", "start": "restart"},
    "aw-folds": {"method": "aw-as", "folds": 5, "iterations": 1},
    "pg-folds": {"method": "pg-as", "folds": 5, "iterations": 1},
    "aw-stop": {"method": "aw-as", "stop_drop": 0.05},
    "consensus": {"method": "consensus"},
    "consensus-soft": {"method": "consensus", "consensus_soft": True},
}


@dataclass(frozen=True)
class Plan:
    """Which finals are trained: (variant, rounds, gammas)."""

    finals: tuple[tuple[str, int, tuple[float, ...]], ...]
    human_gammas: tuple[float, ...] = ()


PLANS = {
    "base": Plan(()),
    "smoke": Plan((("aw", 1, (2.0,)),), human_gammas=(2.0,)),
    "tuning": Plan(
        (
            ("aw-2", 5, (0.5, 2.0, 8.0)),
            ("aw-2", 1, (0.5, 2.0, 8.0)),
            ("pg-2", 5, (0.5, 2.0, 8.0)),
            ("pg-2", 1, (0.5, 2.0, 8.0)),
            ("pg-1", 5, (2.0,)),
            ("pg-restart", 5, (2.0,)),
            ("aw-1", 5, (2.0,)),
            ("aw-restart", 5, (2.0,)),
        ),
        human_gammas=(0.5, 2.0, 8.0),
    ),
    "test": Plan(
        (
            ("aw", 5, (UNSET,)),
            ("aw", 2, (UNSET,)),
            ("aw", 1, (UNSET,)),
            ("pg", 5, (UNSET,)),
            ("pg", 2, (UNSET,)),
            ("pg", 1, (UNSET,)),
            ("rm", 5, (UNSET,)),
            ("aw-folds", 1, (UNSET,)),
            ("pg-folds", 1, (UNSET,)),
        ),
        human_gammas=(UNSET,),
    ),
    "consensus": Plan((("consensus", 1, (UNSET,)), ("consensus-soft", 1, (UNSET,)))),
}


@dataclass(frozen=True)
class Cell:
    """A data set, a model and a seed."""

    data_set: str
    model: str
    seed: int


@dataclass(frozen=True)
class Task:
    """A cell with where its data is, where its records go and which of them are there already."""

    cell: Cell
    plan: Plan
    data: Path
    vectors: Path
    out: Path
    held_out: bool
    device: str
    done: frozenset[tuple[str, int, float]]


def run_cell(task: Task) -> Cell:
    """Everything of one cell that is missing; each record is appended as soon as it is there."""
    import torch

    torch.set_num_threads(1)
    cell = task.cell
    corpus = read(task.data / cell.data_set / "train.txt")
    opinion_words = task.data / "opinion_words" / cell.data_set / "train.tsv"
    if task.held_out:
        train_rows, test_rows = hold_out(corpus, 0.2, 1000 + cell.seed)
        corpus, test = corpus.select(train_rows), corpus.select(test_rows)
    else:
        test = read(task.data / cell.data_set / "test.txt")
    settings = {"model": cell.model, "seed": cell.seed, "vectors": str(task.vectors), "device": task.device}
    config, materials = prepare(corpus, None, Config().updated(settings))
    human = None
    if opinion_words.is_file():
        human = evidence_from_opinion_words(read_opinion_words(opinion_words), corpus).evidence
    began = time.perf_counter()
    workshop = Workshop(config, None, materials, Silent())
    epochs = workshop.find_epochs()
    bench = _Bench(task, workshop, test, epochs, human, time.perf_counter() - began)
    bench.run()
    return cell


@dataclass(frozen=True)
class _Bench:
    """One cell at work."""

    task: Task
    workshop: Workshop
    test: Corpus
    epochs: int
    human: Evidence | None
    search_seconds: float

    def run(self) -> None:
        self._final("base", 0, 0.0, None, 0.0)
        for gamma in self.task.plan.human_gammas if self.human is not None else ():
            self._final("human", 1, gamma, self.human, 0.0)
        for variant, rows in itertools.groupby(self.task.plan.finals, key=lambda row: row[0]):
            finals = [(rounds, gamma) for _, rounds, gammas in rows for gamma in gammas]
            if all((variant, rounds, gamma) in self.task.done for rounds, gamma in finals):
                continue
            began = time.perf_counter()
            evidence = _mine(self.workshop, VARIANTS[variant], self.epochs)
            seconds = time.perf_counter() - began
            for rounds, gamma in finals:
                self._final(variant, rounds, gamma, keep_iterations(evidence, rounds), seconds)

    def _final(self, variant: str, rounds: int, gamma: float, evidence: Evidence | None, mining_seconds: float) -> None:
        """Train the model that this evidence supervises, test it and append the record."""
        if (variant, rounds, gamma) in self.task.done:
            return
        config = self.workshop.config.updated({"gamma": gamma})
        watcher = _Watcher() if evidence is None else Silent()
        shop = Workshop(config, None, self.workshop.materials, watcher)
        began = time.perf_counter()
        supervision = None if evidence is None else shop.supervise(evidence)
        model = shop.new_model()
        if isinstance(watcher, _Watcher):
            watcher.watch(lambda: self._scores(shop, model))
        shop.train("initial" if evidence is None else "final", model, self.epochs, supervision=supervision)
        seconds = time.perf_counter() - began
        scores, predicted = self._scores(shop, model)
        record = asdict(self.task.cell) | {
            "variant": variant,
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
        with self.task.out.open("a") as handle:
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


def _mine(workshop: Workshop, settings: dict[str, Any], epochs: int) -> Evidence:
    shop = Workshop(workshop.config.updated(settings), None, workshop.materials, Silent())
    if settings["method"] == "consensus":
        return consensus.mine_evidence(shop, epochs)
    return progressive.mine_evidence(shop, shop.train("initial", shop.new_model(), epochs), epochs)


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
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--vectors", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--plan", choices=sorted(PLANS), required=True)
    parser.add_argument("--data-sets", default="laptop,rest")
    parser.add_argument("--models", default="memnet,tnet_att")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    cells = [
        Cell(data_set, model, seed)
        for seed in range(arguments.seeds)
        for model in reversed(arguments.models.split(","))
        for data_set in reversed(arguments.data_sets.split(","))
    ]
    done: dict[Cell, set[tuple[str, int, float]]] = {}
    if arguments.out.is_file():
        for line in arguments.out.read_text().splitlines():
            record = json.loads(line)
            cell = Cell(record["data_set"], record["model"], record["seed"])
            done.setdefault(cell, set()).add((record["variant"], record["rounds"], record["gamma"]))
    os.environ["OMP_NUM_THREADS"] = "1"
    tasks = [
        Task(
            cell,
            PLANS[arguments.plan],
            arguments.data,
            arguments.vectors,
            arguments.out,
            arguments.held_out,
            arguments.device,
            frozenset(done.get(cell, ())),
        )
        for cell in cells
    ]
    # Spawned, not forked: a forked process cannot use CUDA.
    with ProcessPoolExecutor(arguments.jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        for number, future in enumerate(as_completed([pool.submit(run_cell, task) for task in tasks]), start=1):
            print(f"{number}/{len(tasks)} {future.result()}", flush=True)


if __name__ == "__main__":
    main()
