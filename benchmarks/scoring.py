"""Rows per second of a run: one call for each row, `pssa predict`, and the Hugging Face pipeline on the same encoder.

The pipeline reads sentence and aspect as a pair. It has the encoder's shape and weights drawn at random, which cost the same
time; its batch size is the best of a few, and on a GPU it computes in bfloat16 as we do. On a GPU tokenizing is the slow part,
so `pssa predict --workers` is measured too.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import (
    Measurement,
    Request,
    Table,
    in_turns,
    main,
    medians,
    open_corpora,
    seconds_of,
    trained_run,
    write_rows,
)

if TYPE_CHECKING:
    from pssa.predict import Progress, Scoring

_ROWS = {False: 4096, True: 1024}  # by whether the model uses an encoder
_GPU_ROWS = 1 << 17
_MAX_SINGLE = 1 << 14  # rows for contenders that run in one process
_MAX_WORKERS = 8
_FEW = 256  # rows to choose a batch size by, and for one call each
_BATCHES = (1, 8, 32, 64, 256)
_OURS = "pssa predict"


@dataclass(frozen=True)
class _Contender:
    """One way to score rows."""

    name: str
    rows: int
    seconds: Callable[[], float]


def measure(request: Request) -> Measurement:
    """Measure all contenders in turns. Rates compare although the numbers of rows differ."""
    from pssa.models import uses_encoder
    from pssa.runs import load
    from pssa.runs.devices import choose_device

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run, corpus = trained_run(request, folder), open_corpora(request)[1]
        classifier = load(run, device="auto")
        on_gpu = choose_device("auto").type != "cpu"
        count = request.one_size(_GPU_ROWS if on_gpu else _ROWS[uses_encoder(classifier.name)])
        rows = write_rows(corpus, min(count, _MAX_SINGLE), folder / "rows.jsonl")
        questions = [json.loads(line) for line in rows.read_text("utf-8").splitlines()]
        few, out = questions[:_FEW], folder / "out.jsonl"
        contenders = [
            _Contender("one call a row", len(few), partial(seconds_of, partial(_one_by_one, classifier, few))),
            _Contender(_OURS, len(questions), partial(predict_seconds, run, rows, out)),
        ]
        if on_gpu:
            workers, many = min(_MAX_WORKERS, os.cpu_count() or 1), write_rows(corpus, count, folder / "many.jsonl")
            contenders.append(
                _Contender(
                    f"{_OURS} --workers {workers}", count, partial(predict_seconds, run, many, out, workers=workers)
                )
            )
        if (run / "encoder").is_dir():
            contenders.append(_pipeline_contender(run / "encoder", len(classifier.labels), questions))
        found = in_turns({each.name: each.seconds for each in contenders}, request.repeats)
    rates = {each.name: each.rows / medians(found)[each.name] for each in contenders}
    lines = tuple((each.name, rates[each.name], rates[_OURS] / rates[each.name]) for each in contenders)
    title = f"scoring with {classifier.name}, {count} rows at most"
    return Measurement((Table(title, ("", "rows/s", "ours is"), lines),), (), {"seconds": found})


def predict_seconds(
    run: Path, rows: Path, out: Path, scoring: Scoring | None = None, workers: int = 0, n_skipped: int = 0
) -> float:
    """Return the seconds of `pssa predict` after loading the run: reading, tokenizing, computing and writing.

    :param workers: processes. Their start is not counted: rows done before all of them worked count at the later rate.
    :param n_skipped: windows that count as their start; 0: one for each process, and one more.
    """
    from pssa.predict import Job, LocalEngine, Scoring, predict
    from pssa.predict.engines import ProcessEngine

    reports: list[tuple[float, int]] = []

    def note(progress: Progress) -> None:
        # The first report comes when the run is loaded and no row is read.
        reports.append((time.perf_counter(), progress.rows))

    job = Job(run, (str(rows),), str(out), begin="replace", scoring=scoring or Scoring())
    predict(job, ProcessEngine(workers) if workers else LocalEngine(), note)
    return at_steady_rate(reports, time.perf_counter(), (n_skipped or workers + 1) if workers else 0)


def at_steady_rate(reports: Sequence[tuple[float, int]], end: float, skipped: int) -> float:
    """Return the seconds for all rows at the rate after the first reports.

    :param reports: times, and the rows done by then.
    :param skipped: reports to leave out of the rate, if rows are left after them.
    """
    rows = reports[-1][1]
    begin, done = max((report for report in reports[: skipped + 1] if report[1] < rows), default=reports[0])
    return (end - begin) * rows / max(rows - done, 1)


def _one_by_one(classifier: Any, questions: list[dict[str, Any]]) -> None:
    for row in questions:
        classifier.predict(row["text"], (row["from"], row["to"]))


def _pipeline_contender(encoder: Path, n_labels: int, questions: list[dict[str, Any]]) -> _Contender:
    classify = open_pipeline(encoder, n_labels)
    pairs = [{"text": row["text"], "text_pair": row["aspect"]} for row in questions]
    few = pairs[:_FEW]
    times = {size: seconds_of(partial(classify, few, batch_size=size)) for size in _BATCHES}
    best = min(times, key=times.__getitem__)
    return _Contender(
        f"Hugging Face pipeline, batches of {best}",
        len(pairs),
        partial(seconds_of, partial(classify, pairs, batch_size=best)),
    )


def open_pipeline(encoder: Path, n_labels: int) -> Any:
    """Return the pipeline for text classification with random weights, on a GPU in bfloat16."""
    from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer, pipeline

    from pssa.runs.devices import choose_device

    config = AutoConfig.from_pretrained(encoder, num_labels=n_labels, local_files_only=True, trust_remote_code=False)
    tokenizer = AutoTokenizer.from_pretrained(encoder, local_files_only=True, trust_remote_code=False)
    device = choose_device("auto")
    model = AutoModelForSequenceClassification.from_config(config, trust_remote_code=False)
    if device.type == "cuda":
        model = model.bfloat16()
    return pipeline("text-classification", model=model, tokenizer=tokenizer, device=device)


if __name__ == "__main__":
    sys.exit(main(__doc__, measure))
