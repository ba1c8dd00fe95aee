"""The engine of this machine: several threads score a window each, and results come in the order of the rows.

While some compute, others cut sentences, and the caller reads and writes. Only a few windows are held at a time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch

from pssa.bulk.collecting import collecting_rarely
from pssa.bulk.destination import Destination, followed
from pssa.bulk.form import Form, form_of
from pssa.bulk.job import Summary, Task
from pssa.bulk.part import opened_part
from pssa.bulk.run_job import fill
from pssa.bulk.scorer import Scorer, Scoring, by_length, export, open_scorer, threads_of
from pssa.bulk.source import find_sources, require_apart, require_unchanged
from pssa.bulk.window import Reading, Window, windows
from pssa.bulk.work import Result, process
from pssa.data.read import ColumnNames
from pssa.errors import InputError
from pssa.runs import Classifier

__all__ = ["LocalEngine", "in_order", "predict_file", "scored"]

_WINDOW = 2048
_AHEAD = 2  # windows beyond those that are being scored


Submit = Callable[[Window], Future[Result]]


@dataclass(frozen=True)
class LocalEngine:
    """Scores in this process."""

    def resolve(self, scoring: Scoring) -> Scoring:
        """`auto` is what this machine has."""
        return replace(scoring, device=scoring.chosen_device)

    def results(self, task: Task) -> Generator[Result]:
        """Results in the order of the windows."""
        scorer = open_scorer(task.run, task.scoring, export(task.run, task.scoring))
        return scored(windows(task.reading, task.start, task.columns), scorer, task.form)


def predict_file(
    classifier: Classifier,
    source: Path,
    target: Path,
    *,
    format: str | None = None,
    columns: ColumnNames | None = None,
    batch_size: int = 64,
) -> Summary:
    """Score every row of `source` into `target`; each output row has the input's fields, a label and probabilities.

    A label that the input has already is kept as `gold`.

    :raises InputError: naming the line of the first row that cannot be used; `target` is then not written. Also if
        `source` is `target`, or a job into it was not finished.
    """
    if batch_size < 1:
        raise InputError(f"batch_size is {batch_size}; it must be at least 1")
    reading = Reading(find_sources([str(source)], format, columns), _WINDOW)
    form = form_of(str(target), None, classifier.labels)
    destination = Destination(followed(target), target.with_name(f"{target.name}.rejected.jsonl"), form, "replace")
    require_apart(reading.sources, target, destination.side)
    score = partial(by_length, partial(classifier.answer, batch_size=batch_size))
    scorer = Scorer(score, threads_of(classifier))
    with opened_part(destination, None) as part, closing(scored(windows(reading), scorer, form)) as results:
        fill(part, results, "fail")
        require_unchanged(reading.sources)
        part.finish()
    tally = part.journal.tally
    labels = {label: tally.labels.get(label, 0) for label in classifier.labels}
    return Summary(tally.rows, labels, tally.ambiguous)


def scored(source: Iterator[Window], scorer: Scorer, form: Form) -> Generator[Result]:
    """What becomes of each window, in their order."""
    with _threads(scorer.threads) as pool, collecting_rarely():
        yield from in_order(source, lambda window: pool.submit(process, window, scorer.score, form), scorer.threads)


def in_order(source: Iterator[Window], submit: Submit, workers: int) -> Generator[Result]:
    """Results of so many workers in the order of the windows; few windows are held."""
    waiting: deque[Future[Result]] = deque()
    for window in source:
        waiting.append(submit(window))
        if len(waiting) >= workers + _AHEAD:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


@contextmanager
def _threads(count: int) -> Iterator[ThreadPoolExecutor]:
    """Threads of which each computes alone; what is not begun when the block ends is not done."""
    before = torch.get_num_threads()
    pool = ThreadPoolExecutor(count, "score", partial(torch.set_num_threads, 1))
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)
        torch.set_num_threads(before)
