"""How fast an encoder trains on a CPU: an epoch as `pssa train` does it, as earlier versions did, and each change alone.

    OMP_NUM_THREADS=2 python benchmarks/encoder_training.py --train FILE --encoder FOLDER --sentences 1200

The ways take turns, so that a busy machine disturbs all alike. Processor seconds are disturbed least, with one thread. Mining and
scoring are measured on the same instances, with the last trained model of each way.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import groupby, islice
from statistics import median
from typing import Any

import torch
from torch import nn

from pssa import read
from pssa.data import Corpus
from pssa.evaluation import predict_logits
from pssa.models import attends
from pssa.runs.prepared_data import prepare
from pssa.runs.run_context import RunContext
from pssa.runs.settings import Config
from pssa.saliency import build, observe
from pssa.training import Observer, Task, fit

EARLIER = {"precision": "float32", "share_sentences": False}
WAYS: dict[str, dict[str, Any]] = {
    "earlier": EARLIER,
    "bfloat16 alone": EARLIER | {"precision": "bfloat16"},
    "shared alone": EARLIER | {"share_sentences": True},
    "now": {},
}


def first_sentences(path: str, n_sentences: int) -> Corpus:
    """Return the instances of the first sentences of a file."""
    corpus = read(path)
    groups = groupby(range(len(corpus)), key=lambda row: corpus[row].sentence_id)
    return corpus.select([row for _, rows in islice(groups, n_sentences) for row in rows])


def open_way(corpus: Corpus, model: str, encoder: str, changes: dict[str, Any]) -> RunContext:
    """Return what trains the model in one of the ways."""
    given = {"model": model, "encoder": encoder, "device": "cpu", "min_steps": 0, **changes}
    config, prepared_data = prepare(corpus, None, Config().updated(given))
    return RunContext(config, None, prepared_data, Observer())


def train(context: RunContext, model: nn.Module) -> None:
    """Train for an epoch."""
    settings = replace(context.settings, schedule="constant")
    fit(model, Task(context.train_data, 0, "speed"), settings, 1)


def score(context: RunContext, model: nn.Module) -> None:
    """Predict every instance."""
    predict_logits(model, context.train_data)


def mine(context: RunContext, model: nn.Module) -> None:
    """Score the words of every instance."""
    observe(model, context.train_data, build("gradient", {}))


WORKS: dict[str, Callable[[RunContext, nn.Module], None]] = {
    "an epoch": train,
    "scoring": score,
    "mining by gradient": mine,
}


def spent(work: Callable[[], object]) -> tuple[float, float]:
    """Return the wall time and the processor seconds of a call."""
    began = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - began[0], time.process_time() - began[1]


def main() -> None:
    """Measure and print a line of JSON for each model and each kind of work."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", required=True)
    parser.add_argument("--encoder", required=True)
    parser.add_argument("--models", default="bertabsa_att,bertabsa,bertabsa_cls")
    parser.add_argument("--sentences", type=int, default=40)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    corpus = first_sentences(arguments.train, arguments.sentences)
    for name in arguments.models.split(","):
        contexts = {way: open_way(corpus, name, arguments.encoder, changes) for way, changes in WAYS.items()}
        models: dict[str, nn.Module] = {way: context.new_model() for way, context in contexts.items()}

        for what, work in WORKS.items():
            if what == "mining by gradient" and not attends(name):
                continue
            found = {way: list[tuple[float, float]]() for way in WAYS}
            for _ in range(arguments.repeats):
                for way in WAYS:
                    found[way].append(spent(partial(work, contexts[way], models[way])))
            wall, processor = (
                {way: median(each[place] for each in times) for way, times in found.items()} for place in (0, 1)
            )
            line = {"model": name, "what": what, "instances": len(corpus), "threads": torch.get_num_threads()}
            line |= {"wall": wall, "processor": processor}
            line |= {"times as fast": {way: round(processor["earlier"] / processor[way], 2) for way in WAYS}}
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
