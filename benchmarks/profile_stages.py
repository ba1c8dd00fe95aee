"""Stages of scoring, from reading a file to the bytes of the output: one thread, microseconds per row."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import torch
from harness import write_rows

from pssa.data.example import Corpus, Example
from pssa.evaluation import predict_logits
from pssa.predict.output_format import choose_output_format
from pssa.predict.rows import AskedRow, output_fields, parse_row
from pssa.predict.scorer import default_window_rows
from pssa.predict.source import find_sources
from pssa.predict.window import Window, read_windows
from pssa.runs import load
from pssa.runs.answers import examples_of

__all__ = ["stages_of_scoring"]

Found = TypeVar("Found")


def stages_of_scoring(run: Path, corpus: Corpus, windows_read: int = 4) -> dict[str, float]:
    """Return the microseconds per row of each stage, over a few windows of the file."""
    classifier = load(run, device="cpu")
    window_rows, batch_size = default_window_rows(classifier.name, "cpu"), classifier.torch.usual_batch
    spent: dict[str, float] = {}

    def timed(stage: str, work: Callable[[], Found]) -> Found:
        began = time.perf_counter()
        found = work()
        spent[stage] = spent.get(stage, 0.0) + time.perf_counter() - began
        return found

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        rows = windows_read * window_rows
        source = write_rows(corpus, rows, Path(folder) / "rows.jsonl")
        form = choose_output_format("out.jsonl", None)
        cut = read_windows(find_sources([str(source)], None), window_rows)
        for _ in range(windows_read):
            window = timed("reading", partial(next, cut))
            accepted = timed("finding the aspect", partial(_accepted, window))
            examples = timed("finding words", partial(_examples, accepted))
            data = timed("cutting and indexing", partial(classifier.torch.index, examples))
            logits = timed("computing", partial(predict_logits, classifier.torch.model, data, batch_size))
            said = timed("answers", partial(classifier.answers, examples, logits.softmax(dim=1)))
            fields = [output_fields(row.fields, answer) for row, answer in zip(accepted, said, strict=True)]
            timed("writing", partial(form.encode, fields, window.columns))
    torch.set_num_threads(threads)
    return {stage: 1e6 * seconds / rows for stage, seconds in spent.items()}


def _examples(rows: Sequence[AskedRow]) -> list[Example]:
    return [example for row in rows for example, _ in examples_of(row.question)]


def _accepted(window: Window) -> list[AskedRow]:
    return [row for row in map(parse_row, window.rows) if isinstance(row, AskedRow)]
