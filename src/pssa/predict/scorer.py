"""`Scorer`: a loaded run that answers rows, with word scores on request, in torch or in ONNX Runtime.

One thread computes a window, and several windows are computed at a time. That is faster than several threads for one operation,
which wait for each other, and the numbers do not depend on how many there are.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pssa.data.rows import Problem, Row
from pssa.errors import InputError, setting
from pssa.predict.finding import FindingOptions
from pssa.predict.rows import AskedRow, RejectedRow, Start, parse_row
from pssa.runs.input_profile import InputProfile
from pssa.runs.loading import load


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

    start: Start
    finding: FindingOptions | None = None  # of the aspects of rows that have none; None: each row must have one
    saliency: str | None = None  # of the word scores that are written; None: none
    profile: InputProfile | None = None  # of the training texts, for notes about texts in which nothing is found
    finds_only: bool = False  # look for aspects in every row, whatever it has, and write no labels
    n_threads: int = 1  # that may use it at once
    overlaps: bool = False  # whether a GPU computes after it has started

    def parse(self, event: Row | Problem) -> AskedRow | RejectedRow:
        """Return what is asked about a row, or why nothing can be."""
        return parse_row(event, self.finding is not None, self.finds_only)


def open_scorer(run: Path, scoring: Scoring, finding: FindingOptions | None = None) -> Scorer:
    """Load the run, and what finds aspects.

    :param finding: how aspects of rows that have none are found; None: each row must have one.
    :raises InputError: if the run cannot be loaded, or not scored in this way.
    """
    places = finding.of_run(run) if finding else {}
    classifier = load(run, device=scoring.chosen_device, precision=scoring.precision, **places)
    if scoring.abstains:
        classifier = classifier.abstaining(threshold=scoring.abstain, risk=scoring.abstain_risk)
    if scoring.saliency and scoring.saliency != classifier.saliency:
        classifier = classifier.explaining(scoring.saliency)
    has_reasons = scoring.saliency is not None
    runtime: Any = classifier.runtime
    return Scorer(
        partial(classifier.start, batch_size=scoring.batch_size, reasons=has_reasons),
        finding,
        classifier.saliency if has_reasons else None,
        classifier.profile,
        n_threads=getattr(runtime, "n_threads", None) or os.cpu_count() or 1,
        overlaps=getattr(runtime, "is_on_gpu", False) and not has_reasons,
    )
