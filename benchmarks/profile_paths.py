"""Where the time goes on each hot path, against the arithmetic floor of this processor.

    python benchmarks/profile_paths.py --data DIR/laptop --vectors F --encoder FOLDER --out F.json

Paths: a training epoch, a look of PG mining, and scoring, with MN, TNet-ATT and BERTABSA-ATT. For each, wall time without a
profiler; shares of kinds of operators by torch.profiler; and the floor: the floating-point operations of its matrix products at
the best rate that a square matrix product reaches in the same run. Scoring is also cut into its stages, from reading to writing.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from harness import load_average, machine
from profile_stages import stages_of_scoring
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode

import pssa
from pssa import models
from pssa.evaluation import predict_logits
from pssa.models import IndexedCorpus
from pssa.runs.prepared_data import prepare
from pssa.runs.resolve import build_saliency
from pssa.runs.run_context import RunContext
from pssa.runs.settings import Config
from pssa.saliency import observe
from pssa.training import NullObserver, Task, fit

# An operator is of the first kind whose word is in its name.
_KINDS = {
    "optimiser": ("adam", "foreach", "clip"),
    "attention kernel": ("scaled_dot_product",),
    "convolution": ("conv",),
    "LSTM": ("lstm", "rnn"),
    "matrix products": ("mm", "linear", "matmul"),
    "norm, softmax, activation": ("norm", "softmax", "gelu", "tanh", "sigmoid", "relu", "nll", "max_pool"),
    "look-up and gather": ("index", "embedding", "gather", "scatter", "select"),
    "copies and fills": ("copy", "cat", "clone", "fill", "zero", "contiguous", "_to_", "repeat", "empty", "stack"),
}


def lstm_flops(words: Sequence[int], *others: Any, out_shape: Any = None, **more: Any) -> int:
    """Count one direction: four gates per unit, each from the input and from the state; `words` is (N, B, D)."""
    gates: int = others[3][-1]  # a bias has one value for each
    return 2 * words[0] * words[1] * gates * (words[2] + gates // 4)


def lstm_backward_flops(words: Sequence[int], *others: Any, out_shape: Any = None, **more: Any) -> int:
    """Count the gradients of inputs and weights: twice the forward pass."""
    return 2 * lstm_flops(words, *others)


# The counter does not know this library's LSTM kernel.
_LSTM: Any = {
    torch.ops.aten.mkldnn_rnn_layer: lstm_flops,
    torch.ops.aten.mkldnn_rnn_layer_backward: lstm_backward_flops,
}


@dataclass(frozen=True)
class HotPath:
    """Measurements of one hot path."""

    name: str
    instances: int
    seconds: float
    gigaflops: float  # of its matrix products
    floor: float  # seconds they take at the measured peak
    shares: dict[str, float]  # of wall time, by kind of operator

    def row(self) -> str:
        """Return a line of Markdown."""
        places = sorted(self.shares.items(), key=lambda item: -item[1])
        where = ", ".join(f"{name} {100 * share:.0f} %" for name, share in places if share >= 0.03)
        each, floor = 1e3 * self.seconds / self.instances, 1e3 * self.floor / self.instances
        return f"| {self.name} | {each:.3f} | {floor:.3f} | {100 * floor / each:.0f} % | {where} |"


def matrix_peak(size: int = 1536, seconds: float = 2.0) -> float:
    """Return the operations per second of the fastest float32 product of square matrices."""
    left, right = torch.randn(size, size), torch.randn(size, size)
    best = float("inf")
    ends = time.perf_counter() + seconds
    while time.perf_counter() < ends:
        began = time.perf_counter()
        left @ right
        best = min(best, time.perf_counter() - began)
    return 2 * size**3 / best


def kind_of(operator: str) -> str:
    """Return the kind of an operator."""
    found = (kind for kind, words in _KINDS.items() if any(word in operator for word in words))
    return next(found, "other operators")


def measure(name: str, work: Callable[[], object], instances: int, peak: float, repeats: int) -> HotPath:
    """Time a path, count its operations and profile it."""
    work()
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    with FlopCounterMode(display=False, custom_mapping=_LSTM) as counter:
        work()
    began = time.perf_counter()
    with profile(activities=[ProfilerActivity.CPU]) as seen:
        work()
        profiled = time.perf_counter() - began
    shares: defaultdict[str, float] = defaultdict(float)
    for event in seen.key_averages():
        if event.key.startswith(("aten::", "mkldnn", "mkl")):
            shares[kind_of(event.key.lower())] += event.self_cpu_time_total / 1e6 / profiled
    shares["Python and the rest"] = max(0.0, 1 - sum(shares.values()))
    flops = counter.get_total_flops()
    return HotPath(name, instances, statistics.median(times), flops / 1e9, flops / peak, dict(shares))


def paths_of(context: RunContext, few: int) -> dict[str, tuple[Callable[[], object], int]]:
    """Return the hot paths of one model by name: a callable and its number of instances."""
    data = context.train_data.select(range(min(few, len(context.train_data))))
    model, name = context.new_model(), context.config.model
    saliency = build_saliency(context.config, "gradient")
    return {
        f"training, {name}": (lambda: _epoch(context, model, data), len(data)),
        f"PG mining, {name}": (lambda: observe(model, data, saliency), len(data)),
        f"scoring, {name}": (lambda: predict_logits(model, data, 16 if models.uses_encoder(name) else 64), len(data)),
    }


def _epoch(context: RunContext, model: torch.nn.Module, data: IndexedCorpus) -> None:
    fit(model, Task(data, 0, "profile"), context.settings, 1)


def context_of(model: str, arguments: argparse.Namespace) -> RunContext:
    """Prepare a model and the data set for training and mining."""
    start = {"encoder": str(arguments.encoder)} if model.startswith("bertabsa") else {"vectors": str(arguments.vectors)}
    settings: dict[str, Any] = {"model": model, "method": "pg-as", "epochs": 1, "device": "cpu", **start}
    config, prepared_data = prepare(arguments.data / "train.txt", None, Config().updated(settings))
    return RunContext(config, None, prepared_data, NullObserver())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with train.txt and test.txt")
    parser.add_argument("--vectors", type=Path, required=True)
    parser.add_argument("--encoder", type=Path, required=True)
    parser.add_argument("--models", default="memnet,tnet_att,bertabsa_att")
    parser.add_argument("--instances", type=int, default=2291, help="instances for models on word vectors")
    parser.add_argument("--encoder-instances", type=int, default=192)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--run", type=Path, action="append", default=[], help="run whose scoring to split into stages")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    before, peak = load_average(), matrix_peak()
    print(f"{torch.get_num_threads()} threads, {peak / 1e9:.0f} Gflop/s of float32 products\n")
    print("| path | ms an instance | floor, ms | of the floor | where the time goes |\n|---|---|---|---|---|")
    found = []
    for model in arguments.models.split(","):
        few = arguments.encoder_instances if model.startswith("bertabsa") else arguments.instances
        for name, (work, instances) in paths_of(context_of(model, arguments), few).items():
            found.append(measure(name, work, instances, peak, arguments.repeats))
            print(found[-1].row(), flush=True)
    stages = {str(run.name): stages_of_scoring(run, pssa.read(arguments.data / "test.txt")) for run in arguments.run}
    for name, parts in stages.items():
        whole = sum(parts.values())
        print(f"\n{name}: " + ", ".join(f"{stage} {each:.0f} us ({each / whole:.0%})" for stage, each in parts.items()))
    if arguments.out:
        load = {"before": before, "after": load_average()}
        whole_record = {"machine": machine(), "load": load, "peak": peak, "paths": [asdict(p) for p in found]}
        arguments.out.write_text(json.dumps({**whole_record, "stages": stages}, indent=1) + "\n")


if __name__ == "__main__":
    main()
