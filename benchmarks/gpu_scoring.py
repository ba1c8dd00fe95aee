"""Rows per second of `pssa predict` in one process on a GPU, beside several processes and the pipeline, and what limits it.

    python benchmarks/gpu_scoring.py --data DIR --encoder FOLDER --seconds 85 --out F.json

The folder needs a configuration and a tokenizer; weights are random, which takes the same time. The processes start first and
wait. All contenders score the same rows in turns; loading and starting do not count, reading and writing files does, except for
the pipeline. Then one process is measured with a clock around each stage, and with other settings. Last comes an encoder of
BERT-large's shape, each row a sentence of its own, with the share of the matrix peak that is measured in the same run, counting
only pieces that are no padding. Every measurement is written at once, and nothing begins after `--seconds`.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import threading
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from harness import machine, write_rows
from scoring import at_steady_rate, open_pipeline

from pssa import models
from pssa.data import Corpus, plain_tokenizer, read
from pssa.data.example import DEFAULT_LABELS
from pssa.evaluation import predict as prediction
from pssa.evaluation.cuda_graphs import RecordedEncoder
from pssa.execution import ProcessPool, WorkerSetup
from pssa.models import IndexedCorpus, Pretrained
from pssa.predict import (
    Job,
    LocalEngine,
    ProcessEngine,
    Progress,
    Scoring,
    engines,
    job,
    partial_output,
    scorer,
    window,
)
from pssa.predict.output_format import OutputFormat
from pssa.runs import torch_runtime
from pssa.runs.classifier import Classifier
from pssa.runs.featurizer import PieceFeaturizer
from pssa.runs.input_profile import InputProfile
from pssa.runs.saved_model import Description, save_weights
from pssa.runs.torch_runtime import TorchRuntime

_MODEL, _ONE, _PIPELINE = "bertabsa_att", "one process", "Hugging Face pipeline"
_LARGE = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}
_PIPELINE_BATCHES, _FEW = (64, 256), 512
_PEAK_SIZE = 8192
_ENCODED = 1024  # rows of a batch
# Settings of one process that are tried, each with what differs from the default.
_TRIALS: tuple[dict[str, int | bool], ...] = (
    {"graphs": False},
    {"window": 8192},
    {"threads": 2, "graphs": False},
    {"window": 16384},
    {"batch": 256, "graphs": False},
    {"threads": 4, "graphs": False},
    {"ahead": 1},
)
_LARGE_TRIALS: tuple[dict[str, int | bool], ...] = ({"graphs": False}, {"graphs": False, "window": 16384})


class Results:
    """What was measured, written to a file after each measurement, until the time is over."""

    def __init__(self, path: Path, seconds: float) -> None:
        self.path, self.began, self.seconds = path, time.perf_counter(), seconds
        self.found: dict[str, Any] = {}
        self.measure("machine", machine)

    def measure(self, name: str, work: Callable[[], Any], least: float = 0) -> Any:
        """Measure unless fewer than `least` seconds are left; an error is written down, and the next one is measured."""
        began = time.perf_counter() - self.began
        try:
            value = work() if self.seconds - began > least else None
        except Exception:
            value = traceback.format_exc()[-1500:]
        self.found.setdefault(name, []).append(value)
        print(f"{began:5.1f} s {name} [{time.perf_counter() - self.began - began:.1f} s]: {value}", flush=True)
        self.path.write_text(json.dumps(self.found, indent=1) + "\n")
        return value

    def best(self, name: str) -> float:
        """Return the highest rate of a contender; 0 if it was not measured."""
        values = [value["rows/s"] for value in self.found.get(name, ()) if isinstance(value, dict)]
        return max(values, default=0.0)


class Clock:
    """Seconds in some functions, without those in others of them that the same thread calls."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.gpu: list[tuple[Any, Any]] = []  # events before and after what a window computes
        self._inner: dict[int, list[float]] = defaultdict(lambda: [0.0])  # by thread

    def around(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with a clock."""

        def timed(*given: Any, **more: Any) -> Any:
            began, inner = time.perf_counter(), self._inner[threading.get_ident()]
            inner.append(0.0)
            try:
                return function(*given, **more)
            finally:
                passed = time.perf_counter() - began
                self.seconds[name] += passed - inner.pop()
                inner[-1] += passed

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
    """Put a clock around the stages of a job; texts are tokenised in another thread, and rows written in a third."""
    stages: tuple[tuple[Any, str, Callable[[Any], Any]], ...] = (
        (engines.ScoringTask, "windows", partial(clock.around_items, "read")),
        (scorer, "parse_row", partial(clock.around, "parse")),
        (plain_tokenizer.PlainTokenizer, "read", partial(clock.around, "tokenise, in another thread")),
        (torch_runtime.TorchRuntime, "index", partial(clock.around, "build tensors")),
        (torch_runtime, "start_logits", lambda function: clock.around("launch", clock.around_gpu(function))),
        (prediction, "_fetch", partial(clock.around_result, "wait for the GPU")),
        (torch_runtime.TorchRuntime, "_answers", partial(clock.around, "make answers")),
        (window, "_finish_window", partial(clock.around, "encode rows")),
        (partial_output.PartialOutput, "append", partial(clock.around, "write, in another thread")),
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
            stack.enter_context(patch.object(torch_runtime.TorchRuntime, "recorded_encoders", lambda runtime: []))
        if threads:
            stack.enter_context(patch.object(torch_runtime.TorchRuntime, "n_threads", threads))
            stack.enter_context(patch.object(engines, "overlap_windows", engines.score_windows))
        yield


class _WaitingPool(ProcessPool):
    """Processes that are started before they are needed and outlive a job."""

    def __exit__(self, kind: type[BaseException] | None, *details: object) -> None:
        """Keep them."""


class Bench:
    """A classifier with random weights on the device, and files of rows to score."""

    def __init__(self, folder: Path, encoder: Pretrained, corpus: Corpus, saved: bool = False) -> None:
        self.folder, self.corpus = folder, corpus
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        featurizer = PieceFeaturizer(encoder, pair=False)
        model = models.build(_MODEL, encoder, len(DEFAULT_LABELS), {}, seed=0)
        description, profile = Description(_MODEL, {"dropout": 0.1}, DEFAULT_LABELS), InputProfile.of(corpus)
        self.run = folder / "run"
        self.run.mkdir(parents=True)
        if saved:
            save_weights(self.run, model, description, featurizer)
        else:
            featurizer.save(self.run)
            description.save(self.run)
        profile.save(self.run)
        self.pool: _WaitingPool | None = None
        model = model.to(self.device)
        if self.device == "cuda":
            models.narrow(model)
        self.loaded = Classifier(TorchRuntime(_MODEL, DEFAULT_LABELS, featurizer, (model,), (1.0,)), profile=profile)

    def start_processes(self, count: int) -> None:
        """Start processes that load the saved run; they go on starting when this returns."""
        task = engines.ScoringTask(self.run, Scoring(device=self.device), (), 1, OutputFormat("json_lines"))
        self.pool = _WaitingPool(count, WorkerSetup(engines._open_worker, (task, b""), uses_gpu=self.device != "cpu"))
        self._starting = [self.pool.submit(time.sleep, 0.2) for _ in range(count)]

    def wait_for_processes(self) -> int:
        """Wait until all processes have loaded the run; return how many there are."""
        return len([future.result(timeout=60) for future in self._starting])

    def rows(self, count: int) -> Path:
        """Return a file of so many rows."""
        path = self.folder / f"rows-{count}.jsonl"
        return path if path.exists() else write_rows(self.corpus, count, path)

    def rate(self, count: int, batch: int = 0, workers: int = 0, **settings: Any) -> dict[str, Any]:
        """Return rows per second once the run is loaded; recording encoders counts.

        For processes, which have recorded before, it is the rate after the first windows.
        """
        reports: list[tuple[float, int]] = []

        def note(progress: Progress) -> None:
            reports.append((time.perf_counter(), progress.rows))

        scoring = Scoring(device=self.device, batch_size=batch or None)
        files = (str(self.rows(count)),), str(self.folder / "out.jsonl")
        given = Job(self.run, *files, begin="replace", scoring=scoring)
        with (
            other_settings(**settings),
            patch.object(scorer, "load", lambda *given, **more: self.loaded),
            patch.object(engines, "ProcessPool", lambda *given: self.pool),
            patch.object(job, "job_fingerprint", lambda *given: {}),  # a digest of the weights takes a second
        ):
            job.predict(given, ProcessEngine(workers) if workers else LocalEngine(), note)
        end = time.perf_counter()
        seconds = [0.0, *(round(moment - reports[0][0], 4) for moment, _ in reports[1:])]
        return {"rows/s": count / at_steady_rate(reports, end, workers), "seconds of windows": seconds}

    def stages(self, count: int) -> dict[str, float]:
        """Return microseconds a row of each stage, and the share of the time in which the GPU had work."""
        clock = Clock()
        with timed_stages(clock):
            began = time.perf_counter()
            rate = self.rate(count)
            passed = time.perf_counter() - began
        found = {name: 1e6 * seconds / count for name, seconds in clock.seconds.items()}
        on_gpu = sum(before.elapsed_time(after) for before, after in clock.gpu) / 1000
        whole = {"rows/s": rate["rows/s"], "us a row": 1e6 * passed / count, "GPU had work": on_gpu / passed}
        return found | whole

    def pipeline(self, count: int) -> dict[str, float]:
        """Return rows per second of the Hugging Face pipeline with the better of two batch sizes."""
        classify = open_pipeline(self.run / "encoder", len(DEFAULT_LABELS))
        with self.rows(count).open(encoding="utf-8") as lines:
            questions = [json.loads(line) for line in islice(lines, count)]
        pairs = [{"text": row["text"], "text_pair": row["aspect"]} for row in questions]
        few = pairs[:_FEW]
        classify(few[:64], batch_size=32)
        times = {size: _seconds(partial(classify, few, batch_size=size)) for size in _PIPELINE_BATCHES}
        best = min(times, key=times.__getitem__)
        return {"rows/s": count / _seconds(partial(classify, pairs, batch_size=best)), "batch": best}

    def largest_difference(self) -> dict[str, float]:
        """Return by how much the logits of recorded encoders differ from those of others: one replay for each shape."""
        member: Any = self.loaded.torch.model
        corpus = self.indexed(1024)
        encoder = RecordedEncoder(member.encoder, self.loaded.torch.featurizer.table.pad_id)  # type: ignore[union-attr]
        plain = prediction.predict_logits(member, corpus, 256)
        found = [prediction.start_logits(member, corpus, 256, encoder)() for _ in range(3)]
        return {
            "recorded": len(encoder._recordings),
            "largest": max(float((each - plain).abs().max()) for each in found),
        }

    def indexed(self, count: int) -> IndexedCorpus:
        """Return so many rows as tensors, each a sentence of its own."""
        examples = [example for _ in range(-(-count // len(self.corpus))) for example in self.corpus][:count]
        indexed = self.loaded.torch.index(examples)
        indexed.table.positions[:, 1] = torch.arange(count) % 20_000 + 1000
        return indexed

    def loop(self, count: int) -> dict[str, float]:
        """Return rows per second of the model alone, on tensors that are ready."""
        indexed, size = self.indexed(count), self.loaded.torch.usual_batch
        work = partial(prediction.predict_logits, self.loaded.torch.model, indexed, size)
        work()
        return {"rows/s": count / _seconds(work)}

    def operations(self) -> float:
        """Return the floating-point operations of a row, without padding."""
        member: Any = self.loaded.torch.model
        lengths, config = self.indexed(len(self.corpus)).widths[:, 0].double(), member.encoder.body.config
        layers = sum(p.numel() for name, p in member.encoder.named_parameters() if "layer" in name and p.dim() == 2)
        attention = 4 * config.num_hidden_layers * config.hidden_size * lengths.square().mean()
        return float(2 * layers * lengths.mean() + attention)

    def encoder_shares(self) -> dict[str, float]:
        """Return operations per second of the encoder alone, by the width of 1,024 rows, with and without a mask."""
        body: Any = self.loaded.torch.model.encoder.body  # type: ignore[union-attr]
        config, found = body.config, {}
        for width in (16, 24, 25, 32):
            ids = torch.full((_ENCODED, width), 2000, device=self.device)
            present = torch.ones(_ENCODED, 1, 1, width, dtype=torch.bool, device=self.device)
            layer = 4 * config.hidden_size**2 + 2 * config.hidden_size * config.intermediate_size
            operations = config.num_hidden_layers * _ENCODED * width * (2 * layer + 4 * config.hidden_size * width)
            for name, mask in (("mask", present.expand(-1, 1, width, -1)), ("no mask", None)):
                with torch.no_grad():
                    body(input_ids=ids, attention_mask=mask)
                    passed = _seconds(lambda: [body(input_ids=ids, attention_mask=mask) for _ in range(3)])  # noqa: B023
                found[f"width {width}, {name}"] = 3 * operations / passed
        return found

    def kernels(self) -> list[tuple[str, int, float]]:
        """Return the kernels of one batch that take most of the time: name, calls, milliseconds."""
        if self.device == "cpu":
            return []
        indexed, size = self.indexed(_ENCODED).to(torch.device("cuda")), _ENCODED
        prediction.predict_logits(self.loaded.torch.model, indexed, size)
        activities = [torch.profiler.ProfilerActivity.CUDA]
        with torch.profiler.profile(activities=activities) as profile:
            prediction.predict_logits(self.loaded.torch.model, indexed, size)
        found = [(e.key[:90], int(e.count), float(e.self_device_time_total) / 1000) for e in profile.key_averages()]
        return sorted(found, key=lambda kernel: -kernel[2])[:20]


def one_sentence_each(corpus: Corpus) -> Corpus:
    """Return the first instance of each sentence."""
    seen = {example.text: number for number, example in reversed([*enumerate(corpus)])}
    return corpus.select(sorted(seen.values()))


def large(encoder: Pretrained) -> Pretrained:
    """Return an encoder of BERT-large's shape with the same tokenizer."""
    import transformers

    return Pretrained(transformers.BertConfig(vocab_size=len(encoder.tokenizer), **_LARGE), encoder.tokenizer)


def measure_peak() -> float:
    """Return the floating-point operations per second of a large bfloat16 product."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    size = _PEAK_SIZE if device == "cuda" else 256
    left, right = (torch.randn(size, size, device=device, dtype=torch.bfloat16) for _ in range(2))
    _seconds(lambda: [left @ right for _ in range(3)])
    return 2 * size**3 * 20 / _seconds(lambda: [left @ right for _ in range(20)])


def measure_turn(results: Results, bench: Bench, workers: int, count: int) -> None:
    """Measure each contender once."""
    many = f"{workers} processes"
    results.measure(_ONE, partial(bench.rate, count), 10)
    results.measure(_PIPELINE, partial(bench.pipeline, count // 16), 5)
    results.measure(many, partial(bench.rate, count, workers=workers), 5)
    results.measure("one process as a multiple of", partial(ratios, results, (_PIPELINE, many)))


def ratios(results: Results, others: Sequence[str]) -> dict[str, float]:
    """Return one process as a multiple of others, by the best turn of each."""
    return {name: results.best(_ONE) / (results.best(name) or float("nan")) for name in others}


def measure_large(results: Results, bench: Bench, count: int) -> None:
    """Measure the share of the matrix peak."""
    operations = results.measure("large: operations a row", bench.operations)
    peaks = []
    for batch in (1024, 2048):
        peaks.append(results.measure("peak", measure_peak))
        results.measure("large: predict", partial(bench.rate, count, batch=batch), 2)
        results.measure("large: loop", partial(bench.loop, count // 2), 2)
        for name in ("large: predict", "large: loop"):
            results.measure(f"{name}, share of the peak", lambda: results.best(name) * operations / max(peaks))  # noqa: B023
    results.measure("large: stages", partial(bench.stages, count), 3)
    measure_trials(results, bench, count, _LARGE_TRIALS, "large, ")
    results.measure("large: encoder alone", bench.encoder_shares, 2)
    results.measure("large: kernels", bench.kernels, 2)


def measure_trials(
    results: Results, bench: Bench, count: int, trials: Sequence[dict[str, Any]], prefix: str = ""
) -> None:
    """Measure one process with other settings."""
    for trial in trials:
        shown = ", ".join(f"{name} {value}" for name, value in trial.items())
        results.measure(f"{prefix}{shown}", partial(bench.rate, count, **trial), 3)


def _seconds(work: Callable[[], Any]) -> float:
    began = _now()
    work()
    return _now() - began


def _now() -> float:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()


def parse() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with laptop/test.txt")
    parser.add_argument("--encoder", type=Path, required=True, help="folder with config.json and a tokenizer")
    parser.add_argument("--rows", type=int, default=1 << 17, help="rows of the contenders (default 131072)")
    parser.add_argument("--workers", type=int, default=min(8, os.cpu_count() or 1), help="processes (default 8)")
    parser.add_argument("--seconds", type=float, default=85, help="time after which nothing new is measured")
    parser.add_argument("--out", type=Path, required=True)
    return parser.parse_args()


def main() -> None:
    """Measure and write."""
    arguments = parse()
    results = Results(arguments.out, arguments.seconds)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        encoder, corpus = Pretrained.load(arguments.encoder), read(arguments.data / "laptop" / "test.txt")
        bench = Bench(folder / "own", encoder, corpus, saved=True)
        workers, count = arguments.workers, arguments.rows
        results.measure("processes begin to start", lambda: bench.start_processes(workers))
        results.measure("recorded and plain logits", bench.largest_difference, 10)
        results.measure("all processes started", bench.wait_for_processes)
        results.measure("warm-up of all processes", partial(bench.rate, count // 2, workers=workers), 20)
        measure_turn(results, bench, workers, count)
        results.measure("stages", partial(bench.stages, count // 4), 5)
        wide = Bench(folder / "large", large(encoder), one_sentence_each(corpus))
        measure_large(results, wide, count // 2)
        measure_trials(results, bench, count // 4, _TRIALS)
        measure_turn(results, bench, workers, count)
        if bench.pool is not None:
            bench.pool.close(now=True)


if __name__ == "__main__":
    main()
