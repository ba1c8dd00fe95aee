"""Scores of classifiers, tests of their differences, and how far explanations can be trusted.

Names load when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pssa.evaluation.agreement import Agreement, marked_words, measure_agreement
    from pssa.evaluation.faithfulness import Faithfulness, by_deletion, by_mask, measure_faithfulness
    from pssa.evaluation.metrics import ClassScores, Scores, SpanScores, score, score_spans
    from pssa.evaluation.predict import predict_classes, predict_logits
    from pssa.evaluation.ranking import Correlation, correlate
    from pssa.evaluation.reviews import ReviewAnswer, ReviewScores, score_reviews
    from pssa.evaluation.significance import AgainstChance, Bootstrap, Estimate, mcnemar, paired_bootstrap

__all__ = [
    "AgainstChance",
    "Agreement",
    "Bootstrap",
    "ClassScores",
    "Correlation",
    "Estimate",
    "Faithfulness",
    "ReviewAnswer",
    "ReviewScores",
    "Scores",
    "SpanScores",
    "by_deletion",
    "by_mask",
    "correlate",
    "marked_words",
    "mcnemar",
    "measure_agreement",
    "measure_faithfulness",
    "paired_bootstrap",
    "predict_classes",
    "predict_logits",
    "score",
    "score_reviews",
    "score_spans",
]

_NAMES = {
    "pssa.evaluation.agreement": (
        "Agreement",
        "marked_words",
        "measure_agreement",
    ),
    "pssa.evaluation.faithfulness": (
        "Faithfulness",
        "by_deletion",
        "by_mask",
        "measure_faithfulness",
    ),
    "pssa.evaluation.metrics": (
        "ClassScores",
        "Scores",
        "SpanScores",
        "score",
        "score_spans",
    ),
    "pssa.evaluation.predict": (
        "predict_classes",
        "predict_logits",
    ),
    "pssa.evaluation.ranking": (
        "Correlation",
        "correlate",
    ),
    "pssa.evaluation.reviews": (
        "ReviewAnswer",
        "ReviewScores",
        "score_reviews",
    ),
    "pssa.evaluation.significance": (
        "AgainstChance",
        "Bootstrap",
        "Estimate",
        "mcnemar",
        "paired_bootstrap",
    ),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES[name]), name)
