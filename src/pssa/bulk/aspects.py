"""Finding aspects in files of any size: a job like that of `predict`, whose output has a row for each aspect found.

A row of the output has the input's own columns and `aspect`, `from` and `to`, so `predict` can label it. A text without aspects
has no row and is counted.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from functools import partial

import torch

from pssa.aspects.run import TaggerConfig, open_tagger
from pssa.bulk.engines import Engine, ScoringTask, rare_garbage_collection
from pssa.bulk.job import Job, Observer, carry_out
from pssa.bulk.output_format import OutputFormat
from pssa.bulk.row_finder import FindingOptions, RowFinder
from pssa.bulk.rows import RejectedRow, Summary
from pssa.bulk.window import AddedFields, Window, finish_window, fitting_outcome, read_windows, written_fields
from pssa.data.rows import Columns
from pssa.execution import ThreadPool, map_ordered

_WINDOW_ROWS, _ENCODER_WINDOW_ROWS = 512, 128
_GPU_THREADS = 2  # one cuts sentences into words while the other keeps the GPU busy


def find_aspects(job: Job, observer: Observer | None = None) -> Summary:
    """Carry out a job whose run is a tagger, in threads of this process.

    :param observer: is called with the progress after each window.
    :raises InputError: for what cannot be read or written; the message names a row by its line.
    """
    root = open_tagger(job.run).root
    n_rows = _WINDOW_ROWS if TaggerConfig.load(root).encoder is None else _ENCODER_WINDOW_ROWS
    # Whatever aspects a row has, all of its text is read.
    job = replace(job, run=root, columns=replace(Columns.of(job.columns), text_only=True))
    return carry_out(job, _FindingEngine(FindingOptions(root)), lambda scoring: n_rows, observer=observer)


@dataclass(frozen=True)
class _FindingEngine(Engine):
    """Threads of this process, a window each."""

    finding: FindingOptions

    def results(self, task: ScoringTask) -> Generator[Window]:
        """Yield the result of each window, in order."""
        device = task.scoring.chosen_device
        find = partial(_find_in_window, replace(self.finding.open(device), ignores_given=True), task.output_format)
        added = AddedFields(scored=False, aspect=self.finding.columns.aspect_columns)
        windows = read_windows(task.sources, task.window_rows, task.start, task.columns, added)
        n_threads = torch.get_num_threads() if device == "cpu" else _GPU_THREADS
        with ThreadPool(n_threads) as pool, rare_garbage_collection():
            yield from map_ordered(pool, find, windows)


def _find_in_window(find: RowFinder, output_format: OutputFormat, window: Window) -> Window:
    """Find the aspects of a window's texts, and encode a row for each."""
    parsed = find(window.rows)
    outcomes = [
        row
        if isinstance(row, RejectedRow)
        else fitting_outcome(row, written_fields(row, output_format), window.columns, output_format)
        for row in parsed.rows
    ]
    return finish_window(window, parsed, outcomes, output_format)
