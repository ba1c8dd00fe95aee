"""How much faster an epoch is than a plain loop that pads every sentence to the corpus maximum, same model, same run.

    python benchmarks/speed.py --train FILE --vectors F

Both train the same model on the same batches of examples in turns, so that a noisy machine disturbs both alike; medians are
compared.
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import replace
from pathlib import Path

import torch

from pssa.models import IndexedCorpus
from pssa.runs.prepared_data import prepare
from pssa.runs.run_context import RunContext
from pssa.runs.settings import Config
from pssa.training import NullObserver, Task, fit


def padded(corpus: IndexedCorpus) -> IndexedCorpus:
    """Pad every row to the widest."""
    return replace(corpus, widths=corpus.widths.amax(dim=0).expand_as(corpus.widths))


def seconds_of_an_epoch(context: RunContext, corpus: IndexedCorpus, stage: str) -> float:
    """Return the wall time of the second epoch; the first warms up."""
    model = context.new_model()
    fit(model, Task(corpus, 0, stage), context.settings, 1)
    began = time.perf_counter()
    fit(model, Task(corpus, 0, stage), context.settings, 1)
    return time.perf_counter() - began


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--model", default="tnet_att")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    settings = {"model": arguments.model, "device": "cpu", "vectors": str(arguments.vectors or "")}
    config, prepared_data = prepare(arguments.train, None, Config().updated(settings))
    context = RunContext(config, None, prepared_data, NullObserver())
    bucketed, wide = context.train_data, padded(context.train_data)
    ours, plain = [], []
    for repeat in range(arguments.repeats):
        ours.append(seconds_of_an_epoch(context, bucketed, f"ours-{repeat}"))
        plain.append(seconds_of_an_epoch(context, wide, f"plain-{repeat}"))
    ratio = statistics.median(plain) / statistics.median(ours)
    print(
        f"{arguments.model}, {len(bucketed)} instances, {torch.get_num_threads()} threads: bucketed "
        f"{statistics.median(ours):.2f} s an epoch, padded {statistics.median(plain):.2f} s, ratio {ratio:.2f}"
    )


if __name__ == "__main__":
    main()
