"""The report about a run: one HTML page that needs no script, no network and no other file.

The page stays small whatever the run's size: it shows the first or most telling words and sentences, and says how many.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pssa.data.example import DEFAULT_LABELS, Corpus, Example
from pssa.data.files import write_atomically
from pssa.data.io import read
from pssa.display import percent
from pssa.errors import InputError
from pssa.evaluation.calibration import confidence_error, risk_coverage
from pssa.report.html import render
from pssa.report.run_reader import ReportedRun, name_runs
from pssa.report.sections import (
    ComparedPrediction,
    ReportSection,
    changes_section,
    evidence_section,
    faithfulness_section,
    make_section,
    measure_trust,
    run_section,
    scores_section,
    stress_section,
)
from pssa.report.summary import summary_section
from pssa.report.training_curves import Curve, lay_out_chart, training_section
from pssa.runs import Classifier, load
from pssa.runs.evaluate import Evaluation, count_train_overlap, evaluate, require_same_labels
from pssa.runs.explain import Trust
from pssa.runs.read_defaults import read_as_trained

_MAX_TRAINING = 1000  # instances to compare predictions on if there is no test data
_COVERAGES = (1.0, 0.9, 0.8, 0.7, 0.5)  # of the table
_LEAST = 0.05  # coverage that the chart shows: fewer answers say too little
_MAX_POINTS = 60


def write_report(
    run: str | Path,
    out: str | Path,
    versus: str | Path | None = None,
    data: str | Path | Corpus | None = None,
    sample: int = 100,
    on_step: Callable[[str], None] | None = None,
) -> Path:
    """Write the report about `run` to the file `out`.

    :param versus: run to compare with; by default the model before mining, if the run has kept it.
    :param data: labelled instances unseen in training, or their file; without them nothing is scored.
    :param sample: most instances to measure faithfulness on, which takes longest.
    :param on_step: is called with the name of each step that takes long.
    :raises InputError: if a run or the data cannot be used.
    """
    write_atomically(out, make_report(run, versus, data, sample, on_step).encode())
    return Path(out)


def make_report(
    run: str | Path,
    versus: str | Path | None = None,
    data: str | Path | Corpus | None = None,
    sample: int = 100,
    on_step: Callable[[str], None] | None = None,
) -> str:
    """Return the page; see `write_report`."""
    begin = on_step or (lambda name: None)
    reported = ReportedRun.open(Path(run))
    classifiers = _load_both(reported, Path(versus) if versus is not None else reported.initial)
    labels = DEFAULT_LABELS if reported.classifier is None else reported.classifier.labels
    test = read_as_trained(run, data, labels=labels) if isinstance(data, (str, Path)) else data
    begin("scoring")
    results = {} if test is None else {name: evaluate(each, test) for name, each in classifiers.items()}
    overlap = count_train_overlap(run, test) if test is not None and results else None
    begin("measuring faithfulness")
    trusts: dict[str, Trust] = {}
    unmeasured = ""  # why heat maps could not be measured
    if test is not None and classifiers:
        try:
            trusts = measure_trust(classifiers, test, sample)
        except InputError as error:
            unmeasured = str(error)
    shown = _trained_on(reported) if test is None else test.examples
    sections = [summary_section(reported, results, trusts, overlap, shown), run_section(reported)]
    if results:
        sections.append(scores_section(results, overlap))
    if confidence := confidence_section(results, classifiers):
        sections.append(confidence)
    if reported.history:
        sections.append(training_section(reported.history))
    if reported.evidence is not None:
        sections.append(evidence_section(reported.evidence))
    if len(classifiers) == 2 and shown:
        begin("comparing predictions")
        sections.append(_compare_predictions(shown, classifiers, results))
    if test is not None and classifiers:
        begin("scoring variants")
        sections.append(stress_section(classifiers, test))
    if trusts or unmeasured:
        sections.append(faithfulness_section(unmeasured or trusts))
    if reported.card:
        sections.append(make_section("card", "Model card", card=reported.card))
    notes = []  # what the reader must know first
    if not reported.is_finished and reported.config is not None:
        state = "before its first epoch" if reported.classifier is None else "with the epochs trained so far"
        notes.append(f"This run is unfinished; the report shows it {state}.")
    if test is None:
        notes.append("No test data was given, so there are no scores and nothing about faithfulness.")
    return render("report.html.jinja", title=f"Report: {reported.name}", notes=notes, sections=sections)


def _load_both(run: ReportedRun, other: Path | None) -> dict[str, Classifier]:
    """Return the classifiers by name, the run's first; none if it has none yet."""
    if run.classifier is None:
        return {}
    if other is None:
        return {run.name: run.classifier}
    names, second = name_runs(run.root, other), load(other)
    require_same_labels(run.classifier, second, (str(run.root), str(other)))
    return {names[0]: run.classifier, names[1]: second}


def _trained_on(run: ReportedRun) -> Sequence[Example]:
    """Return the first training instances, if the run has kept them."""
    path = run.root / "stages" / "corpus.jsonl"
    if run.classifier is None or not path.is_file():
        return ()
    return read(path, labels=run.classifier.labels).examples[:_MAX_TRAINING]


def _compare_predictions(
    examples: Sequence[Example], classifiers: Mapping[str, Classifier], results: Mapping[str, Evaluation]
) -> ReportSection:
    """Compare predictions on the test data or, without any, on the first training instances."""
    data = "test instances"
    predicted: list[Sequence[str]] = [result.predicted for result in results.values()]
    if not results:
        data = f"training instances (the first {_MAX_TRAINING:,} at most)"
        predicted = [classifier.predicted_labels(examples) for classifier in classifiers.values()]
    compared = [ComparedPrediction(*each) for each in zip(examples, *predicted, strict=True)]
    return changes_section(compared, data, classifiers)


def confidence_section(
    results: Mapping[str, Evaluation], classifiers: Mapping[str, Classifier]
) -> ReportSection | None:
    """Show how far confidence can be trusted, on test data or else on held-out predictions; None if there are neither."""
    data = "the test data"
    found = {name: (np.array(each.confidences), each.correct) for name, each in results.items() if each.confidences}
    if not found:
        kept = {name: each.calibration for name, each in classifiers.items() if each.calibration}
        found = {name: (np.array(each.confidences), np.array(each.correct, dtype=bool)) for name, each in kept.items()}
        data = next((each.source for each in kept.values()), "")
    if not found:
        return None
    curves = [_risk_curve(name, *each) for name, each in found.items()]
    return make_section(
        "confidence",
        "Confidence",
        data=data,
        chart=lay_out_chart("Errors among the most confident answers", "coverage in %", curves, " %"),
        columns=["run", "calibration error", *(f"errors at {percent(share, 0)}" for share in _COVERAGES)],
        rows=[_risk_row(name, *each) for name, each in found.items()],
    )


def _risk_curve(name: str, confidences: npt.NDArray[np.float64], correct: npt.NDArray[np.bool_]) -> Curve:
    """Return the line of a run in the chart: errors in percent by coverage in percent."""
    points = [point for point in risk_coverage(confidences, correct) if point.coverage >= _LEAST]
    kept = points[:: max(1, -(-len(points) // _MAX_POINTS))]
    return name, tuple((100 * point.coverage, 100 * point.risk) for point in reversed(kept))


def _risk_row(name: str, confidences: npt.NDArray[np.float64], correct: npt.NDArray[np.bool_]) -> list[str]:
    """Return the row of a run in the table: the calibration error, and the errors among the most confident answers."""
    wrong = (~correct)[np.argsort(-confidences, kind="stable")]
    shares = [float(wrong[: max(1, round(share * len(wrong)))].mean()) for share in _COVERAGES]
    return [name, percent(confidence_error(confidences, correct)), *map(percent, shares)]
