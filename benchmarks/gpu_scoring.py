"""Rows per second of `pssa predict` in one process on a GPU, beside several processes and the pipeline, and what limits them.

    python benchmarks/gpu_scoring.py --data DIR --encoder MPNET --out F.json --seconds 110
    python benchmarks/gpu_scoring.py --data DIR --encoder BERT_LIKE --shape large --out F.json

The contenders are measured in turns. Then one process is measured again with a clock around each of its stages, and with other
settings: without recorded encoders, other sizes of batches and windows, threads. It stops by itself when `--seconds` have passed;
what was measured until then is in the file. With `--shape large` the encoder has BERT-large's shape and random weights, every row
has a sentence of its own, and the share of the matrix peak that was measured in the same run is reported.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import tempfile
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from harness import Request, machine, open_corpora, trained_run, write_rows
from scoring import pipeline_contender, predict_seconds

from pssa.bulk import Scoring, engines, job, partial_output, scorer, window
from pssa.data import Corpus, plain_tokenizer
from pssa.evaluation import predict as prediction
from pssa.runs import classifier, load

_LARGE = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}
_PIPELINE_ROWS, _TRIAL_ROWS = 1 << 14, 1 << 15
_PEAK_SIZE = 8192
# Settings of one process that are tried, each with what differs from the default.
_TRIALS: tuple[dict[str, int | bool], ...] = (
    {},
    {"graphs": False},
    {"batch": 256},
    {"batch": 512},
    {"batch": 2048},
    {"window": 2048},
    {"window": 8192},
    {"window": 16384},
    {"ahead": 1},
    {"ahead": 4},
    {"threads": 1, "graphs": False},
    {"threads": 2, "graphs": False},
    {"threads": 4, "graphs": False},
    {"threads": 8, "graphs": False},
    {"batch": 256, "graphs": False},
    {"batch": 2048, "graphs": False, "window": 8192},
)


class Results:
    """What was measured, written to a file after each measurement, until the time is over."""

    def __init__(self, path: Path, seconds: float) -> None:
        self.path, self.end, self.found = path, time.perf_counter() + seconds, dict[str, Any](machine=machine())

    def measure(self, name: str, work: Callable[[], Any], least: float = 0) -> None:
        """Measure unless fewer than `least` seconds are left; an error is written down, and the next one is measured."""
        left = self.end - time.perf_counter()
        began = time.perf_counter()
        try:
            value = work() if left > least else f"left out: {left:.0f} s were left"
        except Exception:
            value = traceback.format_exc()[-1500:]
        self.found.setdefault(name, []).append(value)
        print(f"{name} [{time.perf_counter() - began:.1f} s]: {value}", flush=True)
        self.path.write_text(json.dumps(self.found, indent=1) + "\n")


class Clock:
    """Seconds in some functions, without those in others of them."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.gpu: list[tuple[Any, Any]] = []  # events before and after what a window computes
        self._inner = [0.0]

    def around(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with a clock."""

        def timed(*given: Any, **more: Any) -> Any:
            began = time.perf_counter()
            self._inner.append(0.0)
            try:
                return function(*given, **more)
            finally:
                passed = time.perf_counter() - began
                self.seconds[name] += passed - self._inner.pop()
                self._inner[-1] += passed

        return timed

    def around_gpu(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with events in the stream of the GPU before and after what it launches."""

        def timed(*given: Any, **more: Any) -> Any:
            if not torch.cuda.is_available():
                return function(*given, **more)
            events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]  # type: ignore[no-untyped-call]
            events[0].record()
            try:
                return function(*given, **more)
            finally:
                events[1].record()
                self.gpu.append((events[0], events[1]))

        return timed

    def around_result(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function whose result, a function as well, has a clock."""
        return lambda *given, **more: self.around(name, function(*given, **more))

    def around_items(self, name: str, function: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
        """Return a function that returns an iterator whose steps have a clock."""

        def timed(*given: Any, **more: Any) -> Iterator[Any]:
            step = self.around(name, iter(function(*given, **more)).__next__)
            while True:
                try:
                    yield step()
                except StopIteration:
                    return

        return timed


@contextmanager
def timed_stages(clock: Clock) -> Iterator[None]:
    """Put a clock around the stages of a job in one thread."""
    stages: tuple[tuple[Any, str, Callable[[Any], Any]], ...] = (
        (engines.ScoringTask, "windows", lambda f: clock.around_items("read", f)),
        (engines, "parse_given", lambda f: clock.around("parse", f)),
        (plain_tokenizer.PlainTokenizer, "read", lambda f: clock.around("tokenise", f)),
        (classifier.Classifier, "index", lambda f: clock.around("build tensors", f)),
        (classifier, "start_logits", lambda f: clock.around("launch", clock.around_gpu(f))),
        (prediction, "_fetch", lambda f: clock.around_result("wait for the GPU", f)),
        (classifier.Classifier, "answers", lambda f: clock.around("make answers", f)),
        (window, "_encoded", lambda f: clock.around("encode rows", f)),
        (partial_output.PartialOutput, "append", lambda f: clock.around("write", f)),
    )
    with ExitStack() as stack:
        for place, name, wrap in stages:
            stack.enter_context(patch.object(place, name, wrap(getattr(place, name))))
        yield


@contextmanager
def other_settings(window: int = 0, ahead: int = 0, graphs: bool = True, threads: int = 0) -> Iterator[None]:
    """Change constants that no option changes; 0: the default."""
    with ExitStack() as stack:
        if window:
            stack.enter_context(patch.object(job, "default_window_rows", lambda model, device: window))
        if ahead:
            stack.enter_context(patch.object(engines, "_WINDOWS_AHEAD", ahead))
        if not graphs:
            stack.enter_context(patch.object(scorer, "_recorded_encoders", lambda classifier: []))
        if threads:
            stack.enter_context(
                patch.object(
                    engines,
                    "overlap_windows",
                    lambda windows, scorer, form, parse: engines.score_windows(windows, scorer, threads, form, parse),
                )
            )
        yield


class Bench:
    """A run on a GPU, loaded once, and files of rows to score."""

    def __init__(self, run: Path, corpus: Corpus, folder: Path, n_rows: int) -> None:
        self.run, self.folder = run, folder
        self.rows = {
            size: write_rows(corpus, size, folder / f"rows-{size}.jsonl")
            for size in {n_rows, 2 * n_rows, min(n_rows, _PIPELINE_ROWS), min(n_rows, _TRIAL_ROWS)}
        }
        self.n_rows, self.n_many, self.n_trial = n_rows, 2 * n_rows, min(n_rows, _TRIAL_ROWS)
        self.loaded = load(run)

    def rate(self, n_rows: int, batch: int = 0, workers: int = 0, **settings: Any) -> float:
        """Return rows per second; recording encoders counts, loading and starting processes do not."""
        with other_settings(**settings), patch.object(scorer, "load", lambda *given, **more: self.loaded):
            scoring = Scoring(batch_size=batch or None)
            out = self.folder / "out.jsonl"
            # Each process records encoders for its first windows, of which it has few here.
            return n_rows / predict_seconds(self.run, self.rows[n_rows], out, scoring, workers, 3 * workers)

    def stages(self) -> dict[str, float]:
        """Return microseconds a row of each stage, and the share of the time in which the GPU had work."""
        clock = Clock()
        with timed_stages(clock), gpu_use() as use:
            began = time.perf_counter()
            rate = self.rate(self.n_trial)
            passed = time.perf_counter() - began
        found = {name: 1e6 * seconds / self.n_trial for name, seconds in clock.seconds.items()}
        on_gpu = sum(before.elapsed_time(after) for before, after in clock.gpu) / 1000
        whole = {"rows/s": rate, "us a row": 1e6 * passed / self.n_trial, "GPU had work": on_gpu / passed}
        return found | whole | {"nvidia-smi, % of the time": use()}

    def pipeline(self) -> tuple[float, str]:
        """Return rows per second of the Hugging Face pipeline with its best batch size."""
        questions = [json.loads(line) for line in self.rows[min(self.n_rows, _PIPELINE_ROWS)].open(encoding="utf-8")]
        contender = pipeline_contender(self.run / "encoder", len(self.loaded.labels), questions)
        return contender.rows / contender.seconds(), contender.name


@contextmanager
def gpu_use() -> Iterator[Callable[[], float | None]]:
    """Watch the GPU with nvidia-smi; the function returns the mean of what it says, in percent, None without it."""
    name = shutil.which("nvidia-smi")
    if name is None:
        yield lambda: None
        return
    words = [name, "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits", "-lms", "100"]
    with tempfile.TemporaryFile("w+") as lines:
        watching = subprocess.Popen(words, stdout=lines, stderr=subprocess.DEVNULL)

        def mean() -> float | None:
            lines.seek(0)
            found = [float(line) for line in lines.read().splitlines() if line.strip().isdigit()]
            return sum(found) / len(found) if found else None

        try:
            yield mean
        finally:
            watching.terminate()
            watching.wait()


def one_sentence_each(corpus: Corpus) -> Corpus:
    """Return the first instance of each sentence."""
    seen = {example.text: number for number, example in reversed([*enumerate(corpus)])}
    return corpus.select(sorted(seen.values()))


def large_encoder(tokenizer: Path, folder: Path) -> Path:
    """Write an encoder of BERT-large's shape with random weights."""
    import transformers

    found = transformers.AutoTokenizer.from_pretrained(tokenizer)
    config = transformers.BertConfig(vocab_size=len(found), **_LARGE)
    transformers.AutoModel.from_config(config).save_pretrained(folder)
    found.save_pretrained(folder)
    return folder


def measure_peak() -> float:
    """Return the floating-point operations per second of a large bfloat16 product."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    size = _PEAK_SIZE if device == "cuda" else 1024
    left, right = (torch.randn(size, size, device=device, dtype=torch.bfloat16) for _ in range(2))
    for _ in range(3):
        left @ right
    times = 20
    began = _now()
    for _ in range(times):
        left @ right
    return 2 * size**3 * times / (_now() - began)


def operations_per_row(bench: Bench, corpus: Corpus) -> float:
    """Return the floating-point operations that a row takes, counting only pieces that are no padding."""
    member: Any = bench.loaded.members[0]
    lengths = bench.loaded.index(list(corpus)).widths[:, 0].double()
    config = member.encoder.body.config
    layers = sum(p.numel() for name, p in member.encoder.named_parameters() if "layer" in name and p.dim() == 2)
    attention = 4 * config.num_hidden_layers * config.hidden_size * lengths.square().mean()
    return float(2 * layers * lengths.mean() + attention)


def loop_rate(bench: Bench, corpus: Corpus, n_rows: int) -> float:
    """Return rows per second of the model alone, on tensors that are ready."""
    read = scorer.default_batch_size(bench.loaded.name, "cuda")
    examples = [example for _ in range(-(-n_rows // len(corpus))) for example in corpus]
    indexed = bench.loaded.index(examples)
    indexed.table.positions[:, 1] = torch.arange(len(indexed)) % 20_000 + 1000  # every row is a sentence of its own
    prediction.predict_logits(bench.loaded.model, indexed, read)
    began = _now()
    prediction.predict_logits(bench.loaded.model, indexed, read)
    return len(indexed) / (_now() - began)


def measure_base(results: Results, bench: Bench, workers: int, repeats: int) -> None:
    """Measure the contenders in turns, the stages, and other settings."""
    for _ in range(repeats):
        results.measure("one process", lambda: bench.rate(bench.n_rows))
        results.measure("pipeline", bench.pipeline)
        results.measure(f"{workers} processes", lambda: bench.rate(bench.n_many, workers=workers), 30)
    results.measure("ratios", lambda: ratios(results.found, workers))
    results.measure("stages", bench.stages, 5)
    results.measure("stages", bench.stages, 5)
    for trial in _TRIALS:
        shown = ", ".join(f"{name} {value}" for name, value in trial.items()) or "default"
        results.measure(f"trial: {shown}", partial(bench.rate, bench.n_trial, **trial), 5)


def ratios(found: Mapping[str, Any], workers: int) -> dict[str, float]:
    """Return one process over the others; the best of all turns, of each."""
    one, many = (max(_numbers(found[name])) for name in ("one process", f"{workers} processes"))
    pipeline = max(rate for rate, _ in found["pipeline"])
    return {
        "times the pipeline": one / pipeline,
        "share of many": one / many,
        "many, times the pipeline": many / pipeline,
    }


def measure_large(results: Results, bench: Bench, corpus: Corpus) -> None:
    """Measure the share of the matrix peak."""
    per_row = operations_per_row(bench, corpus)
    results.measure("operations a row", lambda: per_row)
    results.measure("peak", measure_peak)
    for _ in range(2):
        results.measure("predict: rows/s", lambda: bench.rate(bench.n_rows))
        results.measure("loop: rows/s", lambda: loop_rate(bench, corpus, bench.n_trial))
        results.measure("peak", measure_peak)
    peak = max(_numbers(results.found["peak"]))
    for name in ("predict", "loop"):
        share = max(_numbers(results.found[f"{name}: rows/s"])) * per_row / peak
        results.measure(f"{name}: share of the peak", partial(float, share))
    results.measure("stages", bench.stages, 5)
    for trial in _TRIALS[:10]:
        shown = ", ".join(f"{name} {value}" for name, value in trial.items()) or "default"
        results.measure(f"trial: {shown}", partial(bench.rate, bench.n_trial, **trial), 5)


def _numbers(values: list[Any]) -> list[float]:
    """Return the measurements without errors and what was left out."""
    return [value for value in values if isinstance(value, float)]


def _now() -> float:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()


def parse() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with laptop/train.txt and laptop/test.txt")
    parser.add_argument("--encoder", required=True, help="folder of an encoder; with --shape, of its tokenizer")
    parser.add_argument("--shape", choices=("own", "large"), default="own")
    parser.add_argument("--rows", type=int, default=1 << 17)
    parser.add_argument("--workers", type=int, default=min(8, os.cpu_count() or 1))
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=110, help="time after which nothing new is measured")
    parser.add_argument("--out", type=Path, required=True)
    return parser.parse_args()


def main() -> None:
    """Measure and write."""
    arguments = parse()
    results = Results(arguments.out, arguments.seconds)
    with tempfile.TemporaryDirectory() as name:
        folder, encoder = Path(name), arguments.encoder
        if arguments.shape == "large":
            encoder = str(large_encoder(Path(arguments.encoder), folder / "large"))
        request = Request(arguments.data, encoder=encoder)
        corpus = open_corpora(request)[1]
        run = trained_run(request, folder)
        if arguments.shape == "large":
            corpus = one_sentence_each(corpus)
            measure_large(results, Bench(run, corpus, folder, arguments.rows), corpus)
        else:
            measure_base(results, Bench(run, corpus, folder, arguments.rows), arguments.workers, arguments.repeats)


if __name__ == "__main__":
    main()
