"""How good a classifier is, whether it is better than another, and how far what it shows of itself can be trusted."""

from pssa.evaluation.agreement import Agreement, marked_words, measure_agreement
from pssa.evaluation.correlation import Correlation, correlate
from pssa.evaluation.faithfulness import Faithfulness, measure_faithfulness
from pssa.evaluation.intervals import AgainstChance, Estimate
from pssa.evaluation.metrics import ClassScores, Scores, score
from pssa.evaluation.predict import predict_classes, predict_logits
from pssa.evaluation.removal import by_deletion, by_mask
from pssa.evaluation.significance import Bootstrap, mcnemar, paired_bootstrap

__all__ = [
    "AgainstChance",
    "Agreement",
    "Bootstrap",
    "ClassScores",
    "Correlation",
    "Estimate",
    "Faithfulness",
    "Scores",
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
]
