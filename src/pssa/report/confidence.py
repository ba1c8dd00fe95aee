"""The section of a run's report about confidence: calibration errors, and the errors among the most confident answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pssa.data.numbers import percent
from pssa.evaluation.calibration import confidence_error, risk_coverage
from pssa.report.sections import ReportSection, make_section
from pssa.report.training_curves import Curve, lay_out_chart
from pssa.runs import Classifier
from pssa.runs.calibration import Calibration
from pssa.runs.evaluate import Evaluation

_COVERAGES = (1.0, 0.9, 0.8, 0.7, 0.5)  # of the table
_LEAST = 0.05  # coverage that the chart shows: fewer answers say too little
_MAX_POINTS = 60


@dataclass(frozen=True)
class Confidence:
    """How sure a run is of each of its predictions, and whether they are right."""

    confidences: npt.NDArray[np.float64]
    correct: npt.NDArray[np.bool_]

    @classmethod
    def of_evaluation(cls, found: Evaluation) -> Confidence:
        """Return that of predictions on test data."""
        return cls(np.array(found.confidences), found.correct)

    @classmethod
    def of_calibration(cls, found: Calibration) -> Confidence:
        """Return that of the held-out predictions that a run has kept."""
        return cls(np.array(found.confidences), np.array(found.correct, dtype=bool))

    def curve(self, name: str) -> Curve:
        """Return the line of the chart: errors in percent by coverage in percent."""
        points = [point for point in risk_coverage(self.confidences, self.correct) if point.coverage >= _LEAST]
        step = max(1, -(-len(points) // _MAX_POINTS))
        kept = points[::step]
        return name, tuple((100 * point.coverage, 100 * point.risk) for point in reversed(kept))

    def row(self, name: str) -> list[str]:
        """Return the row of the table: the calibration error, and the errors among the most confident answers."""
        order = np.argsort(-self.confidences, kind="stable")
        wrong = (~self.correct)[order]
        shares = [float(wrong[: max(1, round(share * len(wrong)))].mean()) for share in _COVERAGES]
        return [name, percent(confidence_error(self.confidences, self.correct)), *map(percent, shares)]


def confidence_section(
    results: Mapping[str, Evaluation], classifiers: Mapping[str, Classifier]
) -> ReportSection | None:
    """Show how far confidence can be trusted, on test data or else on held-out predictions; None if there are neither."""
    data = "the test data"
    found = {name: Confidence.of_evaluation(each) for name, each in results.items() if each.confidences}
    if not found:
        kept = {name: each.calibration for name, each in classifiers.items() if each.calibration}
        found = {name: Confidence.of_calibration(each) for name, each in kept.items()}
        data = next((each.source for each in kept.values()), "")
    if not found:
        return None
    curves = [each.curve(name) for name, each in found.items()]
    return make_section(
        "confidence",
        "Confidence",
        data=data,
        chart=lay_out_chart("Errors among the most confident answers", "coverage in %", curves, " %"),
        columns=["run", "calibration error", *(f"errors at {percent(share, 0)}" for share in _COVERAGES)],
        rows=[each.row(name) for name, each in found.items()],
    )
