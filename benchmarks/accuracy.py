"""Test scores of models and methods on the public data sets, several seeds, honest selection.

    python benchmarks/accuracy.py --data DIR --vectors F --out results/raw/baselines.jsonl --jobs 2
    python benchmarks/accuracy.py ... --methods base,aw-as --set gamma=2 --name gamma-2

Each cell (data set, model, method, seed) is one `pssa train` with the number of epochs chosen on held-out training data, then one
reading of the test set. Cells that the output file has already are not run again, so the script can be stopped and started.
`--held-out` never opens the test file: it trains on 80 % of train and scores the rest, to choose settings.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Cell:
    """One training and one test."""

    data_set: str
    model: str
    method: str
    seed: int
    name: str
    settings: tuple[tuple[str, Any], ...]

    @property
    def key(self) -> str:
        """What tells it from other cells."""
        return json.dumps([self.data_set, self.model, self.method, self.seed, self.name])


def run_cell(cell: Cell, data: Path, vectors: Path, held_out: bool) -> dict[str, Any]:
    """Train, test, and return plain values."""
    import torch

    import pssa
    from pssa.data import hold_out
    from pssa.runs.evaluate import evaluate

    torch.set_num_threads(1)
    corpus = pssa.read(data / cell.data_set / "train.txt")
    if held_out:
        # Another division than the search's own, which is drawn with the seed itself.
        train_rows, test_rows = hold_out(corpus, 0.2, 1000 + cell.seed)
        corpus, test = corpus.select(train_rows), corpus.select(test_rows)
    else:
        test = pssa.read(data / cell.data_set / "test.txt")
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        settings = dict(cell.settings) | {"model": cell.model, "method": cell.method, "seed": cell.seed}
        began = time.perf_counter()
        pssa.train(corpus, run, vectors=str(vectors), device="cpu", **settings)
        seconds = time.perf_counter() - began
        result = evaluate(pssa.load(run), test)
        metrics = json.loads((run / "metrics.json").read_text())
    return asdict(cell) | {
        "accuracy": result.scores.accuracy,
        "macro_f1": result.scores.macro_f1,
        "epochs": metrics["epochs"],
        "seconds": seconds,
        "dev": metrics["dev"],
        "mining": metrics.get("mining"),
        "predicted": list(result.predicted),
    }


def main() -> None:
    """Run what is missing."""
    arguments = _arguments()
    settings = tuple(_setting(text) for text in arguments.set)
    wanted = [
        Cell(data_set, model, method, seed, arguments.name, settings)
        for data_set, model, method, seed in itertools.product(
            arguments.data_sets.split(","),
            arguments.models.split(","),
            arguments.methods.split(","),
            range(arguments.seeds),
        )
    ]
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    done = _done(arguments.out)
    missing = [cell for cell in wanted if cell.key not in done]
    # Workers are single-threaded; that must be known before torch starts its threads.
    os.environ["OMP_NUM_THREADS"] = "1"
    with ProcessPoolExecutor(arguments.jobs) as pool:
        futures = [
            pool.submit(run_cell, cell, arguments.data, arguments.vectors, arguments.held_out) for cell in missing
        ]
        for number, future in enumerate(as_completed(futures), start=1):
            record = future.result()
            with arguments.out.open("a") as handle:
                handle.write(json.dumps(record) + "\n")
            print(
                f"{number}/{len(missing)} {record['data_set']} {record['model']} {record['method']} {record['name']} "
                f"seed {record['seed']}: {100 * record['accuracy']:.2f}/{100 * record['macro_f1']:.2f} "
                f"({record['epochs']} epochs, {record['seconds']:.0f} s)",
                flush=True,
            )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--vectors", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--data-sets", default="laptop,rest,twitter")
    parser.add_argument("--models", default="memnet,tnet,tnet_att")
    parser.add_argument("--methods", default="base")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--name", default="", help="tells apart cells with different settings")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    return parser.parse_args()


def _setting(text: str) -> tuple[str, Any]:
    from pssa.runs.config import parse_value

    key, _, value = text.partition("=")
    return key, parse_value(value)


def _done(path: Path) -> set[str]:
    if not path.is_file():
        return set()
    records = [json.loads(line) for line in path.read_text().splitlines()]
    fields = ("data_set", "model", "method", "seed", "name")
    return {json.dumps([record[field] for field in fields]) for record in records}


if __name__ == "__main__":
    main()
