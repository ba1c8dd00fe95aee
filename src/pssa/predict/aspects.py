"""Finding aspects in files of any size: a job like that of `predict`, whose output has a row for each aspect found.

A row of the output has the input's own columns and `aspect`, `from` and `to`, so `predict` can label it. A text without aspects
has no row and is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from pssa.aspects.find import Finder, open_tagger
from pssa.data.rows import Columns
from pssa.execution import count_threads
from pssa.predict.engines import Engine, ScoringTask, score_windows
from pssa.predict.finding import FindingOptions
from pssa.predict.job import Job, Observer, carry_out
from pssa.predict.rows import Summary, Value
from pssa.predict.scorer import Scorer
from pssa.predict.window import AddedFields, Window, read_windows
from pssa.runs.answers import Answer, Question, with_found
from pssa.runs.loading import is_joint, open_finder
from pssa.runs.run_names import resolve_run

_WINDOW_ROWS, _ENCODER_WINDOW_ROWS = 512, 128
_GPU_THREADS = 2  # one cuts sentences into words while the other keeps the GPU busy


def find_aspects(job: Job, observer: Observer | None = None) -> Summary:
    """Carry out a job whose run is a tagger, or finds aspects, in threads of this process.

    :param observer: is called with the progress after each window.
    :raises InputError: for what cannot be read or written; the message names a row by its line.
    """
    root = resolve_run(job.run)
    root = root if is_joint(root) else open_tagger(root).root
    n_rows = _ENCODER_WINDOW_ROWS if (root / "encoder").is_dir() or is_joint(root) else _WINDOW_ROWS
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
        finder = open_finder(task.run, device)
        n_threads = count_threads() if device == "cpu" else _GPU_THREADS
        scorer = Scorer(partial(_start, finder), self.finding, finds_only=True, n_threads=n_threads)
        added = AddedFields(scored=False, aspect=self.finding.columns.aspect_columns)
        windows = read_windows(task.sources, task.window_rows, task.start, task.columns, added)
        return score_windows(windows, scorer, task.output_format)


def _start(finder: Finder, questions: Sequence[Question]) -> Callable[[], Sequence[Value]]:
    """Return a function that finds the aspects of each text, without labels."""
    return lambda: [
        [Answer("", {}, asked.text[start:end], start, end) for start, end in asked.aspects or ()]
        for asked in with_found(finder, questions)
    ]
