"""Training and scoring throughput of an encoder of BERT-large's shape on a GPU, against what users would write or pick instead.

    python benchmarks/encoder_speed.py --data DIR --tokenizer FOLDER --out F.json

Weights are random, lengths are those of the LAPTOP training file. Training, after steps that are not timed: our step (bfloat16
autocast, batches of like length, recorded); a plain loop as the released code has it (float32, every sentence padded to 96); the
Hugging Face `Trainer` with dynamic padding and bfloat16. Scoring: sentences per second, and the share of the matrix peak that was
measured in the same run.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from pssa import models
from pssa.data import read
from pssa.evaluation import predict_logits
from pssa.models import IndexedCorpus, Pretrained
from pssa.training import Settings, Task, fit

MODEL, N_LABELS, BATCH, PADDED = "bertabsa_att", 3, 16, 96
LARGE = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}
BASE = {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072}
SHAPES = {"large": LARGE, "base": BASE}
SETTINGS = Settings(
    learning_rate=2e-5,
    batch_size=BATCH,
    clip_norm=1.0,
    schedule="linear",
    warmup=0.1,
    precision="bfloat16",
    pad_multiple=8,
    graphs=True,
)
# Sentences scored at once, and how often the training file is repeated to have enough of them.
SCORED, REPEATS = 1024, 8
PEAK_SIZE = 8192


@dataclass(frozen=True)
class Bench:
    """An encoder without weights, and LAPTOP's sentences cut for it."""

    encoder: Pretrained
    corpus: IndexedCorpus
    device: torch.device

    def model(self) -> nn.Module:
        """Build the model with random weights."""
        return models.build(MODEL, self.encoder, N_LABELS, {}, seed=0).to(self.device)

    def ours(self, **changes: Any) -> float:
        """Return the seconds of the second and third epoch; the first records CUDA graphs."""
        clock = _Clock()
        settings = Settings(**{**SETTINGS.__dict__, **changes})
        fit(self.model(), Task(self.corpus, 0, "speed"), settings, 3, observer=clock)
        return clock.mean_from(2)

    def plain(self) -> float:
        """Return the seconds of the released code's way: float32, padded to the maximum, no bucketing."""
        model = self.model().train()
        optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5, weight_decay=0.0)
        rows = torch.randperm(len(self.corpus), generator=torch.Generator().manual_seed(0))
        data = _padded(self.corpus, PADDED).to(self.device)

        def epoch(n_batches: int) -> None:
            for part in torch.split(rows, BATCH)[:n_batches]:
                batch = data.batch(part, multiple=PADDED)
                logits = model.classify(model.encode(batch), batch).logits  # type: ignore[operator]
                loss = nn.functional.cross_entropy(logits, batch.labels)
                optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()

        epoch(10)
        n_timed = 50
        return _timed(lambda: epoch(n_timed)) * (len(self.corpus) / BATCH) / n_timed

    def trainer(self, folder: Path) -> float | None:
        """Return the second epoch's seconds of the Hugging Face Trainer on the same pieces; None if it cannot be imported."""
        if importlib.util.find_spec("accelerate") is None:
            return None
        import transformers

        config = self.encoder.config.__class__(**{**self.encoder.config.to_dict(), "num_labels": N_LABELS})
        model = transformers.AutoModelForSequenceClassification.from_config(config, dtype=torch.float32)
        table, widths = self.corpus.table, self.corpus.widths[:, 0].tolist()
        rows = [
            {"input_ids": ids[:width], "label": label}
            for ids, width, label in zip(table.positions.tolist(), widths, table.labels.tolist(), strict=True)
        ]
        arguments = transformers.TrainingArguments(
            output_dir=str(folder),
            per_device_train_batch_size=BATCH,
            num_train_epochs=2,
            learning_rate=2e-5,
            bf16=True,
            save_strategy="no",
            logging_strategy="no",
            report_to="none",
            disable_tqdm=True,
        )
        clock = _TrainerClock()
        trainer = transformers.Trainer(
            model=model,
            args=arguments,
            train_dataset=rows,
            data_collator=transformers.DataCollatorWithPadding(self.encoder.tokenizer),
            callbacks=[clock.callback()],
        )
        trainer.train()
        return clock.epochs[1]

    def scoring(self) -> tuple[float, float]:
        """Return sentences per second, and floating-point operations per second without padding."""
        model = self.model().eval()
        models.narrow(model)
        corpus = self.corpus.select(torch.arange(len(self.corpus)).repeat(REPEATS))
        # Every row is a sentence of its own: equal ones would be computed once.
        corpus.table.positions[:, 1] = torch.arange(len(corpus)) % 20_000 + 1000
        corpus = corpus.to(self.device)
        predict_logits(model, corpus, SCORED)
        seconds = _timed(lambda: predict_logits(model, corpus, SCORED))
        return len(corpus) / seconds, self._operations(model, corpus) / seconds

    def _operations(self, model: nn.Module, corpus: IndexedCorpus) -> float:
        config, lengths = self.encoder.config, corpus.widths[:, 0].double()
        layers = sum(p.numel() for name, p in model.named_parameters() if "layer" in name and p.dim() == 2)
        attention = 4 * config.num_hidden_layers * config.hidden_size * lengths.square().sum()
        return float(2 * layers * lengths.sum() + attention)


class _Clock:
    """Records the end of each epoch."""

    def __init__(self) -> None:
        self.ends: list[float] = []

    def on_stage(self, stage: str, steps: int) -> None:
        self.ends.append(_now())

    def on_epoch(self, record: Any) -> None:
        self.ends.append(_now())

    def on_stage_end(self, stage: str) -> None:
        """Do nothing."""

    def on_round(self, report: Any) -> None:
        """Do nothing."""

    def mean_from(self, epoch: int) -> float:
        """Return the mean seconds of the epochs from this one on."""
        return (self.ends[-1] - self.ends[epoch - 1]) / (len(self.ends) - epoch)


class _TrainerClock:
    """Return the seconds of each epoch of a Trainer."""

    def __init__(self) -> None:
        self.epochs: list[float] = []

    def callback(self) -> Any:
        import transformers

        clock = self

        class Callback(transformers.TrainerCallback):  # type: ignore[misc]
            def on_epoch_begin(self, *arguments: Any, **more: Any) -> None:
                self.began = _now()

            def on_epoch_end(self, *arguments: Any, **more: Any) -> None:
                clock.epochs.append(_now() - self.began)

        return Callback()


def measure_peak(device: torch.device) -> float:
    """Return the floating-point operations per second of a large bfloat16 product."""
    left, right = (torch.randn(PEAK_SIZE, PEAK_SIZE, device=device, dtype=torch.bfloat16) for _ in range(2))
    for _ in range(3):
        left @ right
    times = 20
    return 2 * PEAK_SIZE**3 * times / _timed(lambda: [left @ right for _ in range(times)])


def _padded(corpus: IndexedCorpus, width: int) -> IndexedCorpus:
    """Pad every row of the corpus to `width` positions."""
    table, missing = corpus.table, width - corpus.table.positions.shape[1]
    grown: dict[str, Tensor] = {
        "positions": nn.functional.pad(table.positions, (0, missing)),
        "word_of": nn.functional.pad(table.word_of, (0, missing), value=-1),
    }
    return replace(corpus, table=replace(table, **grown))


def _now() -> float:
    torch.cuda.synchronize()
    return time.perf_counter()


def _timed(run: Callable[[], object]) -> float:
    began = _now()
    run()
    return _now() - began


def _measurements(bench: Bench, scratch: Path) -> Iterator[tuple[str, float]]:
    n = len(bench.corpus)
    recorded = bench.ours()
    yield "training, ours: sentences/s", n / recorded
    yield "training, ours without recording: sentences/s", n / bench.ours(graphs=False)
    plain = bench.plain()
    yield "training, plain loop padded to 96 in float32: sentences/s", n / plain
    yield "training, ours over the plain loop", plain / recorded
    if (trainer := bench.trainer(scratch)) is not None:
        yield "training, Trainer with dynamic padding and bfloat16: sentences/s", n / trainer
        yield "training, ours over the Trainer", trainer / recorded
    peak = measure_peak(bench.device)
    sentences, operations = bench.scoring()
    yield "peak of a bfloat16 product: Tflop/s", peak / 1e12
    yield "scoring: sentences/s", sentences
    yield "scoring: share of the peak", operations / peak


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True, help="folder with a BERT-like tokenizer")
    parser.add_argument("--shape", choices=sorted(SHAPES), default="large")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(arguments.tokenizer)
    encoder = Pretrained(transformers.BertConfig(vocab_size=len(tokenizer), **SHAPES[arguments.shape]), tokenizer)
    corpus = read(arguments.data / "laptop" / "train.txt")
    indexed = IndexedCorpus.of(encoder.cutter(pair=False).features(corpus, corpus.labels))
    found = {"device": torch.cuda.get_device_name(), "torch": torch.__version__, "shape": arguments.shape}
    results: dict[str, Any] = {}
    for name, value in _measurements(Bench(encoder, indexed, torch.device("cuda")), arguments.out.parent / "trainer"):
        results[name] = value
        print(f"{name}: {value:.4g}", flush=True)
        arguments.out.write_text(json.dumps(found | results, indent=2) + "\n")


if __name__ == "__main__":
    main()
