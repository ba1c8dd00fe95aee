"""Scores of classifiers, tests of their differences, and how far explanations can be trusted."""

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
