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
import os
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pssa.data import Corpus, hold_out, read
from pssa.data.evidence import Evidence
from pssa.data.evidence_edit import keep_iterations
from pssa.data.opinion_words import evidence_from_opinion_words, read_opinion_words
from pssa.evaluation import predict_classes, score
from pssa.runs.config import Config
from pssa.runs.methods import consensus, progressive
from pssa.runs.train import prepare
from pssa.runs.workshop import Workshop
from pssa.training import Silent

# variant -> settings of its mining
VARIANTS: dict[str, dict[str, Any]] = {
    "aw": {"method": "aw-as"},
    "pg": {"method": "pg-as"},
    "rm": {"method": "rm-as"},
    "aw-1": {"method": "aw-as", "round_epochs": 1},
    "pg-1": {"method": "pg-as", "round_epochs": 1},
    "aw-restart": {"method": "aw-as", "start": "restart"},
    "pg-restart": {"method": "pg-as", "start": "restart"},
    "aw-folds": {"method": "aw-as", "folds": 5, "iterations": 1},
    "pg-folds": {"method": "pg-as", "folds": 5, "iterations": 1},
    "aw-stop": {"method": "aw-as", "stop_drop": 0.05},
    "consensus": {"method": "consensus"},
}


@dataclass(frozen=True)
class Plan:
    """Which finals are trained: (variant, rounds, gammas)."""

    finals: tuple[tuple[str, int, tuple[float, ...]], ...]
    human_gammas: tuple[float, ...] = ()


PLANS = {
    "smoke": Plan((("aw", 1, (2.0,)),), human_gammas=(2.0,)),
    "tuning": Plan(
        (
            ("aw", 5, (0.5, 2.0, 8.0)),
            ("aw", 1, (0.5, 2.0, 8.0)),
            ("pg", 5, (0.5, 2.0, 8.0)),
            ("pg", 1, (0.5, 2.0, 8.0)),
            ("aw-1", 5, (2.0,)),
            ("pg-1", 5, (2.0,)),
            ("aw-restart", 5, (2.0,)),
            ("pg-restart", 5, (2.0,)),
            ("aw-stop", 5, (2.0,)),
        ),
        human_gammas=(0.5, 2.0, 8.0),
    ),
    "test": Plan(
        (
            ("aw", 5, (0.0,)),
            ("aw", 2, (0.0,)),
            ("aw", 1, (0.0,)),
            ("pg", 5, (0.0,)),
            ("pg", 2, (0.0,)),
            ("pg", 1, (0.0,)),
            ("rm", 5, (0.0,)),
            ("aw-folds", 1, (0.0,)),
            ("pg-folds", 1, (0.0,)),
            ("consensus", 1, (0.0,)),
        ),
        human_gammas=(0.0,),
    ),
}


@dataclass(frozen=True)
class Cell:
    """A data set, a model and a seed."""

    data_set: str
    model: str
    seed: int


def run_cell(cell: Cell, plan: Plan, data: Path, vectors: Path, held_out: bool) -> list[dict[str, Any]]:
    """Everything of one cell, as plain records."""
    import torch

    torch.set_num_threads(1)
    corpus = read(data / cell.data_set / "train.txt")
    opinion_words = data / "opinion_words" / cell.data_set / "train.tsv"
    if held_out:
        train_rows, test_rows = hold_out(corpus, 0.2, 1000 + cell.seed)
        corpus, test = corpus.select(train_rows), corpus.select(test_rows)
    else:
        test = read(data / cell.data_set / "test.txt")
    config = Config().updated({"model": cell.model, "seed": cell.seed, "vectors": str(vectors), "device": "cpu"})
    config, materials = prepare(corpus, None, config)
    workshop = Workshop(config, None, materials, Silent())
    epochs = workshop.find_epochs()
    human = None
    if opinion_words.is_file():
        human = evidence_from_opinion_words(read_opinion_words(opinion_words), corpus).evidence
    return list(_records(cell, plan, workshop, test, epochs, human))


def _records(
    cell: Cell, plan: Plan, workshop: Workshop, test: Corpus, epochs: int, human: Evidence | None
) -> Iterator[dict[str, Any]]:
    def final(variant: str, rounds: int, gamma: float, evidence: Evidence | None, seconds: float) -> dict[str, Any]:
        own = replace(workshop.config, supervision=replace(workshop.config.supervision, gamma=gamma))
        # A workshop of its own, since the gamma is part of the configuration; data as tensors is made again.
        shop = Workshop(own, None, workshop.materials, Silent())
        began = time.perf_counter()
        supervision = None if evidence is None else shop.supervise(evidence)
        stage = "initial" if evidence is None else "final"
        model = shop.train(stage, shop.new_model(), epochs, supervision=supervision)
        took = time.perf_counter() - began
        labels = workshop.config.data.labels
        predicted = [labels[number] for number in predict_classes(model, shop.index(test)).tolist()]
        scores = score([example.label or "" for example in test], predicted, labels)
        return {
            "data_set": cell.data_set,
            "model": cell.model,
            "seed": cell.seed,
            "variant": variant,
            "rounds": rounds,
            "gamma": gamma,
            "epochs": epochs,
            "accuracy": scores.accuracy,
            "macro_f1": scores.macro_f1,
            "seconds": took,
            "mining_seconds": seconds,
            "agreement": None if evidence is None or human is None else _agreement(evidence, human),
            "mining": None if evidence is None else [vars_of(r) for r in evidence.header.rounds],
            "predicted": "".join(label[:3] for label in predicted),
        }

    yield final("base", 0, 0.0, None, 0.0)
    for gamma in plan.human_gammas if human is not None else ():
        yield final("human", 1, gamma, human, 0.0)
    for variant, finals in itertools.groupby(plan.finals, key=lambda row: row[0]):
        began = time.perf_counter()
        evidence = _mine(workshop, VARIANTS[variant], epochs)
        seconds = time.perf_counter() - began
        for _, rounds, gammas in finals:
            for gamma in gammas:
                yield final(variant, rounds, gamma, keep_iterations(evidence, rounds), seconds)


def vars_of(report: Any) -> dict[str, float]:
    """A round's report as plain values."""
    return {name: getattr(report, name) for name in type(report).__dataclass_fields__}


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
    arguments = parser.parse_args()
    cells = [
        Cell(data_set, model, seed)
        for seed in range(arguments.seeds)
        for model in reversed(arguments.models.split(","))
        for data_set in reversed(arguments.data_sets.split(","))
    ]
    done = set()
    if arguments.out.is_file():
        records = [json.loads(line) for line in arguments.out.read_text().splitlines()]
        done = {Cell(record["data_set"], record["model"], record["seed"]) for record in records}
    os.environ["OMP_NUM_THREADS"] = "1"
    plan = PLANS[arguments.plan]
    with ProcessPoolExecutor(arguments.jobs) as pool:
        futures = [
            pool.submit(run_cell, cell, plan, arguments.data, arguments.vectors, arguments.held_out)
            for cell in cells
            if cell not in done
        ]
        for number, future in enumerate(as_completed(futures), start=1):
            records = future.result()
            with arguments.out.open("a") as handle:
                handle.writelines(json.dumps(record) + "\n" for record in records)
            first = records[0]
            print(f"{number}/{len(futures)} {first['data_set']} {first['model']} seed {first['seed']}", flush=True)


if __name__ == "__main__":
    main()
