"""The section about confidence: from test data, else from the predictions that a run has kept, else none."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pssa.evaluation import score
from pssa.report.confidence import confidence_section
from pssa.runs.calibration import Calibration
from pssa.runs.evaluate import Evaluation

LABELS = ("positive", "negative")
GOLD = ("positive", "positive", "negative", "negative")
SAID = ("positive", "negative", "negative", "negative")
TESTED = Evaluation(score(GOLD, SAID, LABELS), {}, GOLD, SAID, (0.9, 0.6, 0.8, 0.7))
KEPT: Any = SimpleNamespace(
    calibration=Calibration(1.5, "held-out data of the search", 4, False, 0.2, 0.1, (0.9, 0.6, 0.8, 0.7), (True,) * 4)
)
PLAIN: Any = SimpleNamespace(calibration=None)


def test_test_data_comes_first() -> None:
    section = confidence_section({"run": TESTED}, {"run": KEPT})
    assert section is not None
    assert "the test data" in section.html
    assert "25.0 %" in section.html  # errors if everything is answered
    assert "0.0 %" in section.html  # without the least confident answer


def test_kept_predictions_serve_where_there_is_no_test_data() -> None:
    section = confidence_section({}, {"run": KEPT})
    assert section is not None
    assert "held-out data of the search" in section.html
    assert confidence_section({}, {"run": PLAIN}) is None
