"""How good a classifier is, and whether it is better than another."""

from pssa.evaluation.metrics import ClassScores, Scores, score
from pssa.evaluation.predict import predict_classes, predict_logits
from pssa.evaluation.significance import Bootstrap, mcnemar, paired_bootstrap

__all__ = [
    "Bootstrap",
    "ClassScores",
    "Scores",
    "mcnemar",
    "paired_bootstrap",
    "predict_classes",
    "predict_logits",
    "score",
]
