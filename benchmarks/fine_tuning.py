"""Held-out trials behind results/defaults.md: few labels on top of the starter, and the learning rate of such a training.

    python benchmarks/fine_tuning.py --train laptop/train.txt --out fine-tuning.jsonl

A fifth of train, held out by sentence, judges; no test file is opened.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pssa
from pssa.data.example import Corpus
from pssa.data.io import read

RATES = (1e-3, 3e-4, 1e-4)
SHORT_STEPS = 100
START: dict[str, Any] = {"from_pretrained": "starter"}
TRIALS: dict[str, dict[str, Any] | None] = {
    "starter untouched": None,
    "scratch, starter's vectors": {"vectors": "starter"},
    **{f"from starter, lr {rate:g}": {**START, "learning_rate": rate} for rate in RATES},
    **{
        f"from starter, lr {rate:g}, {SHORT_STEPS} steps": {**START, "learning_rate": rate, "min_steps": SHORT_STEPS}
        for rate in RATES
    },
}


def divide(corpus: Corpus, size: int, seed: int) -> tuple[Corpus, Corpus]:
    """Return `size` instances to train on, and those of a fifth of the sentences, which judge."""
    sentences = sorted({example.text for example in corpus})
    random.Random(seed).shuffle(sentences)
    held = set(sentences[: len(sentences) // 5])
    rest = [example for example in corpus if example.text not in held]
    random.Random(seed).shuffle(rest)
    judging = tuple(example for example in corpus if example.text in held)
    return replace(corpus, examples=tuple(rest[:size])), replace(corpus, examples=judging)


def run_trial(settings: dict[str, Any] | None, corpus: Corpus, size: int, seed: int) -> dict[str, Any]:
    """Train on few instances, unless there are no settings, and judge."""
    few, judging = divide(corpus, size, seed)
    with tempfile.TemporaryDirectory() as folder:
        run: str | Path = "starter"
        if settings is not None:
            run = pssa.train(few, Path(folder) / "run", seed=seed, device="cpu", progress=False, **settings)
        scores = pssa.evaluate(run, judging).scores
    return {"held_out": len(judging), "accuracy": scores.accuracy, "macro_f1": scores.macro_f1}


def main() -> None:
    """Run the trials one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--size", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    corpus = read(arguments.train)
    for name, settings in TRIALS.items():
        for seed in range(arguments.seeds):
            known = {"trial": name, "seed": seed, "data": arguments.train.parent.name, "size": arguments.size}
            record = known | run_trial(settings, corpus, arguments.size, seed)
            with arguments.out.open("a") as file:
                file.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
