"""Rows per second of `pssa predict` on a GPU, the share of its matrix peak, and what the methods cost: one run, in turns.

    python benchmarks/gpu_scoring.py --encoder FOLDER --data DIR --out F.json

The folder needs a configuration and a tokenizer; weights are random, in the shapes of MPNet and BERT-large, which takes the same
time. `pssa predict` stands beside the pipeline of Hugging Face, with the best of a few batch sizes and in bfloat16, and beside
eight processes that each hold the model: start the daemon of CUDA MPS for them. A rate is of the rows that a job has more than
one of a third of its size, in the time that it takes longer: what has to start costs both the same, if a third of the rows
outlasts it. `whole job` counts loading the run as well. The peak is that of a large product of matrices in bfloat16, and
only pieces that are no padding count. Each measurement is written at once, and none begins after `--seconds`.
`--tiny` tries everything on a CPU.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from harness import Request, machine, open_corpora, seconds_of, write_rows
from scoring import open_pipeline

from pssa import models
from pssa.cli._output import print_table
from pssa.data import Corpus
from pssa.data.example import DEFAULT_LABELS, Example
from pssa.evaluation import predict_logits
from pssa.models import Pretrained
from pssa.predict import Job, LocalEngine, ProcessEngine, Scoring, predict
from pssa.runs import load, train
from pssa.runs.featurizer import PieceFeaturizer
from pssa.runs.input_profile import InputProfile
from pssa.runs.saved_model import Description, save_weights
from pssa.runs.torch_runtime import TorchRuntime

_MODEL = "bertabsa_att"
_LARGE = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}
_TINY = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
_PIPELINE_BATCHES, _FEW = (64, 128, 256, 512), 1024
_PEAK_SIZE = 8192
_PROCESSES = 8
_METHODS = ("base", "aw-as", "pg-as")
_DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


class Results:
    """What was measured, written to a file after each measurement, until the time is over."""

    def __init__(self, path: Path, seconds: float) -> None:
        self.path, self.began, self.seconds = path, time.perf_counter(), seconds
        self.found: dict[str, Any] = {"machine": machine()}
        self.rows: list[list[str]] = []

    def measure(self, name: str, work: Callable[[], Any], least: float = 0) -> Any:
        """Measure unless fewer than `least` seconds are left; an error is written down, and the next one is measured."""
        began = time.perf_counter() - self.began
        try:
            value = work() if self.seconds - began > least else "no time left"
        except Exception:
            value = traceback.format_exc()[-1500:]
        self.found[name] = value
        passed = time.perf_counter() - self.began - began
        print(f"{began:5.1f} s {name} [{passed:.1f} s]: {value}", file=sys.stderr, flush=True)
        self.rows.append([name, value[-60:] if isinstance(value, str) else json.dumps(value)])
        self.path.write_text(json.dumps(self.found, indent=1) + "\n")
        return value

    def ratio(self, name: str, first: str, second: str) -> None:
        """Note one rate as a multiple of another, of a peak by the operations of a row."""

        def divide() -> float:
            factor = self.found["large: loop"]["operations a row"] if second == "peak" else 1
            return round(float(factor * self.found[first]["rows/s"] / self.found[second]["rows/s"]), 4)

        both = isinstance(self.found.get(first), dict) and isinstance(self.found.get(second), dict)
        self.measure(name, divide if both else lambda: "not measured", -math.inf)


class Bench:
    """A run with random weights, and files of rows to score."""

    def __init__(self, folder: Path, encoder: Pretrained, corpus: Corpus) -> None:
        self.folder, self.corpus, self.run = folder, corpus, folder / "run"
        self.run.mkdir(parents=True)
        model, featurizer = (
            models.build(_MODEL, encoder, len(DEFAULT_LABELS), {}, seed=0),
            PieceFeaturizer(encoder, False),
        )
        save_weights(self.run, model, Description(_MODEL, {"dropout": 0.1}, DEFAULT_LABELS), featurizer)
        InputProfile.of(corpus).save(self.run)

    def rows(self, count: int) -> Path:
        """Return a file of so many rows, each with a text of its own unless the corpus asks about one twice."""
        path = self.folder / f"rows-{count}.jsonl"
        return path if path.exists() else write_rows(self.corpus, count, path)

    def predict(self, count: int, workers: int = 0) -> dict[str, float]:
        """Return rows per second of `pssa predict`: reading, cutting into pieces, computing and writing."""
        few, many = self._seconds(count // 3, workers), self._seconds(count, workers)
        return {"rows/s": round((count - count // 3) / (many - few)), "whole job": round(count / many), "few": few}

    def _seconds(self, count: int, workers: int) -> float:
        """Return the seconds of a job, loading the run included."""
        reports: list[float] = []
        given = (str(self.rows(count)),), str(self.folder / "out.jsonl")
        job = Job(self.run, *given, begin="replace", scoring=Scoring(device=_DEVICE))
        engine = ProcessEngine(workers) if workers else LocalEngine(has_helpers=True)
        predict(job, engine, lambda progress: reports.append(time.perf_counter()))
        return round(reports[-1] - reports[0], 3)

    def pipeline(self, count: int) -> dict[str, float]:
        """Return rows per second of the Hugging Face pipeline with the best of a few batch sizes."""
        classify = open_pipeline(self.run / "encoder", len(DEFAULT_LABELS))
        with self.rows(count).open(encoding="utf-8") as lines:
            rows = [json.loads(line) for line in islice(lines, count)]
        pairs = [{"text": row["text"], "text_pair": row["aspect"]} for row in rows]
        few = pairs[:_FEW]
        classify(few[:64], batch_size=32)
        times = {size: seconds_of(partial(classify, few, batch_size=size)) for size in _PIPELINE_BATCHES}
        best = min(times, key=times.__getitem__)
        return {"rows/s": round(count / seconds_of(partial(classify, pairs, batch_size=best))), "batch": best}

    def loop(self, count: int) -> dict[str, float]:
        """Return rows per second of the model alone on tensors that are ready, and the operations of a row without padding."""
        runtime: TorchRuntime = load(self.run, device=_DEVICE).torch
        runtime.narrow()
        with self.rows(count).open(encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        indexed = runtime.index([Example.from_text(row["text"], (row["from"], row["to"])) for row in rows])
        member: Any = runtime.model
        work = partial(predict_logits, member, indexed, runtime.usual_batch)
        work()
        lengths, config = indexed.widths[:, 0].double(), member.encoder.body.config
        layers = sum(p.numel() for name, p in member.encoder.named_parameters() if "layer" in name and p.dim() == 2)
        attention = 4 * config.num_hidden_layers * config.hidden_size * lengths.square().mean()
        operations = float(2 * layers * lengths.mean() + attention)
        widths = {f"width {width}, {name}": share for width in (24, 32) for name, share in self._alone(member, width)}
        return {"rows/s": round(count / seconds_of(work)), "operations a row": operations, **widths}

    @staticmethod
    def _alone(member: Any, width: int, n_rows: int = 1024) -> list[tuple[str, float]]:
        """Return operations per second of the encoder alone, with a mask for attention and without."""
        body, config = member.encoder.body, member.encoder.body.config
        ids = torch.full((n_rows, width), 2000, device=_DEVICE)
        mask = torch.ones(n_rows, 1, width, width, dtype=torch.bool, device=_DEVICE)
        layer = 8 * config.hidden_size**2 + 4 * config.hidden_size * config.intermediate_size
        operations = config.num_hidden_layers * n_rows * width * (layer + 4 * config.hidden_size * width)
        found = []
        for name, given in (("mask", mask), ("no mask", None)):
            work = partial(body, input_ids=ids, attention_mask=given)
            with torch.no_grad():
                found.append((name, 3 * operations / _seconds(lambda: [work() for _ in range(3)])))  # noqa: B023
        return found


def measure_peak() -> dict[str, float]:
    """Return the floating-point operations per second of a large product in bfloat16."""
    size = _PEAK_SIZE if _DEVICE == "cuda" else 256
    left, right = (torch.randn(size, size, device=_DEVICE, dtype=torch.bfloat16) for _ in range(2))
    return {"rows/s": 2 * size**3 * 20 / _seconds(lambda: [left @ right for _ in range(20)])}


def _seconds(work: Callable[[], Any]) -> float:
    """Return the seconds of a second call, with what a GPU computes."""

    def whole() -> None:
        work()
        if _DEVICE == "cuda":
            torch.cuda.synchronize()

    whole()
    return seconds_of(whole)


def measure_trainings(results: Results, folder: Path, encoder: Pretrained, corpus: Corpus) -> None:
    """Measure whole trainings: everything that `pssa train` does after its start."""
    source = folder / "random"
    encoder.save(source)
    body: Any = encoder.body(None, 0.1)
    body.save_pretrained(source)
    settings: dict[str, Any] = {"model": _MODEL, "encoder": str(source), "min_steps": 0, "device": _DEVICE}
    train(corpus.select(range(64)), folder / "warm", epochs=1, **settings)
    for method in _METHODS:
        work = partial(train, corpus, folder / method, method=method, **settings)
        results.measure(f"training, {method}", lambda: {"rows/s": len(corpus) / seconds_of(work)}, 30)  # noqa: B023
    for method in _METHODS[1:]:
        results.ratio(f"{method} in plain trainings", "training, base", f"training, {method}")


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", type=Path, required=True, help="folder with config.json and a tokenizer")
    parser.add_argument("--data", type=Path, help="folder with laptop/train.txt and others (default: embedded corpus)")
    parser.add_argument("--rows", type=int, default=1 << 18, help="rows to score (default 262144)")
    parser.add_argument("--seconds", type=float, default=185, help="time after which nothing new is measured")
    parser.add_argument("--tiny", action="store_true", help="tiny shapes, to try the script")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    import transformers

    results, corpora = Results(given.out, given.seconds), open_corpora(Request(given.data))
    read = Pretrained.load(given.encoder)
    shape: dict[str, Any] = {"vocab_size": len(read.tokenizer), **(_TINY if given.tiny else {})}
    usual = Pretrained(transformers.MPNetConfig(**shape), read.tokenizer)
    large = Pretrained(transformers.BertConfig(**(_LARGE | shape)), read.tokenizer)
    with tempfile.TemporaryDirectory() as name:
        folder, count = Path(name), given.rows
        bench = Bench(folder / "usual", usual, corpora[1])
        results.measure("peak", measure_peak)
        results.measure("warm-up", partial(bench.predict, count // 16))
        results.measure("predict", partial(bench.predict, count))
        results.measure("pipeline", partial(bench.pipeline, count // 24))
        results.measure("8 processes", partial(bench.predict, count, _PROCESSES))
        results.ratio("predict, times the pipeline", "predict", "pipeline")
        results.ratio("predict, share of 8 processes", "predict", "8 processes")
        first = {example.text: place for place, example in reversed([*enumerate(corpora[1])])}
        wide = Bench(folder / "large", large, corpora[1].select(sorted(first.values())))
        results.measure("large: loop", partial(wide.loop, count // 16))
        results.measure("large: predict", partial(wide.predict, count))
        measure_trainings(results, folder, usual, corpora[0])
        for each in ("loop", "predict"):
            results.ratio(f"large: {each}, share of the peak", f"large: {each}", "peak")
    print_table(f"on {_DEVICE}, {os.cpu_count()} cores", ("", ""), results.rows)


if __name__ == "__main__":
    main()
