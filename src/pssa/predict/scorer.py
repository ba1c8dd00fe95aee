"""`Scorer`: a loaded run that scores windows, with word scores on request, in torch or in ONNX Runtime.

One thread computes a window, and several windows are computed at a time. That is faster than several threads for one operation,
which wait for each other, and the numbers do not depend on how many there are.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pssa.errors import InputError, setting
from pssa.execution import count_threads
from pssa.predict.output_format import OutputFormat
from pssa.predict.parquet_schema import arrow_cells
from pssa.predict.rows import OutputFields, Summary, WrittenRow
from pssa.predict.window import Window
from pssa.runs.answers import Answer, Question, with_found
from pssa.runs.asked_rows import AskedRow, RejectedRow, Start, Value, parse_row, score_each
from pssa.runs.input_profile import InputProfile, note_kind
from pssa.runs.loading import load, open_finder

if TYPE_CHECKING:
    from pssa.runs.classifier import Classifier

_GPU_THREADS = 2  # of a finder: one cuts sentences into words while the other keeps the GPU busy


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


@dataclass(frozen=True)
class Scorer:
    """What answers rows, and what is written of them."""

    ask: Start
    fields: OutputFields = field(default_factory=OutputFields)
    profile: InputProfile | None = None  # of the training texts, for notes about texts in which nothing is found
    n_threads: int = 1  # that may use it at once
    classifier: Classifier | None = None  # that `ask` starts, if a GPU computes after it has started
    batch_size: int | None = None  # sentences in one step, then

    def score(self, window: Window, output_format: OutputFormat) -> Window:
        """Do all that can be done without knowing other windows: parse, score and encode the rows."""
        return self.start(window, output_format)()

    def start(self, window: Window, output_format: OutputFormat) -> Callable[[], Window]:
        """Parse the rows and begin to score them; what is returned waits, and encodes them."""
        finds = self.fields.finding is not None
        parsed = [parse_row(event, finds, ignores_given=not self.fields.is_scored) for event in window.rows]
        questions = [row.question for row in parsed if isinstance(row, AskedRow)]
        begun: Callable[[], Sequence[Value]] | InputError = list
        try:
            begun = self.ask(questions) if questions else list
        except InputError as error:
            begun = error

        def answer(asked: Sequence[Question]) -> Sequence[Value]:
            if asked is not questions:
                return self.ask(asked)()
            if isinstance(begun, InputError):
                raise begun
            return begun()

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
        outcomes: list[_FilledRow | RejectedRow] = []
        n_texts = n_empty = 0
        noted: Counter[str] = Counter()  # of rows that are not written
        for row in parsed:
            if isinstance(row, RejectedRow):
                outcomes.append(row)
                continue
            value = next(values)
            n_texts, n_empty = n_texts + (row.question.aspects is None), n_empty + (not value)
            if isinstance(value, str):
                outcomes.append(RejectedRow(row.line, value, row.fields))
                continue
            notes: tuple[str, ...] = ()
            if self.profile and not value:
                text = row.question.text
                notes = self.profile.language_notes(text) + self.profile.text_notes(text)
            if not value and not (self.fields.finding and self.fields.finding.keep_empty):
                noted.update(map(note_kind, notes))
                continue
            given = arrow_cells(row.arrow) if row.arrow and output_format.name == "parquet" else row.fields
            filled = [
                _FilledRow(row, self.fields.fill(given, row, each, notes, window.columns), each, notes)
                for each in value or (None,)
            ]
            misfit = output_format.find_misfit(filled[0].fields, window.columns)
            outcomes.extend([RejectedRow(row.line, misfit, row.fields)] if misfit else filled)
        content, outcomes = _encode(outcomes, window.columns, output_format)
        written = tuple(outcome.as_written() for outcome in outcomes if isinstance(outcome, _FilledRow))
        others = Summary(texts=n_texts, empty=n_empty, notes=dict(noted))
        done = replace(window, rows=(), content=content, written=written, others=others)
        return done.reject([outcome for outcome in outcomes if isinstance(outcome, RejectedRow)])


class _FilledRow(NamedTuple):
    """A row of the output before it is encoded."""

    row: AskedRow
    fields: dict[str, Any]
    answer: Answer | None
    notes: tuple[str, ...]  # about a row without an answer

    def as_written(self) -> WrittenRow:
        """Return what is counted of it."""
        notes = self.notes if self.answer is None else self.answer.notes
        label = self.answer.label if self.answer is not None else ""
        return WrittenRow(self.row.line, label, bool(self.row.warnings), tuple(map(note_kind, notes)))


def _encode(
    outcomes: list[_FilledRow | RejectedRow], columns: Sequence[str], output_format: OutputFormat
) -> tuple[bytes, list[_FilledRow | RejectedRow]]:
    """Return the bytes of all rows, in halves if the format cannot hold them together, and what became of each row."""
    filled = [outcome for outcome in outcomes if isinstance(outcome, _FilledRow)]
    try:
        return output_format.encode([each.fields for each in filled], columns), outcomes
    except InputError as error:
        half = len(outcomes) // 2
        if not half:
            row = filled[0].row
            return b"", [RejectedRow(row.line, str(error), row.fields)]
        (content, first), (more, second) = (
            _encode(part, columns, output_format) for part in (outcomes[:half], outcomes[half:])
        )
        return content + more, first + second


def open_scorer(run: Path, scoring: Scoring, fields: OutputFields | None = None) -> Scorer:
    """Load the run, and what finds aspects.

    :param fields: of the output; where they hold no labels, the run only finds aspects.
    :raises InputError: if the run cannot be loaded, or not scored in this way.
    """
    fields = fields or OutputFields()
    device, finding = scoring.chosen_device, fields.finding
    if not fields.is_scored:
        finder = open_finder(run, device)

        def find(questions: Sequence[Question]) -> Callable[[], Sequence[Value]]:
            return lambda: [
                [Answer("", {}, asked.text[start:end], start, end) for start, end in asked.aspects or ()]
                for asked in with_found(finder, questions)
            ]

        return Scorer(find, fields, n_threads=count_threads() if device == "cpu" else _GPU_THREADS)
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
        replace(fields, saliency=classifier.runtime.saliency if has_reasons else None),
        classifier.profile,
        n_threads=runtime.n_threads if runtime is not None else os.cpu_count() or 1,
        classifier=classifier if on_gpu else None,
        batch_size=scoring.batch_size or (runtime.usual_batch if runtime is not None and on_gpu else None),
    )
