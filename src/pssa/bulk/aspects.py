"""Finding aspects in files of any size: a job like that of `predict`, whose output has a row for each aspect found.

A row of the output has the input's own columns and `aspect`, `from` and `to`, so `predict` can label it. A text without aspects
has no row and is counted.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import torch

from pssa.aspects.find import AspectFinder, load_finder
from pssa.aspects.run import TaggerConfig, open_tagger
from pssa.aspects.spans import require_text
from pssa.bulk.engines import Engine, ScoringTask, rare_garbage_collection
from pssa.bulk.job import Job, Observer, carry_out
from pssa.bulk.output_format import OutputFormat
from pssa.bulk.parquet_schema import arrow_cells
from pssa.bulk.rows import RejectedRow, ScorableRow, Summary, reject_deep
from pssa.bulk.window import RowOutcome, Window, encode_rows, read_windows
from pssa.data.example import Example
from pssa.data.rows import Columns, Problem, Row
from pssa.data.tokenize import Span
from pssa.errors import InputError
from pssa.execution import ThreadPool, map_ordered

_ASPECT_COLUMNS = ("aspect", "from", "to")
_WINDOW_ROWS, _ENCODER_WINDOW_ROWS = 512, 128
_GPU_THREADS = 2  # one cuts sentences into words while the other keeps the GPU busy


def find_aspects(job: Job, observer: Observer | None = None) -> Summary:
    """Carry out a job whose run is a tagger, in threads of this process.

    :param observer: is called with the progress after each window.
    :raises InputError: for what cannot be read or written; the message names a row by its line.
    """
    config = TaggerConfig.load(open_tagger(job.run).root)
    n_rows = _WINDOW_ROWS if config.encoder is None else _ENCODER_WINDOW_ROWS
    job = replace(job, columns=replace(Columns.of(job.columns), text_only=True))
    return carry_out(job, _FindingEngine(), lambda scoring: n_rows, observer=observer)


@dataclass(frozen=True)
class _FindingEngine(Engine):
    """Threads of this process, a window each."""

    def results(self, task: ScoringTask) -> Generator[Window]:
        """Yield what becomes of each window, in their order."""
        device = task.scoring.chosen_device
        find = partial(_find_in_window, load_finder(task.run, device), task.output_format)
        windows = read_windows(task.sources, task.window_rows, task.start, task.columns, find_columns=_output_columns)
        n_threads = torch.get_num_threads() if device == "cpu" else _GPU_THREADS
        with ThreadPool(n_threads) as pool, rare_garbage_collection():
            yield from map_ordered(pool, find, windows)


def _output_columns(rows: Sequence[Row | Problem]) -> tuple[str, ...]:
    first = next((row for row in rows if isinstance(row, Row)), None)
    return () if first is None else tuple(dict.fromkeys((*first.given, *_ASPECT_COLUMNS)))


def _find_in_window(finder: AspectFinder, output_format: OutputFormat, window: Window) -> Window:
    """Find the aspects of a window's texts, and encode a row for each."""
    parsed = [_parse_text(row) for row in window.rows]
    found = iter(finder.find_all([text for _, text in parsed if isinstance(text, str)]))
    outcomes: list[RowOutcome] = []
    n_texts = n_empty = 0
    for row, text in parsed:
        if isinstance(text, RejectedRow):
            outcomes.append(text)
            continue
        spans = next(found)
        n_texts, n_empty = n_texts + 1, n_empty + (not spans)
        assert isinstance(row, Row)
        outcomes.extend(_outcomes(row, text, spans, window.columns, output_format))
    content, outcomes = encode_rows(outcomes, window.columns, output_format)
    written = [outcome for outcome in outcomes if isinstance(outcome, tuple)]
    return replace(
        window,
        rows=(),
        content=content,
        summary=Summary(len(written), texts=n_texts, empty=n_empty),
        lines=tuple(row.line for row, _ in written),
    ).reject([outcome for outcome in outcomes if isinstance(outcome, RejectedRow)])


def _parse_text(event: Row | Problem) -> tuple[Row | Problem, str | RejectedRow]:
    if isinstance(event, Problem):
        return event, RejectedRow(event.line, event.message, event.given)
    if (deep := reject_deep(event)) is not None:
        return event, deep
    try:
        return event, require_text(event)
    except InputError as error:
        return event, RejectedRow(event.line, error.message, event.given)


def _outcomes(
    row: Row, text: str, spans: Sequence[Span], columns: Sequence[str], output_format: OutputFormat
) -> list[RowOutcome]:
    """Return the output rows of one text, or why it is rejected."""
    given = arrow_cells(row.arrow) if row.arrow and output_format.name == "parquet" else row.given
    outcomes: list[RowOutcome] = []
    for start, end in spans:
        fields = {**given, "aspect": text[start:end], "from": start, "to": end}
        if misfit := output_format.find_misfit(fields, columns):
            return [RejectedRow(row.line, misfit, row.given)]
        example = Example("0", "", text, ((start, end),), (0, 1))
        outcomes.append((ScorableRow(row.line, row.given, example, arrow=row.arrow), fields))
    return outcomes
