"""`Scorer`: a loaded run that scores windows, with word scores on request, in torch or in ONNX Runtime.

One thread computes a window, and several windows are computed at a time. That is faster than several threads for one operation,
which wait for each other, and the numbers do not depend on how many there are.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pssa.errors import InputError, setting
from pssa.execution import count_threads
from pssa.predict.finding import FindingOptions
from pssa.predict.output_format import OutputFormat
from pssa.predict.parquet_schema import arrow_cells
from pssa.predict.rows import Summary, output_fields
from pssa.predict.window import Window
from pssa.runs.answers import Answer, Question, with_found
from pssa.runs.asked_rows import AskedRow, RejectedRow, Start, Value, parse_row, score_each
from pssa.runs.input_profile import InputProfile, added_column, note_kind
from pssa.runs.loading import load, open_finder

if TYPE_CHECKING:
    from pssa.runs.classifier import Classifier

_GPU_THREADS = 2  # of a finder: one cuts sentences into words while the other keeps the GPU busy

RowOutcome = tuple[AskedRow, dict[str, Any]] | RejectedRow  # a row and the fields to write


@dataclass(frozen=True)
class Scoring:
    """How rows are scored.

    :raises InputError: for values that contradict each other.
    """

    saliency: str | None = None  # of the word scores; "": the model's default; None: no word scores
    batch_size: int | None = None  # sentences in one step; None: the default for the model and the device
    device: str = "auto"
    precision: str = "auto"
    abstain: float | None = None  # lowest confidence to answer; None: always
    abstain_risk: float | None = None  # share of rows that may get a wrong answer, from which a threshold follows

    def __post_init__(self) -> None:
        if self.batch_size is not None and self.batch_size < 1:
            raise InputError(f"{setting('batch_size')} is {self.batch_size}; it must be at least 1")

    @property
    def abstains(self) -> bool:
        """Whether some rows may get no answer."""
        return self.abstain is not None or self.abstain_risk is not None

    @property
    def chosen_device(self) -> str:
        """The device: cpu or cuda; `auto` is what this machine has."""
        if self.device != "auto":
            return self.device
        from pssa.runs.devices import choose_device

        return choose_device("auto").type


def default_window_rows(model: str, device: str) -> int:
    """Return how many rows a window has; on a CPU few enough for all cores to have one."""
    from pssa import models

    if device != "cpu":
        return 4096
    return 512 if models.uses_encoder(model) else 2048


@dataclass(frozen=True)
class Scorer:
    """What answers rows, and what is asked about them and written."""

    ask: Start
    finding: FindingOptions | None = None  # of the aspects of rows that have none; None: each row must have one
    saliency: str | None = None  # of the word scores that are written; None: none
    profile: InputProfile | None = None  # of the training texts, for notes about texts in which nothing is found
    finds_only: bool = False  # look for aspects in every row, whatever it has, and write no labels
    n_threads: int = 1  # that may use it at once
    classifier: Classifier | None = None  # that `ask` starts, if a GPU computes after it has started
    batch_size: int | None = None  # sentences in one step, then

    def score(self, window: Window, output_format: OutputFormat) -> Window:
        """Do all that can be done without knowing other windows: parse, score and encode the rows."""
        return self.start(window, output_format)()

    def start(self, window: Window, output_format: OutputFormat) -> Callable[[], Window]:
        """Parse the rows and begin to score them; what is returned waits, and encodes them."""
        parsed = [parse_row(event, self.finding is not None, self.finds_only) for event in window.rows]
        questions = [row.question for row in parsed if isinstance(row, AskedRow)]
        fault: InputError | None = None
        wait: Callable[[], Sequence[Value]] = list
        try:
            wait = self.ask(questions) if questions else wait
        except InputError as error:
            fault = error

        def answer(asked: Sequence[Question]) -> Sequence[Value]:
            if asked is not questions:
                return self.ask(asked)()
            if fault:
                raise fault
            return wait()

        return lambda: self._finish(window, parsed, score_each(answer, questions), output_format)

    def _finish(
        self,
        window: Window,
        parsed: Sequence[AskedRow | RejectedRow],
        scored: Sequence[Value | str],
        output_format: OutputFormat,
    ) -> Window:
        """Encode what is said of each row, and count."""
        values = iter(scored)
        outcomes: list[RowOutcome] = []
        n_texts = n_empty = 0
        noted: Counter[str] = Counter()
        keeps_empty = self.finding is not None and self.finding.keep_empty
        for row in parsed:
            if isinstance(row, RejectedRow):
                outcomes.append(row)
                continue
            value = next(values)
            is_raw = row.question.aspects is None
            n_texts, n_empty = n_texts + is_raw, n_empty + (not value)
            if isinstance(value, str):
                outcomes.append(RejectedRow(row.line, value, row.fields))
                continue
            notes: tuple[str, ...] = ()
            if self.profile and not value:
                text = row.question.text
                notes = self.profile.language_notes(text) + self.profile.text_notes(text)
            if not value and not keeps_empty:
                noted.update(map(note_kind, notes))
                continue
            for answer in value or (None,):
                outcome = self._outcome(row, answer, window.columns, output_format, "; ".join(notes))
                before = outcomes[-1] if outcomes else None
                # A row with several aspects that cannot be written reports the first.
                if not (
                    isinstance(outcome, RejectedRow) and isinstance(before, RejectedRow) and outcome.row is before.row
                ):
                    outcomes.append(outcome)
        content, outcomes = _encode(outcomes, window.columns, output_format)
        written = [outcome for outcome in outcomes if isinstance(outcome, tuple)]
        labels = Counter(str(fields["label"]) for _, fields in written if fields.get("label") is not None)
        ambiguous = frozenset(number for number, (row, _) in enumerate(written) if row.warnings)
        # The column of a model's notes is the last of an output that has one.
        if window.columns and window.columns[-1].endswith("notes"):
            texts = (str(fields.get(window.columns[-1]) or "") for _, fields in written)
            noted.update(note_kind(note) for text in texts if text for note in text.split("; "))
        summary = Summary(len(written), dict(labels), len(ambiguous), texts=n_texts, empty=n_empty, notes=dict(noted))
        lines = tuple(row.line for row, _ in written)
        done = replace(window, rows=(), content=content, summary=summary, lines=lines, ambiguous=ambiguous)
        return done.reject([outcome for outcome in outcomes if isinstance(outcome, RejectedRow)])

    def _outcome(
        self, row: AskedRow, answer: Answer | None, columns: Sequence[str], output_format: OutputFormat, notes: str
    ) -> RowOutcome:
        """Return a row of the output, or why the format cannot hold it."""
        fields = dict(arrow_cells(row.arrow) if row.arrow and output_format.name == "parquet" else row.fields)
        if self.finding is not None:
            fields |= self.finding.place(row.fields, answer, row.question.aspects is not None)
        if not self.finds_only:
            noted = added_column(fields) in columns
            fields = output_fields(fields, answer, row.question.text, self.saliency, noted=noted, notes=notes)
        misfit = output_format.find_misfit(fields, columns)
        return RejectedRow(row.line, misfit, row.fields) if misfit else (row, fields)


def _encode(
    outcomes: list[RowOutcome], columns: Sequence[str], output_format: OutputFormat
) -> tuple[bytes, list[RowOutcome]]:
    """Return the bytes of all rows, in halves if the format cannot hold them together, and what became of each row."""
    scored = [outcome for outcome in outcomes if isinstance(outcome, tuple)]
    try:
        return output_format.encode([fields for _, fields in scored], columns), outcomes
    except InputError as error:
        half = len(outcomes) // 2
        if not half:
            row, _ = scored[0]
            return b"", [RejectedRow(row.line, str(error), row.fields)]
        (content, first), (more, second) = (
            _encode(part, columns, output_format) for part in (outcomes[:half], outcomes[half:])
        )
        return content + more, first + second


def open_scorer(run: Path, scoring: Scoring, finding: FindingOptions | None = None, finds_only: bool = False) -> Scorer:
    """Load the run, and what finds aspects.

    :param finding: how aspects of rows that have none are found; None: each row must have one.
    :param finds_only: the run only finds aspects; no labels are written.
    :raises InputError: if the run cannot be loaded, or not scored in this way.
    """
    device = scoring.chosen_device
    if finds_only:
        finder = open_finder(run, device)

        def find(questions: Sequence[Question]) -> Callable[[], Sequence[Value]]:
            return lambda: [
                [Answer("", {}, asked.text[start:end], start, end) for start, end in asked.aspects or ()]
                for asked in with_found(finder, questions)
            ]

        return Scorer(find, finding, finds_only=True, n_threads=count_threads() if device == "cpu" else _GPU_THREADS)
    classifier = load(run, device=device, precision=scoring.precision, **finding.of_run(run) if finding else {})
    if scoring.abstains:
        classifier = classifier.abstaining(threshold=scoring.abstain, risk=scoring.abstain_risk)
    if scoring.saliency:
        classifier = classifier.explaining(scoring.saliency)
    has_reasons = scoring.saliency is not None
    runtime = classifier.runtime.in_torch
    if scoring.precision == "auto" and runtime is not None:
        runtime.narrow()
    on_gpu = runtime is not None and runtime.is_on_gpu and not has_reasons
    return Scorer(
        partial(classifier.start, batch_size=scoring.batch_size, reasons=has_reasons),
        finding,
        classifier.runtime.saliency if has_reasons else None,
        classifier.profile,
        n_threads=runtime.n_threads if runtime is not None else os.cpu_count() or 1,
        classifier=classifier if on_gpu else None,
        batch_size=scoring.batch_size or (runtime.usual_batch if runtime is not None and on_gpu else None),
    )
